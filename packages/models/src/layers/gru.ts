import { checkShapes, type Generator, type NamedArrays } from '@coplay/core';
import { checkCount, checkGenerator } from '@coplay/core/checks';
import { orthogonal, type TensorRecord, tf, zeros } from '@coplay/tensor';
import { paramOf } from './params';

/** A gated recurrent unit over matrices. */
export interface Gru {
  readonly units: number;
  init(generator: Generator): NamedArrays;
  /**
   * One step.
   *
   * @param x [B, inputSize]
   * @param h [B, units]
   * @returns [B, units]
   */
  step(params: TensorRecord, x: tf.Tensor2D, h: tf.Tensor2D): tf.Tensor2D;
  /**
   * Many steps. Before step t the state is set to zero where `isFirst` says so, so nothing crosses an episode's start.
   *
   * @param xs [B, T, inputSize]
   * @param isFirst [B, T] 1 in the first step of an episode
   * @param h [B, units] the state that enters step 0
   * @returns the state after each step [B, T, units]
   */
  unroll(params: TensorRecord, xs: tf.Tensor3D, isFirst: tf.Tensor2D, h: tf.Tensor2D): tf.Tensor3D;
}

/**
 * GRU (Cho et al. 2014) in the form of cuDNN and PyTorch, with the reset gate after the recurrent matrix:
 * r = s(x Wr + h Ur + br), z = s(x Wz + h Uz + bz), n = tanh(x Wn + bn + r (h Un + cn)), h' = (1 - z) n + z h.
 */
export function gru(inputSize: number, units: number): Gru {
  checkCount('gru', 'inputSize', inputSize, 1);
  checkCount('gru', 'units', units, 1);
  /** Input half of all gates: x W + b, [.., 3 units]. */
  const project = (params: TensorRecord, x: tf.Tensor2D) =>
    tf.add(tf.matMul(x, params['kernel'] as tf.Tensor2D), params['bias']) as tf.Tensor2D;

  const advance = (params: TensorRecord, projected: tf.Tensor2D, h: tf.Tensor2D): tf.Tensor2D => {
    const recurrent = tf.add(tf.matMul(h, params['recurrent'] as tf.Tensor2D), params['recurrentBias']);
    const [xr, xz, xn] = tf.split(projected, 3, 1) as tf.Tensor2D[];
    const [hr, hz, hn] = tf.split(recurrent, 3, 1) as tf.Tensor2D[];
    const reset = tf.sigmoid(tf.add(xr!, hr!));
    const update = tf.sigmoid(tf.add(xz!, hz!));
    const candidate = tf.tanh(tf.add(xn!, tf.mul(reset, hn!)));
    return tf.add(candidate, tf.mul(update, tf.sub(h, candidate))) as tf.Tensor2D;
  };

  const check = (where: string, params: TensorRecord): void => {
    paramOf(where, params, 'kernel', [inputSize, 3 * units]);
    paramOf(where, params, 'bias', [3 * units]);
    paramOf(where, params, 'recurrent', [units, 3 * units]);
    paramOf(where, params, 'recurrentBias', [3 * units]);
  };

  return {
    units,
    init: (generator) => {
      checkGenerator('gru.init', generator);
      return {
        kernel: orthogonal(generator.fork(), [inputSize, 3 * units], Math.SQRT2),
        bias: zeros([3 * units]),
        recurrent: orthogonal(generator.fork(), [units, 3 * units], 1),
        recurrentBias: zeros([3 * units]),
      };
    },
    step: (params, x, h) => {
      check('gru.step', params);
      checkShapes('gru.step', { x }, `B ${inputSize}`);
      checkShapes('gru.step', { h }, `B ${units}`);
      return advance(params, project(params, x), h);
    },
    unroll: (params, xs, isFirst, h) => {
      check('gru.unroll', params);
      checkShapes('gru.unroll', { xs }, `B T ${inputSize}`);
      checkShapes('gru.unroll', { isFirst }, `${xs.shape[0]} ${xs.shape[1]}`);
      checkShapes('gru.unroll', { h }, `${xs.shape[0]} ${units}`);
      const [rows, steps] = xs.shape;
      // All input halves in one product: the recurrence itself is only half of the work.
      const flat = project(params, tf.reshape(xs, [rows * steps, inputSize]));
      const projected = tf.unstack(tf.reshape(flat, [rows, steps, 3 * units]), 1) as tf.Tensor2D[];
      const keeps = tf.unstack(tf.reshape(tf.sub(1, isFirst), [rows, steps, 1]), 1) as tf.Tensor2D[];
      const states: tf.Tensor2D[] = [];
      let state = h;
      for (let t = 0; t < steps; t++) {
        state = advance(params, projected[t], tf.mul(state, keeps[t]));
        states.push(state);
      }
      return tf.stack(states, 1) as tf.Tensor3D;
    },
  };
}
