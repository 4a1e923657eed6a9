import { fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { stopGradient } from '../gradients';

/** The outermost bins lie at symexp(-+20). */
const REACH = 20;

/**
 * Places of the bins of a distribution over real numbers (Hafner et al. 2023, eq. 10): symexp of an even spread over [-20, 20], so that
 * they're close around 0 and reach to -+4.85e8. The positive half mirrors the negative one exactly; an even count has 0 twice.
 *
 * @param count  of bins, 2 or more; DreamerV3 takes 255
 * @returns [count], ascending
 */
export function twoHotBins(count: number): Float32Array {
  if (!Number.isInteger(count) || count < 2) fail('twoHotBins', 'a count of 2 or more', String(count), 'Take 255.');
  const half = Math.ceil(count / 2);
  const bins = new Float32Array(count);
  for (let i = 0; i < half; i++) {
    const x = half === 1 ? REACH : (REACH * (half - 1 - i)) / (half - 1);
    bins[count - 1 - i] = Math.expm1(x);
    bins[i] = 0 - bins[count - 1 - i];
  }
  return bins;
}

/**
 * A number as weights of its two nearest bins, whose mean is the number (Hafner et al. 2023, eq. 9); beyond the ends the last bin alone.
 * No gradient is meant to flow into the number.
 *
 * @param x    [...]
 * @param bins [n] of {@link twoHotBins}
 * @returns [..., n], sums of 1
 */
export function twoHotWeights(x: tf.Tensor, bins: Float32Array): tf.Tensor {
  const last = bins.length - 1;
  const places = bins.map((bin, i) => (bin === bins[i + 1] ? bin - APART : bin));
  const distance = tf.sub(tf.expandDims(tf.clipByValue(x, bins[0], bins[last]), -1), tf.tensor1d(places));
  // Each bin's weight rises from its left neighbour to itself, and falls to the right one.
  const rises = places.map((place, i) => (i === 0 ? 1 : 1 / (place - places[i - 1])));
  const falls = places.map((place, i) => (i === last ? -1 : 1 / (place - places[i + 1])));
  const nearer = tf.minimum(tf.mul(distance, tf.tensor1d(rises)), tf.mul(distance, tf.tensor1d(falls)));
  return tf.relu(tf.add(nearer, 1));
}

/** Between the two bins at 0 of an even count, of which one must count. */
const APART = 1e-20;

/**
 * The mean sum p_i b_i of a distribution over bins. Each bin is paired with its mirror image before anything is added up, as
 * DreamerV3's code does: bins reach to -+4.85e8, and any other order would leave rounding errors of the size of rewards where the
 * distribution is symmetric. Of equal logits the mean is exactly 0.
 *
 * @param logits [..., n]
 * @param bins   [n] of {@link twoHotBins}
 * @returns [...]
 */
export function twoHotMean(logits: tf.Tensor, bins: Float32Array): tf.Tensor {
  checkBins('twoHotMean', logits, bins);
  const half = Math.floor(bins.length / 2);
  const p = tf.softmax(logits, -1);
  const axis = p.rank - 1;
  const [negative, positive] = [lastAxis(p, 0, half), lastAxis(p, bins.length - half, half)];
  // -b_(n-1-i) = b_i: p_i b_i + p_(n-1-i) b_(n-1-i) = (p_i - p_(n-1-i)) b_i.
  const excess = tf.sub(positive, tf.reverse(negative, axis));
  const places = tf.tensor2d(bins.slice(bins.length - half), [half, 1]);
  return tf.reshape(tf.matMul(tf.reshape(excess, [-1, half]), places), logits.shape.slice(0, -1));
}

/**
 * Cross entropy of a distribution over bins with numbers, in nats: -sum w_i log p_i with the weights of {@link twoHotWeights}.
 *
 * @param logits  [..., n]
 * @param targets [...] no gradient flows into them
 * @param bins    [n] of {@link twoHotBins}
 * @returns [...]
 */
export function twoHotLoss(logits: tf.Tensor, targets: tf.Tensor, bins: Float32Array): tf.Tensor {
  checkBins('twoHotLoss', logits, bins);
  if (!tf.util.arraysEqual(targets.shape, logits.shape.slice(0, -1))) {
    fail('twoHotLoss', `targets of shape [${logits.shape.slice(0, -1)}]`, `[${targets.shape}]`, 'Give one per row.');
  }
  return tf.neg(tf.sum(tf.mul(twoHotWeights(stopGradient(targets), bins), tf.logSoftmax(logits, -1)), -1));
}

function lastAxis(x: tf.Tensor, begin: number, size: number): tf.Tensor {
  const leading = x.shape.slice(0, -1);
  return tf.slice(x, [...leading.map(() => 0), begin], [...leading, size]);
}

function checkBins(where: string, logits: tf.Tensor, bins: Float32Array): void {
  const got = logits.shape[logits.rank - 1];
  if (got === bins.length) return;
  fail(where, `logits [..., ${bins.length}], one for each bin`, `[${logits.shape}]`, 'Give the bins of these logits.');
}
