import { type TensorRecord, tf } from '@coplay/tensor';
import {
  blockDenseSpecs,
  fromBlocks,
  linear,
  normed,
  normLayer,
  normLayerSpecs,
  type ParamSpecs,
  toBlocks,
} from '../layers';
import { paramOf } from '../layers/params';
import type { RssmSizes } from './sizes';

/**
 * DreamerV3's block GRU. From the deterministic state h, the sample z and the action a:
 *
 *   u = [SiLU(RMS(h W0)), SiLU(RMS(z W1)), SiLU(RMS(a W2))]
 *   x = SiLU(RMS(BlockLinear([h_i, u] for each block i)))            the norm over all blocks
 *   reset, candidate, update = BlockLinear(x), thirds of each block
 *   h' = q tanh(s(reset) candidate) + (1 - q) h,  q = s(update - 1)
 *
 * Blocks are kept as matrices of their own, [g, B, D / g]. What u adds to x is multiplied by its own rows of the
 * kernel: the action's part is then known for all steps of a sequence at once.
 */
export interface BlockGru {
  readonly specs: ParamSpecs;
  /**
   * The action's part of x, with the bias.
   *
   * @param actions [B, A], one-hot or numbers; numbers beyond -1 and 1 are cut to these
   * @returns [g, B, D / g]
   */
  actionPart(params: TensorRecord, actions: tf.Tensor2D): tf.Tensor3D;
  /**
   * @param deter  h [B, D]
   * @param stoch  z [B, Z]
   * @param action [g, B, D / g] of `actionPart`
   * @returns h' [B, D]
   */
  step(params: TensorRecord, deter: tf.Tensor2D, stoch: tf.Tensor2D, action: tf.Tensor3D): tf.Tensor2D;
}

/**
 * Builds the core; parameters are named as in DreamerV3's code: dynin0 (h), dynin1 (z), dynin2 (a), dynhid0, dyngru.
 */
export function blockGru({ deter, hidden, stoch, classes, blocks }: RssmSizes, actionSize: number): BlockGru {
  const width = deter / blocks;
  const hid = blockDenseSpecs(deter + 3 * blocks * hidden, deter, blocks);
  const gates = blockDenseSpecs(deter, 3 * deter, blocks);

  const specs: ParamSpecs = {
    ...normLayerSpecs('dynin0', deter, hidden),
    ...normLayerSpecs('dynin1', stoch * classes, hidden),
    ...normLayerSpecs('dynin2', actionSize, hidden),
    'dynhid0/kernel': hid.kernel,
    'dynhid0/bias': hid.bias,
    'dynhid0/scale': { shape: [deter], start: 1 },
    'dyngru/kernel': gates.kernel,
    'dyngru/bias': gates.bias,
  };

  const own = <T extends tf.Tensor>(params: TensorRecord, name: string) =>
    paramOf<T>('blockGru', params, name, specs[name].shape);

  /** Rows of each block's kernel: first the rows of h, then the rows of u. */
  const rowsOf = (params: TensorRecord, begin: number, size: number) =>
    tf.slice(own<tf.Tensor3D>(params, 'dynhid0/kernel'), [0, begin, 0], [blocks, size, width]);

  const inBlocks = (vector: tf.Tensor, size = width) => tf.reshape(vector, [blocks, 1, size]); // [g, 1, size]

  return {
    specs,
    actionPart: (params, actions) => {
      const u = normLayer(params, 'dynin2', bounded(actions));
      const product = tf.matMul(tf.expandDims(u, 0), rowsOf(params, width + 2 * hidden, hidden));
      return tf.add(product, inBlocks(own(params, 'dynhid0/bias'))) as tf.Tensor3D;
    },
    step: (params, h, z, action) => {
      const h0 = toBlocks(h, blocks);
      const scales = tf.stack([own(params, 'dynin0/scale'), own(params, 'dynin1/scale')]); // [2, Hd]
      const u = jointInputs(linear(params, 'dynin0', h), linear(params, 'dynin1', z), scales);
      const recurrent = tf.matMul(h0, rowsOf(params, 0, width));
      const driven = tf.add(tf.matMul(u, rowsOf(params, width, 2 * hidden)), action);
      const x = normed(tf.add(recurrent, driven), inBlocks(own(params, 'dynhid0/scale')), [0, 2]);
      const y = tf.add(
        tf.matMul(x, own<tf.Tensor3D>(params, 'dyngru/kernel')),
        gateBias(inBlocks(own(params, 'dyngru/bias'), 3 * width)),
      );
      const [reset, candidate, update] = tf.split(y, 3, 2);
      const c = tf.tanh(tf.mul(tf.sigmoid(reset), candidate));
      return fromBlocks(tf.add(h0, tf.mul(tf.sigmoid(update), tf.sub(c, h0))) as tf.Tensor3D);
    },
  };
}

/** u of h and z, [1, B, 2 Hd], both normalised in one go. */
function jointInputs(ofDeter: tf.Tensor2D, ofStoch: tf.Tensor2D, scales: tf.Tensor): tf.Tensor3D {
  const [rows, hidden] = ofDeter.shape;
  const both = tf.reshape(tf.concat([ofDeter, ofStoch], 1), [rows, 2, hidden]);
  return tf.reshape(normed(both, scales), [1, rows, 2 * hidden]);
}

/**
 * The bias of all gates [g, 1, 3 D / g] with the update gate's -1, by which the state is mostly kept in the beginning.
 */
function gateBias(bias: tf.Tensor): tf.Tensor {
  const third = bias.shape[2]! / 3;
  return tf.add(bias, tf.tensor1d(Float32Array.from({ length: 3 * third }, (_, i) => (i < 2 * third ? 0 : -1))));
}

/**
 * a / max(1, |a|); one-hot codes stay as they are. Actions are data or samples: no gradient flows through the divisor.
 */
function bounded(actions: tf.Tensor2D): tf.Tensor2D {
  return tf.clipByValue(actions, -1, 1);
}
