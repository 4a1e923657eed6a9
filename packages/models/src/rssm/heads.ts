import { type TensorRecord, tf } from '@coplay/tensor';
import { bernoulliLoss, mirrorBins, twoHotBins, twoHotLoss, twoHotMean } from '@coplay/tensor/distributions';
import { linear, linearSpecs, normMlp, type ParamSpecs, prefixedSpecs } from '../layers';

/** A network from features [N, F] to logits. */
export interface DreamerHead {
  readonly specs: ParamSpecs;
  /** [N, F] to [N, outputs] */
  logits(params: TensorRecord, features: tf.Tensor2D): tf.Tensor2D;
}

/** Options of {@link dreamerHead}. */
export interface HeadOptions {
  /** F */
  readonly featureSize: number;
  /** U of each hidden layer */
  readonly units: number;
  /** Hidden layers, 0 or more */
  readonly layers: number;
  /** Logits */
  readonly outputs: number;
  /** Scale of the last kernel's start; 0: it begins with zeros */
  readonly scale: number;
}

/** Hidden layers `0/...`, `1/...` and a linear one, `head/...`. */
export function dreamerHead({ featureSize, units, layers, outputs, scale }: HeadOptions): DreamerHead {
  const mlp = normMlp(featureSize, units, layers);
  return {
    specs: { ...mlp.specs, ...prefixedSpecs('head', linearSpecs(mlp.outputSize, outputs, scale)) },
    logits: (params, features) => linear(params, 'head', mlp.apply(params, features)),
  };
}

/**
 * A head that predicts a number as a distribution over bins: DreamerV3's reward and value. Its logits are in the order
 * of `bins`; parameters are in that of `twoHotBins`, as in DreamerV3's code.
 */
export interface TwoHotHead extends DreamerHead {
  /** [bins] in the order of `mirrorBins` */
  readonly bins: Float32Array;
  /** [N, bins] to the mean [N] */
  mean(logits: tf.Tensor): tf.Tensor1D;
  /** [N, bins] and targets [N] to cross entropies [N] */
  loss(logits: tf.Tensor, targets: tf.Tensor): tf.Tensor1D;
}

/** Begins with zero kernels: predictions are exactly 0, losses ln(bins). */
export function twoHotHead(options: Omit<HeadOptions, 'outputs' | 'scale'> & { readonly bins: number }): TwoHotHead {
  const bins = mirrorBins(twoHotBins(options.bins));
  const { specs, logits } = dreamerHead({ ...options, outputs: options.bins, scale: 0 });
  return {
    specs,
    logits: (params, features) => logits({ ...params, ...mirrored(params, 'head/kernel', 'head/bias') }, features),
    bins,
    mean: (logits) => twoHotMean(logits, bins) as tf.Tensor1D,
    loss: (logits, targets) => twoHotLoss(logits, targets, bins) as tf.Tensor1D,
  };
}

/** These parameters with their bins turned round: less work than to do so with the logits of many rows. */
function mirrored(params: TensorRecord, ...names: readonly string[]): TensorRecord {
  return Object.fromEntries(names.map((name) => [name, mirrorBins(params[name])]));
}

/** A head that predicts a probability: DreamerV3's continue flag, with the discount in it. */
export interface ContinueHead extends DreamerHead {
  /** [N, 1] to the probability [N] */
  mean(logits: tf.Tensor): tf.Tensor1D;
  /** [N, 1] and soft targets [N] to cross entropies [N] */
  loss(logits: tf.Tensor, targets: tf.Tensor): tf.Tensor1D;
}

/** One hidden layer and one logit. */
export function continueHead(options: Omit<HeadOptions, 'outputs' | 'scale'>): ContinueHead {
  const flat = (logits: tf.Tensor) => tf.reshape(logits, [-1]) as tf.Tensor1D;
  return {
    ...dreamerHead({ ...options, outputs: 1, scale: 1 }),
    mean: (logits) => tf.sigmoid(flat(logits)),
    loss: (logits, targets) => bernoulliLoss(flat(logits), targets) as tf.Tensor1D,
  };
}
