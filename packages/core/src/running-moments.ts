import { z } from 'zod';
import type { SavedState } from './agent';
import { checkCount, checkNumbers } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { checkOptions, fail, show } from './errors';

/** Options of {@link RunningMoments.normalise}. */
export interface NormaliseValuesOptions {
  /** Added to the variance; above 0. Default 1e-8 */
  readonly epsilon?: number;
  /** Results are limited to [-clip, clip]. Default Infinity */
  readonly clip?: number;
}

const normaliseSchema = z.strictObject({
  epsilon: z.number().min(0).default(1e-8),
  clip: z.number().min(0).or(z.literal(Infinity)).default(Infinity),
});
const savedSchema = z.looseObject({
  count: z.number().min(0),
  mean: typedArrays('float64'),
  squares: typedArrays('float64'),
});

/** Mean and variance of all rows seen so far, for each of D columns. */
export interface RunningMoments {
  /** D */
  readonly size: number;
  /** Rows seen (the sum of their weights). */
  readonly count: number;
  /** [D] 0 before the first row */
  readonly mean: Float64Array;
  /** [D] the variance of the rows themselves (divided by their count, not by one less); 0 before the second row */
  readonly variance: Float64Array;
  /**
   * @param values   [B, D]
   * @param weights  [B] at least 0; a row of weight 0 is not looked at. All 1 by default
   */
  update(values: ArrayLike<number>, weights?: ArrayLike<number>): void;
  /**
   * (x - mean) / sqrt(variance + epsilon), column by column.
   *
   * @param values  [B, D]
   * @returns [B, D]
   */
  normalise(values: ArrayLike<number>, options?: NormaliseValuesOptions): Float32Array;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * Running mean and variance in double precision. Each batch is measured about its own mean and merged by the
 * parallel update of Chan, Golub and LeVeque (1983):
 *
 *   mean' = mean + d n_b / n',   M' = M + M_b + d^2 n n_b / n',   d = mean_b - mean, n' = n + n_b, variance = M / n
 *
 * so that neither a large offset nor the order of batches costs digits.
 *
 * @param size  D, the number of columns; at least 1
 */
export function createRunningMoments(size = 1): RunningMoments {
  checkCount('createRunningMoments', 'size', size, 1);
  return new ChanMoments(size);
}

class ChanMoments implements RunningMoments {
  count = 0;
  readonly mean: Float64Array;
  private readonly squares: Float64Array; // M, the sum of squared deviations

  constructor(readonly size: number) {
    this.mean = new Float64Array(size);
    this.squares = new Float64Array(size);
  }

  get variance(): Float64Array {
    return this.squares.map((squares) => (this.count === 0 ? 0 : squares / this.count));
  }

  update(values: ArrayLike<number>, weights?: ArrayLike<number>): void {
    const rows = this.checkRows('update', values);
    if (weights !== undefined) checkNumbers('runningMoments.update', 'weights', weights, { nan: true });
    if (weights !== undefined && weights.length !== rows) {
      fail('runningMoments.update', `${rows} weights`, show(weights), 'Give one weight for each row.');
    }
    const batchCount = this.weigh(rows, values, weights);
    if (batchCount === 0) return;
    const total = this.count + batchCount;
    for (let column = 0; column < this.size; column++) {
      const batch = this.measure(column, values, weights, batchCount);
      const difference = batch.mean - this.mean[column];
      this.squares[column] += batch.squares + (difference * difference * this.count * batchCount) / total;
      this.mean[column] += (difference * batchCount) / total;
    }
    this.count = total;
  }

  normalise(values: ArrayLike<number>, options: NormaliseValuesOptions = {}): Float32Array {
    const { epsilon, clip } = checkOptions('runningMoments.normalise', normaliseSchema, options);
    this.checkRows('normalise', values);
    const { size, mean } = this;
    const scale = this.variance.map((variance) => Math.sqrt(variance + epsilon));
    return Float32Array.from(values, (value, i) => {
      const normalised = (value - mean[i % size]) / scale[i % size];
      return Math.min(clip, Math.max(-clip, normalised));
    });
  }

  state(): SavedState {
    return { count: this.count, mean: this.mean.slice(), squares: this.squares.slice() };
  }

  restore(saved: SavedState): void {
    checkArgument('runningMoments.restore', 'saved', savedSchema, saved);
    const { count, mean, squares } = saved as { count: number; mean: Float64Array; squares: Float64Array };
    for (const [name, own] of Object.entries({ mean, squares })) {
      if (own.length === this.size) continue;
      const remedy = 'Restore into moments of the same size.';
      fail(`runningMoments.restore: saved.${name}`, `moments of ${this.size} columns`, show(own), remedy);
    }
    checkNumbers('runningMoments.restore', 'saved.mean', mean);
    checkNumbers('runningMoments.restore', 'saved.squares', squares, { min: 0 });
    this.count = count;
    this.mean.set(mean);
    this.squares.set(squares);
  }

  /** The sum of the weights; refuses what would spoil the moments for good. */
  private weigh(rows: number, values: ArrayLike<number>, weights: ArrayLike<number> | undefined): number {
    let total = 0;
    for (let row = 0; row < rows; row++) {
      const weight = weights === undefined ? 1 : weights[row];
      if (weight === 0) continue;
      if (!(weight > 0)) refuseRow('weights of at least 0', weight, row);
      total += weight;
      for (let i = row * this.size; i < (row + 1) * this.size; i++) {
        if (!Number.isFinite(values[i])) refuseRow('finite values', values[i], row);
      }
    }
    return total;
  }

  /**
   * Mean and squared deviations of one column of a batch, in two passes; about its first row, so that constants are
   * exact.
   */
  private measure(column: number, values: ArrayLike<number>, weights: ArrayLike<number> | undefined, count: number) {
    const { size } = this;
    const weightOf = (row: number) => (weights === undefined ? 1 : weights[row]);
    let first = 0;
    while (weightOf(first) === 0) first++;
    const origin = values[first * size + column];
    let sum = 0;
    for (let row = first, i = row * size + column; i < values.length; row++, i += size) {
      if (weightOf(row) > 0) sum += weightOf(row) * (values[i] - origin);
    }
    const shift = sum / count;
    let squares = 0;
    for (let row = first, i = row * size + column; i < values.length; row++, i += size) {
      if (weightOf(row) > 0) squares += weightOf(row) * (values[i] - origin - shift) ** 2;
    }
    return { mean: origin + shift, squares };
  }

  private checkRows(method: string, values: ArrayLike<number>): number {
    checkNumbers(`runningMoments.${method}`, 'values', values, { nan: true });
    if (values.length % this.size !== 0) {
      const expected = `rows of ${this.size} values`;
      fail(`runningMoments.${method}`, expected, show(values), 'Give whole rows.');
    }
    return values.length / this.size;
  }
}

function refuseRow(expected: string, value: number, row: number): never {
  fail('runningMoments.update', expected, `${value} in row ${row}`, 'Leave the row out, or give it the weight 0.');
}
