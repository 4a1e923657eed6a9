import type { ActionArray, ActionSpace, BoxSpace, Generator } from '@coplay/core';
import { choicesOf, isBox, maskSizeOf, widthOf } from '@coplay/core/arrays';
import { type TensorRecord, tf } from '@coplay/tensor';
import {
  argmaxRows,
  categoricalEntropy,
  logProbOf,
  normalEntropy,
  normalLogProb,
  sampleCategorical,
  squashedEntropy,
  squashedLogProb,
} from '@coplay/tensor/distributions';

/** Actions that were drawn from a policy. */
export interface DrawnActions {
  /** [B, w] as the game receives them */
  readonly actions: ActionArray;
  /** [B] of the actions */
  readonly logProbs: Float32Array;
  /** [B, w] of a box: the samples before they were clipped or squashed */
  readonly raw?: Float32Array;
}

/**
 * The distribution over an agent's space whose numbers the actor computes: P for each row (`ActorCritic.policySize`).
 * PPO learns from the log-probabilities of drawn actions: choices as the game receives them, those of a box raw.
 */
export interface ActionDistribution {
  /** Of one action as it is learned from. */
  readonly action: { readonly dtype: 'int32' | 'float32'; readonly shape: readonly number[] };
  /** [B] log-probabilities or log-densities of actions [B, ...shape] */
  logProb(policy: tf.Tensor2D, actions: tf.Tensor): tf.Tensor1D;
  /** [B] in nats */
  entropy(policy: tf.Tensor2D, mask: tf.Tensor | undefined): tf.Tensor1D;
  /** The policy by name, for files: `logProbs` [B, K]; of a box `means`, `stds` and `likeliest` [B, w]. */
  outputs(policy: tf.Tensor2D): TensorRecord;
  draw(policy: Float32Array, rows: number, generator: Generator): DrawnActions;
  /** [B, w] the likeliest actions; of a box the middle of the distribution */
  likeliest(policy: Float32Array, rows: number): ActionArray;
}

/** Whether samples of a box are squashed by tanh into its bounds, or clipped to them. */
export interface Squash {
  readonly squash: boolean;
}

/** The distribution over a space. */
export function actionDistribution(space: ActionSpace, { squash }: Squash): ActionDistribution {
  if (!isBox(space)) return choices(choicesOf(space), maskSizeOf(space));
  return squash ? squashedGaussian(space) : gaussian(space);
}

/** A product of categorical distributions, one for each choice. */
function choices(counts: readonly number[], K: number): ActionDistribution {
  const count = counts.length;
  const starts = counts.map((_, i) => counts.slice(0, i).reduce((sum, options) => sum + options, 0));
  /** For each choice its log-probabilities of all rows. */
  const partsOf = (policy: Float32Array, rows: number) =>
    counts.map((options, i) => columnsOf(policy, rows, K, starts[i], options));
  /** [B, choices] from a list of [B] */
  const joined = (chosen: readonly Int32Array[], rows: number): Int32Array => {
    if (count === 1) return chosen[0];
    return Int32Array.from({ length: rows * count }, (_, at) => chosen[at % count][Math.floor(at / count)]);
  };
  return {
    action: { dtype: 'int32', shape: count === 1 ? [] : [count] },
    logProb: (policy, actions) => {
      if (count === 1) return logProbOf(policy, actions) as tf.Tensor1D;
      const rows = policy.shape[0];
      const each = counts.map((options, i) => {
        const option = tf.reshape(tf.slice(actions, [0, i], [rows, 1]), [rows]);
        return logProbOf(tf.slice(policy, [0, starts[i]], [rows, options]), option);
      });
      return tf.addN(each) as tf.Tensor1D;
    },
    // The sum of -p log p over all options is that of the choices' entropies.
    entropy: (policy, mask) => categoricalEntropy(policy, mask as tf.Tensor) as tf.Tensor1D,
    outputs: (logProbs) => ({ logProbs }),
    draw: (policy, rows, generator) => {
      const parts = partsOf(policy, rows);
      const chosen = parts.map((part, i) => sampleCategorical(part, rows, counts[i], generator));
      const logProbs = Float32Array.from({ length: rows }, (_, row) => {
        return chosen.reduce((sum, options, i) => sum + parts[i][row * counts[i] + options[row]], 0);
      });
      return { actions: joined(chosen, rows), logProbs };
    },
    likeliest: (policy, rows) => {
      const best = partsOf(policy, rows).map((part, i) => argmaxRows(part, rows, counts[i]));
      return joined(best, rows);
    },
  };
}

/** The columns from `start` on of an array [rows, size]. */
function columnsOf(data: Float32Array, rows: number, size: number, start: number, count: number): Float32Array {
  if (count === size) return data;
  return Float32Array.from(
    { length: rows * count },
    (_, at) => data[Math.floor(at / count) * size + start + (at % count)],
  );
}

/**
 * A normal distribution for each value of a box, all independent. The game receives samples clipped to the bounds; PPO
 * learns from the samples as they were drawn, as CleanRL's and stable-baselines3's PPO do.
 */
function gaussian(space: BoxSpace): ActionDistribution {
  const w = widthOf(space);
  const clip = (value: number, i: number) => Math.min(space.high[i], Math.max(space.low[i], value));
  return {
    action: { dtype: 'float32', shape: [w] },
    logProb: (policy, actions) => normalLogProb(normalOf(policy, w), actions) as tf.Tensor1D,
    entropy: (policy) => normalEntropy(normalOf(policy, w)) as tf.Tensor1D,
    outputs: (policy) => {
      const { mean, stddev } = normalOf(policy, w);
      const likeliest = tf.minimum(tf.maximum(mean, tf.tensor1d(finite(space.low))), tf.tensor1d(finite(space.high)));
      return { means: mean, stds: stddev, likeliest };
    },
    draw: (policy, rows, generator) => {
      const { raw, logProbs } = drawNormal(policy, rows, w, generator);
      return { actions: raw.map((value, at) => clip(value, at % w)), raw, logProbs };
    },
    likeliest: (policy, rows) => columnsOf(policy, rows, 2 * w, 0, w).map((mean, at) => clip(mean, at % w)),
  };
}

/**
 * The same with samples u that become low + (high - low) (tanh(u) + 1) / 2: the game receives what was drawn, and the
 * density is that of the action itself.
 */
function squashedGaussian(space: BoxSpace): ActionDistribution {
  const w = widthOf(space);
  const halves = space.low.map((low, i) => (space.high[i] - low) / 2);
  /** Of the stretch from (-1, 1) to the bounds. */
  const logScale = halves.reduce((sum, half) => sum + Math.log(half), 0);
  const squashed = (u: number, i: number) => {
    const value = space.low[i] + halves[i] * (Math.tanh(u) + 1);
    return Math.min(space.high[i], Math.max(space.low[i], value));
  };
  return {
    action: { dtype: 'float32', shape: [w] },
    logProb: (policy, actions) => tf.sub(squashedLogProb(normalOf(policy, w), actions), logScale) as tf.Tensor1D,
    entropy: (policy) => tf.add(squashedEntropy(normalOf(policy, w)), logScale) as tf.Tensor1D,
    outputs: (policy) => {
      const { mean, stddev } = normalOf(policy, w);
      const stretched = tf.mul(tf.add(tf.tanh(mean), 1), tf.tensor1d(halves));
      return { means: mean, stds: stddev, likeliest: tf.add(stretched, tf.tensor1d([...space.low])) };
    },
    draw: (policy, rows, generator) => {
      const { raw, logProbs } = drawNormal(policy, rows, w, generator);
      raw.forEach((u, at) => {
        logProbs[Math.floor(at / w)] -= logSlope(u) + Math.log(halves[at % w]);
      });
      return { actions: raw.map((u, at) => squashed(u, at % w)), raw, logProbs };
    },
    likeliest: (policy, rows) => columnsOf(policy, rows, 2 * w, 0, w).map((u, at) => squashed(u, at % w)),
  };
}

/** Bounds as finite numbers, for graphs. */
function finite(bounds: readonly number[]): number[] {
  return bounds.map((bound) => Math.min(LARGEST, Math.max(-LARGEST, bound)));
}

/** Of float32 */
const LARGEST = 3.4028234663852886e38;

/** log(1 - tanh(u)^2) */
function logSlope(u: number): number {
  const softplus = Math.max(0, -2 * u) + Math.log1p(Math.exp(-Math.abs(2 * u)));
  return 2 * (Math.LN2 - u - softplus);
}

/** Means and standard deviations of a policy [B, 2w] over a box. */
function normalOf(policy: tf.Tensor2D, w: number): { mean: tf.Tensor; stddev: tf.Tensor } {
  const rows = policy.shape[0];
  return { mean: tf.slice(policy, [0, 0], [rows, w]), stddev: tf.exp(tf.slice(policy, [0, w], [rows, w])) };
}

/** Samples [B, w] of a policy [B, 2w], and their log-densities [B]. */
function drawNormal(policy: Float32Array, rows: number, w: number, generator: Generator) {
  const raw = new Float32Array(rows * w);
  const logProbs = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let i = 0; i < w; i++) {
      const logStd = policy[(2 * row + 1) * w + i];
      const noise = generator.normal();
      raw[row * w + i] = policy[2 * row * w + i] + Math.exp(logStd) * noise;
      sum -= noise ** 2 / 2 + logStd + Math.log(2 * Math.PI) / 2;
    }
    logProbs[row] = sum;
  }
  return { raw, logProbs };
}
