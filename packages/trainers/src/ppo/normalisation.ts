/*
 * Running normalisation of observations and rewards, as stable-baselines3's VecNormalize does it. The statistics belong
 * to the learner: its checkpoints, snapshots and ONNX files hold them, and only its updates change them. So a policy
 * plays evaluations and other games with the statistics of its training.
 *
 * - Observations: x becomes clip((x - mean) / sqrt(variance + epsilon)). Mean and scale are parameters that no gradient
 *   reaches. All steps of a rollout are seen by the same ones; the update adds its observations after it has learned.
 * - Rewards: r becomes clip(r / sqrt(Var(R) + epsilon)), where R are the discounted sums of rewards so far.
 */
import {
  type ActionSpaces,
  createRewardScaler,
  createRunningMoments,
  type Experience,
  type NamedArrays,
  type NDArray,
  ndarray,
  type RewardScaler,
  type RunningMoments,
  type SavedState,
} from '@coplay/core';
import { checkArgument, restoreParts, typedArrays } from '@coplay/core/checks';
import { mapColumns, putSeat } from '@coplay/core/rows';
import type { ActorCritic, InputEncoder } from '@coplay/models';
import { stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { z } from 'zod';

/** Normalised numbers are limited to [-CLIP, CLIP]. */
const CLIP = 10;
/** Added to variances. */
const EPSILON = 1e-8;

/** The inputs whose numbers are normalised, by their column (`actor/vector`): 1 where a number is. */
export type NormalisedColumns = Readonly<Record<string, NDArray<Uint8Array>>>;

/** The columns of actor and critic with measured numbers; where both read the same, the actor's only. */
export function normalisedColumns(actor: InputEncoder, critic: InputEncoder): NormalisedColumns {
  const named = (prefix: string, { measured }: InputEncoder) =>
    Object.entries(measured).map(([name, flags]) => [`${prefix}/${name}`, flags]);
  return Object.fromEntries([...named('actor', actor), ...(critic === actor ? [] : named('critic', critic))]);
}

/**
 * A net that normalises what it reads. It has the parameters `normal/COLUMN/mean` and `normal/COLUMN/scale`, which say
 * "as it is" at first and in numbers that aren't normalised.
 */
export function normalisedNet(net: ActorCritic, columns: NormalisedColumns, hasOwnCritic: boolean): ActorCritic {
  const limits = mapColumns(columns, ({ data, shape }) => ({
    data: Float32Array.from(data, (flag) => (flag === 1 ? CLIP : LARGEST)),
    shape,
  }));
  const seen = (prefix: 'actor' | 'critic', params: TensorRecord, inputs: TensorRecord): TensorRecord =>
    mapColumns(inputs, (input, name) => {
      const column = `${prefix}/${name}`;
      if (!Object.hasOwn(columns, column)) return input;
      const [mean, scale] = ['mean', 'scale'].map((part) => stopGradient(params[`normal/${column}/${part}`]));
      const limit = tf.tensor(limits[column].data, [...limits[column].shape]);
      const normal = tf.mul(tf.sub(tf.cast(input, 'float32'), mean), scale);
      return tf.minimum(tf.maximum(normal, tf.neg(limit)), limit);
    });
  const ofCritic = hasOwnCritic ? 'critic' : 'actor';
  return {
    ...net,
    init: (generator) => ({ ...net.init(generator), ...new ObservationStatistics(columns).parameters() }),
    act: (params, inputs, mask, state) => net.act(params, seen('actor', params, inputs), mask, state),
    policy: (params, rows, mask) => net.policy(params, { ...rows, inputs: seen('actor', params, rows.inputs) }, mask),
    value: (params, rows) => net.value(params, { ...rows, inputs: seen(ofCritic, params, rows.inputs) }),
  };
}

/** Of float32 */
const LARGEST = 3.4028234663852886e38;

/** Running mean and variance of what the networks of a learner read. */
export class ObservationStatistics {
  private readonly moments: Readonly<Record<string, RunningMoments>>;

  constructor(private readonly columns: NormalisedColumns) {
    this.moments = mapColumns(columns, ({ data }) => createRunningMoments(data.length));
  }

  /**
   * Takes note of one seat's rows.
   *
   * @param rows    [N, ...] by column, N at least the number of flags
   * @param active  1 where the agent was there
   */
  add(rows: NamedArrays, active: Uint8Array): void {
    for (const [column, moments] of Object.entries(this.moments)) {
      moments.update(rows[column].data.subarray(0, active.length * moments.size), active);
    }
  }

  /** The parameters of {@link normalisedNet} that say the same. */
  parameters(): NamedArrays {
    const each = Object.entries(this.columns).flatMap(([column, { data, shape }]): [string, NDArray][] => {
      const { mean, variance, count } = this.moments[column];
      const isKnown = (i: number) => count > 0 && data[i] === 1;
      const means = Float32Array.from(data, (_, i) => (isKnown(i) ? mean[i] : 0));
      const scales = Float32Array.from(data, (_, i) => (isKnown(i) ? 1 / Math.sqrt(variance[i] + EPSILON) : 1));
      return [
        [`normal/${column}/mean`, ndarray(means, shape)],
        [`normal/${column}/scale`, ndarray(scales, shape)],
      ];
    });
    return Object.fromEntries(each);
  }

  state(): SavedState {
    return mapColumns(this.moments, (moments) => moments.state());
  }

  restore(saved: SavedState): void {
    checkArgument(
      'observations.restore',
      'saved',
      z.looseObject(mapColumns(this.moments, () => z.looseObject({}))),
      saved,
    );
    const parts = Object.entries(this.moments).map(([column, part]) => {
      return { path: `saved.${column}`, part, saved: saved[column] as SavedState };
    });
    restoreParts('observations.restore', parts);
  }
}

const savedSchema = z.looseObject({
  scaler: z.looseObject({ sums: typedArrays('float64') }).nullable(),
});

/** Scales the rewards of a learner's agents, which have statistics in common: they share their weights. */
export class RewardStatistics {
  /** Undefined before the first rewards; of E environments times seats */
  private scaler: { readonly rows: number; readonly own: RewardScaler } | undefined;

  constructor(private readonly gamma: number) {}

  /** What rewards are divided by; 1 as long as they don't differ. */
  get deviation(): number {
    return this.scaler?.own.deviations[0] ?? 1;
  }

  /**
   * The scaled rewards [E, T, A] of some seats; 0 for others. Real experience changes the statistics, and follows on
   * from that of the call before. Imagined experience is scaled only.
   */
  scale(experience: Experience<ActionSpaces>, seats: readonly number[]): Float32Array {
    const { envs, steps, isImagined } = experience;
    const scaled = new Float32Array(experience.rewards.length);
    const A = experience.agents.length;
    if (isImagined[0] === 1) {
      const { deviation } = this;
      experience.rewards.forEach((reward, at) => {
        const isOwn = seats.includes(at % A) && experience.active[at] === 1;
        if (isOwn) scaled[at] = Math.min(CLIP, Math.max(-CLIP, reward / deviation));
      });
      return scaled;
    }
    // The seats one after the other, as environments of one agent.
    const rows = <Data extends Uint8Array | Float32Array>(
      data: Data,
      perStep: number,
      offset: (seat: number) => number,
    ) =>
      seats.flatMap((seat) => Array.from({ length: envs * steps }, (_, step) => data[step * perStep + offset(seat)]));
    const own = this.scalerOf(envs * seats.length).scale({
      envs: envs * seats.length,
      steps,
      agents: ['any'],
      rewards: Float32Array.from(rows(experience.rewards, A, (seat) => seat)),
      active: Uint8Array.from(rows(experience.active, A, (seat) => seat)),
      ended: Uint8Array.from(rows(experience.ended, 1, () => 0)),
      isFirst: Uint8Array.from(rows(experience.isFirst, 1, () => 0)),
    });
    seats.forEach((seat, i) => {
      putSeat(scaled, seat, A, own.subarray(i * envs * steps, (i + 1) * envs * steps));
    });
    return scaled;
  }

  state(): SavedState {
    return { scaler: this.scaler?.own.state() ?? null };
  }

  restore(saved: SavedState): void {
    checkArgument('rewards.restore', 'saved', savedSchema, saved);
    const state = saved['scaler'] as (SavedState & { readonly sums: Float64Array }) | null;
    if (state === null) {
      this.scaler = undefined;
      return;
    }
    const rows = state.sums.length;
    const own = this.createScaler(rows);
    own.restore(state);
    this.scaler = { rows, own };
  }

  /** In a run with another number of environments all episodes begin anew, and the statistics stay. */
  private scalerOf(rows: number): RewardScaler {
    if (this.scaler?.rows === rows) return this.scaler.own;
    const own = this.createScaler(rows);
    if (this.scaler) own.restore({ ...this.scaler.own.state(), sums: new Float64Array(rows) });
    this.scaler = { rows, own };
    return own;
  }

  private createScaler(rows: number): RewardScaler {
    return createRewardScaler({ envs: rows, agents: 1, gamma: this.gamma, clip: CLIP, epsilon: EPSILON });
  }
}
