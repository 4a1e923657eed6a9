import { checkShapes, type Generator, type NamedArrays } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import { straightThrough, unimix } from '@coplay/tensor/distributions';
import { initialise, linear, linearSpecs, normLayer, normLayerSpecs, type ParamSpecs, prefixedSpecs } from '../layers';
import { blockGru } from './core';
import { sequenceObserver } from './observe';
import type { RssmInputs, RssmOptions, RssmSequence, RssmState } from './sequences';
import type { RssmSizes } from './sizes';

/**
 * The recurrent state-space model of DreamerV3 (Hafner et al. 2023, arXiv v2, eq. 1): pure functions over parameters.
 */
export interface Rssm {
  /** F = D + S C */
  readonly featureSize: number;
  readonly sizes: RssmSizes;
  readonly unimix: number;
  readonly specs: ParamSpecs;
  init(generator: Generator): NamedArrays;
  /** Zeros, as before every episode. */
  initial(rows: number): RssmState;
  /**
   * Filters a sequence. A sequence cut in two, the second part from the first one's last state, gives the same.
   *
   * @param start the state before the first step
   * @param noise [B, T, S] uniform in [0, 1)
   */
  observe(params: TensorRecord, start: RssmState, inputs: RssmInputs, noise: tf.Tensor3D): RssmSequence;
  /**
   * One step without an observation.
   *
   * @param action [B, A] taken in `state`
   * @param noise  [B, S] uniform in [0, 1)
   * @param table  of `actionTable`, where many steps are imagined: actions must be one-hot then, and no gradient is
   *               meant to flow into them
   */
  imagine(
    params: TensorRecord,
    state: RssmState,
    action: tf.Tensor2D,
    noise: tf.Tensor2D,
    table?: tf.Tensor3D,
  ): RssmState;
  /**
   * The effect of each of A discrete actions on the state: the same in all rows and steps, so that it's looked up
   * instead of computed.
   *
   * @returns [g, A, D / g]
   */
  actionTable(params: TensorRecord): tf.Tensor3D;
  /**
   * The state's distribution before the observation is known.
   *
   * @param deter [..., D]
   * @returns logits [..., S, C]
   */
  prior(params: TensorRecord, deter: tf.Tensor): tf.Tensor;
  /**
   * What heads read: [h, z].
   *
   * @param state [..., D] and [..., S, C]
   * @returns [N, F], leading dimensions flattened
   */
  features(state: { readonly deter: tf.Tensor; readonly stoch: tf.Tensor }): tf.Tensor2D;
}

/** Builds an RSSM. Parameters: the parameters of {@link blockGru}, prior0, prior1, priorlogit, obs0, obslogit. */
export function rssm(options: RssmOptions): Rssm {
  const { deter, hidden, stoch, classes, tokens: tokenSize, actions: actionSize, unimix: share = 0.01 } = options;
  const latent = stoch * classes;
  const core = blockGru(options, actionSize);
  const specs: ParamSpecs = {
    ...core.specs,
    ...normLayerSpecs('prior0', deter, hidden),
    ...normLayerSpecs('prior1', hidden, hidden),
    ...prefixedSpecs('priorlogit', linearSpecs(hidden, latent)),
    ...normLayerSpecs('obs0', deter + tokenSize, hidden),
    ...prefixedSpecs('obslogit', linearSpecs(hidden, latent)),
  };

  const prior = (params: TensorRecord, h: tf.Tensor): tf.Tensor => {
    const first = normLayer(params, 'prior0', tf.reshape(h, [-1, deter]));
    const logits = linear(params, 'priorlogit', normLayer(params, 'prior1', first));
    return tf.reshape(logits, [...h.shape.slice(0, -1), stoch, classes]);
  };
  const sample = (logits: tf.Tensor, noise: tf.Tensor) => straightThrough(unimix(logits, share), noise) as tf.Tensor3D;

  return {
    featureSize: deter + latent,
    sizes: options,
    unimix: share,
    specs,
    init: (generator) => initialise(specs, generator),
    initial: (rows) => ({ deter: tf.zeros([rows, deter]), stoch: tf.zeros([rows, stoch, classes]) }),
    prior,
    features: (state) => {
      const flat = [tf.reshape(state.deter, [-1, deter]), tf.reshape(state.stoch, [-1, latent])];
      return tf.concat(flat, 1) as tf.Tensor2D;
    },
    actionTable: (params) => core.actionPart(params, tf.eye(actionSize)),
    imagine: (params, state, action, noise, table) => {
      const [rows] = state.deter.shape;
      checkShapes('rssm.imagine', { 'state.deter': state.deter }, `B ${deter}`);
      checkShapes('rssm.imagine', { 'state.stoch': state.stoch }, `${rows} ${stoch} ${classes}`);
      checkShapes('rssm.imagine', { action }, `${rows} ${actionSize}`);
      checkShapes('rssm.imagine', { noise }, `${rows} ${stoch}`);
      const flat = tf.reshape(state.stoch, [-1, latent]) as tf.Tensor2D;
      const drive = table ? tf.matMul(tf.expandDims(action, 0), table) : core.actionPart(params, action);
      const next = core.step(params, state.deter, flat, drive as tf.Tensor3D);
      return { deter: next, stoch: sample(prior(params, next), noise) };
    },
    observe: sequenceObserver(options, core, sample),
  };
}
