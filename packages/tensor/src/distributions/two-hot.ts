import { fail, show } from '@coplay/core';
import { isArrayOf } from '@coplay/core/arrays';
import { checkArgument, checkNumber, checkNumbers, typedArrays } from '@coplay/core/checks';
import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';
import { stopGradient } from '../gradients';
import { symlog } from './symlog';

/** The outermost bins lie at symexp(-+20). */
const REACH = 20;

/**
 * Places of the bins of a distribution over real numbers (Hafner et al. 2023, arXiv v2, eq. 10): symexp of an even
 * spread over [-20, 20], so that they're close around 0 and reach to -+4.85e8. The positive half mirrors the negative
 * one exactly; an even count has 0 twice.
 *
 * @param count  of bins, 2 or more; DreamerV3 takes 255
 * @returns [count], ascending
 */
export function twoHotBins(count: number): Float32Array {
  checkNumber('twoHotBins', 'count', count, { min: 2, max: 1e6, whole: true });
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
 * Reverses the lower half of the last axis (n / 2 - 1, ..., 0, and then the rest unchanged), so that entries i and
 * n/2+i mirror each other. Its own inverse. With mirrored bins {@link twoHotMean} has nothing to reverse: a head that
 * makes many rows of logits is faster if it mirrors its kernel once.
 */
export function mirrorBins(bins: Float32Array): Float32Array;
/** @param x [..., n] */
export function mirrorBins<T extends tf.Tensor>(x: T): T;
export function mirrorBins(x: Float32Array | tf.Tensor): Float32Array | tf.Tensor {
  if (isArrayOf('float32', x)) {
    const half = Math.floor(x.length / 2);
    return Float32Array.of(...x.slice(0, half).reverse(), ...x.slice(half));
  }
  checkTensor('mirrorBins', 'x', x);
  const axis = x.rank - 1;
  const count = x.shape[axis];
  const half = Math.floor(count / 2);
  return tf.concat([tf.reverse(lastAxis(x, 0, half), axis), lastAxis(x, half, count - half)], axis);
}

/** Whether bins are in the order of {@link mirrorBins}. Of fewer than 4 both orders are the same. */
function isMirrored(bins: Float32Array): boolean {
  return bins[0] > bins[1];
}

/**
 * A number as weights of its two nearest bins, whose mean is the number (Hafner et al. 2023, arXiv v2, "twohot");
 * beyond the ends the last bin alone. No gradient is meant to flow into the number.
 *
 * @param x    [...]
 * @param bins [n] of {@link twoHotBins}
 * @returns [..., n], sums of 1
 */
export function twoHotWeights(x: tf.Tensor, bins: Float32Array): tf.Tensor {
  checkTensor('twoHotWeights', 'x', x);
  checkBinNumbers('twoHotWeights', bins);
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
 * The mean sum p_i b_i of a distribution over bins. Each bin is paired with its mirror image before anything is added
 * up, as DreamerV3's code does: bins reach to -+4.85e8, and any other order would leave rounding errors of the size of
 * rewards where the distribution is symmetric. Of equal logits the mean is exactly 0.
 *
 * @param logits [..., n]
 * @param bins   [n] of {@link twoHotBins}, or these in the order of {@link mirrorBins}, if that of the logits is
 * @returns [...]
 */
export function twoHotMean(logits: tf.Tensor, bins: Float32Array): tf.Tensor {
  checkBins('twoHotMean', logits, bins);
  const half = Math.floor(bins.length / 2);
  const p = tf.softmax(logits, -1);
  const axis = p.rank - 1;
  const [negative, positive] = [lastAxis(p, 0, half), lastAxis(p, bins.length - half, half)];
  // -b_(n-1-i) = b_i: p_i b_i + p_(n-1-i) b_(n-1-i) = (p_i - p_(n-1-i)) b_i.
  const excess = tf.sub(positive, isMirrored(bins) ? negative : tf.reverse(negative, axis));
  const places = tf.tensor2d(bins.slice(bins.length - half), [half, 1]);
  return tf.reshape(tf.matMul(tf.reshape(excess, [-1, half]), places), logits.shape.slice(0, -1));
}

/** Numbers that a distribution over bins is held to, and how much they count. */
export interface TwoHotTarget {
  /** [...] no gradient flows into them */
  readonly values: tf.Tensor;
  /** Factor of their cross entropy, any finite number */
  readonly weight: number;
}

/**
 * Cross entropy of a distribution over bins with numbers, in nats: -sum w_i log p_i with the weights of
 * {@link twoHotWeights}; with several targets the weighted sum of their cross entropies, in one go. Its gradient is p -
 * w for a weight of 1. Nothing but p is as large as the logits: the two bins of a number are looked up.
 *
 * @param logits  [..., n]
 * @param targets [...] no gradient flows into them; or several, each with a weight
 * @param bins    [n] of {@link twoHotBins}, or these in the order of {@link mirrorBins}, if that of the logits is
 * @returns [...]
 * @throws CoplayError for targets of another shape
 */
export function twoHotLoss(
  logits: tf.Tensor,
  targets: tf.Tensor | readonly TwoHotTarget[],
  bins: Float32Array,
): tf.Tensor {
  checkBins('twoHotLoss', logits, bins);
  const shape = logits.shape.slice(0, -1);
  const weighted = targets instanceof tf.Tensor ? [{ values: targets, weight: 1 }] : targets;
  if (!Array.isArray(weighted) || weighted.length === 0) {
    fail('twoHotLoss: targets', 'a tensor, or a list of them with weights', show(targets), 'Give one number per row.');
  }
  for (const [i, target] of weighted.entries() as Iterable<[number, TwoHotTarget | undefined]>) {
    checkTensor('twoHotLoss', `targets[${i}].values`, target?.values);
    checkNumber('twoHotLoss', `targets[${i}].weight`, target?.weight);
  }
  for (const { values } of weighted) checkTargets(values, shape);
  const each = weighted.map(({ values, weight }) => spotsOf(stopGradient(values), bins, weight));
  const spots = {
    places: tf.concat2d(
      each.map(({ places }) => places),
      1,
    ),
    weights: tf.concat2d(
      each.map(({ weights }) => weights),
      1,
    ),
  };
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  return tf.reshape(crossEntropy(tf.reshape(logits, [-1, bins.length]) as tf.Tensor2D, spots, total), shape);
}

function checkTargets(targets: tf.Tensor, expected: number[]): void {
  if (tf.util.arraysEqual(targets.shape, expected)) return;
  fail('twoHotLoss', `targets of shape [${expected}]`, `[${targets.shape}]`, 'Give one per row.');
}

/** The bins on which numbers lie: two neighbours for each target. */
interface Spots {
  /** [R, 2 targets] int32, counted through all bins of all rows */
  readonly places: tf.Tensor2D;
  /** [R, 2 targets] */
  readonly weights: tf.Tensor2D;
}

/** total log sum exp x - sum w x over the spots */
function crossEntropy(logits: tf.Tensor2D, spots: Spots, total: number): tf.Tensor {
  const loss = tf.customGrad((...given) => {
    const [x, places, weights, save] = given as unknown as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D, tf.GradSaveFunc];
    const p = tf.softmax(x);
    save([p, places, weights]);
    // Of the likeliest bin log p is exact, however far the others lie below: log sum exp x = max x - log max p.
    const logSum = tf.sub(tf.max(x, 1), tf.log(tf.max(p, 1)));
    return {
      value: tf.sub(tf.mul(logSum, total), tf.sum(tf.mul(tf.gather(flat(x), places), weights), 1)),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const none = tf.zeros(saved[2].shape);
        return [lossGradient(saved[0], saved[1], saved[2], total, dy), none, none];
      },
    };
  });
  return loss(logits, spots.places, spots.weights);
}

/**
 * [R, n] dy (total p - w). Where targets share a bin, both entries get the same number, so that their order doesn't
 * matter.
 */
function lossGradient(p: tf.Tensor, places: tf.Tensor, weights: tf.Tensor, total: number, dy: tf.Tensor): tf.Tensor {
  const column = tf.expandDims(dy, 1);
  const scale = tf.mul(column, total);
  const isSame = tf.cast(tf.equal(tf.expandDims(places, 2), tf.expandDims(places, 1)), 'float32');
  const joint = tf.sum(tf.mul(isSame, tf.expandDims(weights, 1)), 2);
  const entries = tf.sub(tf.mul(tf.gather(flat(p), places), scale), tf.mul(joint, column));
  const gradient = tf.tensorScatterUpdate(flat(tf.mul(p, scale)), tf.reshape(places, [-1, 1]), flat(entries));
  return tf.reshape(gradient, p.shape);
}

function flat(x: tf.Tensor): tf.Tensor1D {
  return tf.reshape(x, [-1]) as tf.Tensor1D;
}

/**
 * Where the numbers of one target lie: bins are evenly spread over symlog, so that a number's place is known without a
 * search.
 */
function spotsOf(x: tf.Tensor, binsOfLogits: Float32Array, weight: number): Spots {
  const bins = isMirrored(binsOfLogits) ? mirrorBins(binsOfLogits) : binsOfLogits;
  const last = bins.length - 1;
  const given = flat(x);
  const limited = tf.clipByValue(given, bins[0], bins[last]);
  const lower = lowerBins(limited, bins.length);
  const slopes = bins.map((bin, i) => (i === last || bin === bins[i + 1] ? 0 : 1 / (bins[i + 1] - bin)));
  const distance = tf.sub(limited, tf.gather(tf.tensor1d(bins), lower));
  const share = tf.clipByValue(tf.mul(distance, tf.gather(tf.tensor1d(slopes), lower)), 0, 1);
  const upper = tf.where(tf.notEqual(given, given), given, share); // the wasm backend clips NaN to the lower end
  const rows = tf.tensor1d(
    Int32Array.from({ length: lower.size }, (_, row) => row * bins.length),
    'int32',
  );
  return {
    places: tf.add(columnsOf(lower, binsOfLogits), tf.expandDims(rows, 1)) as tf.Tensor2D,
    weights: tf.add(
      tf.mul(tf.expandDims(upper, 1), tf.tensor1d([-weight, weight])),
      tf.tensor1d([weight, 0]),
    ) as tf.Tensor2D,
  };
}

/** [R, 2] int32 the logits of these bins and of the next ones. */
function columnsOf(lower: tf.Tensor1D, binsOfLogits: Float32Array): tf.Tensor {
  const both = tf.add(tf.expandDims(lower, 1), tf.tensor1d([0, 1], 'int32'));
  if (!isMirrored(binsOfLogits)) return both;
  const columns = mirrorBins(Float32Array.from(binsOfLogits.keys())); // its own inverse, so also the way back
  return tf.gather(tf.tensor1d(Int32Array.from(columns), 'int32'), both);
}

/**
 * [R] int32 the last bins at or below numbers, at most the last but one. Rounding may err by one bin next to a bin: its
 * weight is then 0 or 1 all the same.
 */
function lowerBins(x: tf.Tensor1D, count: number): tf.Tensor1D {
  const half = Math.ceil(count / 2) - 1;
  const middle = count % 2 === 1 ? half : tf.add(tf.cast(tf.greaterEqual(x, 0), 'float32'), half);
  const place = tf.floor(tf.add(tf.mul(symlog(x), half / REACH), middle));
  // NaN becomes 0, too: it's the loss that must show it, not the look-up.
  const first = tf.where(tf.greaterEqual(place, 0), tf.minimum(place, count - 2), tf.zerosLike(place));
  return tf.cast(first, 'int32') as tf.Tensor1D;
}

function lastAxis(x: tf.Tensor, begin: number, size: number): tf.Tensor {
  const leading = x.shape.slice(0, -1);
  return tf.slice(x, [...leading.map(() => 0), begin], [...leading, size]);
}

function checkBinNumbers(where: string, bins: Float32Array): void {
  checkArgument(where, 'bins', typedArrays('float32'), bins);
  checkNumbers(where, 'bins', bins, { atLeast: 2 });
}

function checkBins(where: string, logits: tf.Tensor, bins: Float32Array): void {
  checkTensor(where, 'logits', logits);
  checkBinNumbers(where, bins);
  const got = logits.shape[logits.rank - 1];
  if (got === bins.length) return;
  fail(where, `logits [..., ${bins.length}], one for each bin`, `[${logits.shape}]`, 'Give the bins of these logits.');
}
