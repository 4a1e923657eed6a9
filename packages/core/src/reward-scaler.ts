import { z } from 'zod';
import type { SavedState } from './agent';
import { checkNumbers } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { checkOptions, fail, show } from './errors';
import type { Experience } from './experience';
import { restorePart } from './restore-parts';
import { createRunningMoments, type RunningMoments } from './running-moments';

/** Options of {@link createRewardScaler}. */
export interface RewardScalerOptions {
  /** E */
  readonly envs: number;
  /** A */
  readonly agents: number;
  /** Discount per step, in [0, 1] */
  readonly gamma: number;
  /** Scaled rewards are limited to [-clip, clip]. Default 10 */
  readonly clip?: number;
  /** Added to the variance; above 0. Default 1e-8 */
  readonly epsilon?: number;
}

const optionsSchema = z.strictObject({
  envs: z.int().min(1),
  agents: z.int().min(1),
  gamma: z.number().min(0).max(1),
  clip: z.number().positive().or(z.literal(Infinity)).default(10),
  epsilon: z.number().positive().default(1e-8),
});
const savedSchema = z.looseObject({ sums: typedArrays('float64'), moments: z.array(z.unknown()) });
const stepsSchema = z.looseObject({
  envs: z.int().min(0),
  steps: z.int().min(0),
  agents: z.array(z.string()),
});
/**
 * The part of an {@link Experience} that rewards are scaled by. Without `isFirst` a reset within an episode isn't seen.
 */
type ScaledSteps = Pick<Experience, 'envs' | 'steps' | 'agents' | 'rewards' | 'active' | 'ended'> &
  Partial<Pick<Experience, 'isFirst'>>;

/** Divides each agent's rewards by the running standard deviation of its discounted returns. */
export interface RewardScaler {
  /**
   * Takes note of the rewards of a stream that follows on from the call before, and scales them.
   *
   * @returns [E, T, A] scaled rewards; 0 where the agent was not active
   */
  scale(experience: ScaledSteps): Float32Array;
  /** [A] what each agent's rewards are divided by now; 1 as long as its returns don't differ */
  readonly deviations: Float64Array;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * Reward scaling (Engstrom et al. 2020, section 3, as in Gymnasium's NormalizeReward): with the sum so far
 *
 *   R_t = gamma R_{t-1} + r_t   (anew in each episode)
 *
 * a reward becomes clip(r_t / sqrt(Var(R) + epsilon)), where the variance is over all R up to and including step t.
 * The mean is not subtracted. As long as the variance is 0, rewards are left as they are (and clipped).
 * How a stream is cut into segments makes no difference.
 */
export function createRewardScaler(options: RewardScalerOptions): RewardScaler {
  return new ReturnScaler(checkOptions('createRewardScaler', optionsSchema, options));
}

class ReturnScaler implements RewardScaler {
  private moments: RunningMoments[]; // one for each agent
  private readonly sums: Float64Array; // [E, A] R of the episode that goes on

  constructor(private readonly options: Required<RewardScalerOptions>) {
    this.moments = Array.from({ length: options.agents }, () => createRunningMoments());
    this.sums = new Float64Array(options.envs * options.agents);
  }

  scale(experience: ScaledSteps): Float32Array {
    this.check(experience);
    const scaled = new Float32Array(experience.rewards.length);
    for (let t = 0; t < experience.steps; t++) {
      for (let agent = 0; agent < this.options.agents; agent++) this.scaleStep(experience, t, agent, scaled);
    }
    return scaled;
  }

  get deviations(): Float64Array {
    return Float64Array.from(this.moments, ({ variance: [variance] }) => {
      return variance === 0 ? 1 : Math.sqrt(variance + this.options.epsilon);
    });
  }

  state(): SavedState {
    return { sums: this.sums.slice(), moments: this.moments.map((moments) => moments.state()) };
  }

  restore(saved: SavedState): void {
    checkArgument('rewardScaler.restore', 'saved', savedSchema, saved);
    const { sums, moments } = saved as { sums: Float64Array; moments: readonly SavedState[] };
    for (const [name, own, { length }] of [
      ['sums', sums, this.sums],
      ['moments', moments, this.moments],
    ] as const) {
      if (own.length === length) continue;
      const expected = `${length}, for ${this.options.envs} environments x ${this.options.agents} agents`;
      fail(`rewardScaler.restore: saved.${name}`, expected, show(own), 'Restore into a scaler of the same size.');
    }
    checkNumbers('rewardScaler.restore', 'saved.sums', sums);
    const restored = moments.map((state, agent) => {
      const own = createRunningMoments();
      restorePart(`rewardScaler.restore: saved.moments[${agent}]`, () => own.restore(state));
      return own;
    });
    this.sums.set(sums); // only now that all of them fit
    this.moments = restored;
  }

  /** Step t of one agent in all environments. */
  private scaleStep(experience: ScaledSteps, t: number, agent: number, out: Float32Array): void {
    const { envs, agents, gamma, clip } = this.options;
    const { rewards, active, ended, isFirst, steps } = experience;
    const sums = new Float64Array(envs);
    const present = new Uint8Array(envs);
    for (let env = 0; env < envs; env++) {
      const row = (env * steps + t) * agents + agent;
      present[env] = active[row];
      if (isFirst?.[env * steps + t] === 1) this.sums[env * agents + agent] = 0; // the episode before was broken off
      if (active[row] === 0) continue;
      sums[env] = gamma * this.sums[env * agents + agent] + rewards[row];
      this.sums[env * agents + agent] = sums[env];
    }
    this.moments[agent].update(sums, present);
    const scale = this.deviations[agent];
    for (let env = 0; env < envs; env++) {
      const row = (env * steps + t) * agents + agent;
      if (present[env] === 1) out[row] = Math.min(clip, Math.max(-clip, rewards[row] / scale));
      if (ended[env * steps + t] === 1) this.sums[env * agents + agent] = 0;
    }
  }

  private check(experience: ScaledSteps): void {
    const { envs, agents } = this.options;
    checkArgument('rewardScaler.scale', 'experience', stepsSchema, experience);
    if (experience.envs !== envs || experience.agents.length !== agents) {
      const got = `${experience.envs} x ${experience.agents.length}`;
      fail('rewardScaler.scale', `${envs} environments x ${agents} agents`, got, 'Make a scaler of this size.');
    }
    const { steps, rewards, active, ended } = experience;
    checkNumbers('rewardScaler.scale', 'experience.rewards', rewards, { length: envs * steps * agents, nan: true });
    checkNumbers('rewardScaler.scale', 'experience.active', active, { length: envs * steps * agents });
    checkNumbers('rewardScaler.scale', 'experience.ended', ended, { length: envs * steps });
    for (let row = 0; row < rewards.length; row++) {
      if (active[row] === 0 || Number.isFinite(rewards[row])) continue;
      fail('rewardScaler.scale', 'finite rewards', `${rewards[row]} in row ${row}`, 'Mend the game that paid it.');
    }
  }
}
