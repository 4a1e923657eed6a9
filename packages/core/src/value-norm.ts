import { z } from 'zod';
import type { SavedState } from './agent';
import { checkNumbers } from './check-values';
import { checkArgument } from './checks';
import { checkOptions } from './errors';
import { createRunningMoments } from './running-moments';

/** Options of {@link createValueNorm}. */
export interface ValueNormOptions {
  /** How slowly old batches are forgotten, in [0, 1). Default 0.99999 */
  readonly beta?: number;
  /** The variance is never taken to be less; above 0. Default 0.01 */
  readonly varianceFloor?: number;
}

const optionsSchema = z.strictObject({
  beta: z.number().min(0).lt(1).default(0.99999),
  varianceFloor: z.number().positive().default(0.01),
});
const savedSchema = z.looseObject({ mean: z.number(), spread: z.number().min(0), total: z.number().min(0) });

/** Moving mean and variance of a critic's targets, so that it can learn numbers of unit scale. */
export interface ValueNorm {
  /** 0 before the first batch */
  readonly mean: number;
  /** At least the floor */
  readonly variance: number;
  /**
   * @param returns  [B]
   * @param weights  [B] at least 0; a row of weight 0 is not looked at. All 1 by default
   */
  update(returns: ArrayLike<number>, weights?: ArrayLike<number>): void;
  /** (x - mean) / sqrt(variance) */
  normalise(values: ArrayLike<number>): Float32Array;
  /** x sqrt(variance) + mean: the opposite of `normalise`. */
  denormalise(values: ArrayLike<number>): Float32Array;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * MAPPO's value normalisation (Yu et al. 2022, section 5.1): exponential moving averages of the batches' mean m_b and
 * mean square, divided by 1 - beta^k after k batches (debiased), variance = mean square - mean^2.
 *
 * Computed in an equal form without the difference of large squares: batch k has the share
 * w = (1 - beta) / (1 - beta^k), d = m_b - mean, and
 *
 *   mean' = mean + w d,   variance' = (1 - w) (variance + w d^2) + w variance_b
 */
export function createValueNorm(options: ValueNormOptions = {}): ValueNorm {
  const { beta, varianceFloor } = checkOptions('createValueNorm', optionsSchema, options);
  return new MovingMoments(beta, varianceFloor);
}

class MovingMoments implements ValueNorm {
  mean = 0;
  private spread = 0; // the variance without floor
  private total = 0; // 1 - beta^k

  constructor(
    private readonly beta: number,
    private readonly floor: number,
  ) {}

  get variance(): number {
    return Math.max(this.floor, this.spread);
  }

  update(returns: ArrayLike<number>, weights?: ArrayLike<number>): void {
    checkNumbers('valueNorm.update', 'returns', returns, { nan: true });
    const batch = createRunningMoments();
    batch.update(returns, weights);
    if (batch.count === 0) return;
    this.total = this.beta * this.total + (1 - this.beta);
    const share = (1 - this.beta) / this.total;
    const difference = batch.mean[0] - this.mean;
    this.mean += share * difference;
    this.spread = (1 - share) * (this.spread + share * difference * difference) + share * batch.variance[0];
  }

  normalise(values: ArrayLike<number>): Float32Array {
    checkNumbers('valueNorm.normalise', 'values', values, { nan: true });
    const scale = Math.sqrt(this.variance);
    return Float32Array.from(values, (value) => (value - this.mean) / scale);
  }

  denormalise(values: ArrayLike<number>): Float32Array {
    checkNumbers('valueNorm.denormalise', 'values', values, { nan: true });
    const scale = Math.sqrt(this.variance);
    return Float32Array.from(values, (value) => value * scale + this.mean);
  }

  state(): SavedState {
    return { mean: this.mean, spread: this.spread, total: this.total };
  }

  restore(saved: SavedState): void {
    checkArgument('valueNorm.restore', 'saved', savedSchema, saved);
    const { mean, spread, total } = saved as { mean: number; spread: number; total: number };
    this.mean = mean;
    this.spread = spread;
    this.total = total;
  }
}
