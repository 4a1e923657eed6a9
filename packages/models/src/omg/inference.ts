import { checkShapes, type Generator, type NamedArrays } from '@coplay/core';
import { checkGenerator, checkRecord } from '@coplay/core/checks';
import { type LossResult, type TensorRecord, tf } from '@coplay/tensor';
import { flatSize } from '../inputs';
import { denseLayer, gru, prefixed, within } from '../layers';
import { checkInputs } from '../torso/flatten';
import { type Gaussian, gaussianKl, gaussianSample } from './gaussian';
import { actionLikelihood, checkOmgRows, type OmgRows, stateLikelihood, weightedRows } from './likelihood';
import { type OmgNetOptions, type OmgNetSettings, omgNetSettings } from './options';
import { flatReader, ownReader, type StateReader } from './readers';
import { gaussianOf } from './vae';

/** Histories of an agent: N = B L rows, L steps of a sequence behind one another. */
export interface HistoryRows extends OmgRows {
  /** [B, L] 1 in the first step of an episode */
  readonly isFirst: tf.Tensor2D;
  /** [B, historyUnits] the state that enters step 0 */
  readonly state: tf.Tensor2D;
}

/** What {@link SubgoalInference.loss} learns from. */
export interface InferenceTargets {
  /** [N, D] the frozen prior's latents of the selected states */
  readonly prior: Gaussian;
  /** [N, D] standard normal numbers */
  readonly noise: tf.Tensor2D;
  /** [N] 0 in padding */
  readonly weights: tf.Tensor1D;
}

/**
 * Subgoal inference (Yu, Jiang, Lu 2024): a conditional variational autoencoder q(g | history, state). A dense layer
 * (or `inferenceNetwork`) reads each state, a GRU goes over them; h_t has seen s_0..s_t of its episode and nothing
 * later.
 */
export interface SubgoalInference {
  /** D */
  readonly goalDim: number;
  /** Units of the GRU. */
  readonly stateSize: number;
  /**
   * Parameters `state/...`, `history/...`, `posterior/...` and `decoder/...`; those of networks of your own are
   * `state/body/...` and `decoder/body/...`.
   */
  init(generator: Generator): NamedArrays;
  /**
   * One step, for acting.
   *
   * @param inputs [N, ...] the observations
   * @param state  [N, stateSize] after the step before; zero where an episode begins
   */
  step(params: TensorRecord, inputs: TensorRecord, state: tf.Tensor2D): { posterior: Gaussian; next: tf.Tensor2D };
  /** q(g | history, state) of all steps: [N, D]. */
  posterior(params: TensorRecord, rows: HistoryRows): Gaussian;
  /**
   * loss = nll of s_t, given g and the history before it (or of a_t, given g, s_t and the time) + klWeight KL(q(g |
   * history, s_t) || p(g | s_selected)). No gradient reaches the prior if its tensors aren't parameters.
   *
   * @returns the loss with the scalar metrics `nll`, `kl`, `error` and `spread`: the mean squared distance of inferred
   *          from selected subgoals, and of those from their mean
   */
  loss(params: TensorRecord, rows: HistoryRows, targets: InferenceTargets): LossResult;
}

/** Gain of the head: subgoals begin near 0, so that an untrained network gives a policy little to follow. */
const POSTERIOR_GAIN = 0.01;

/** Builds the network; nothing is drawn yet. */
export function subgoalInference(options: OmgNetOptions): SubgoalInference {
  const settings = omgNetSettings('subgoalInference', options);
  const { inputs: shapes, goalDim, historyUnits, klWeight } = settings;
  const reader = stateReader(settings);
  const stateUnits = reader.outputSize;
  const memory = gru(stateUnits, historyUnits);
  const head = denseLayer({ inputSize: stateUnits + historyUnits, outputSize: 2 * goalDim, gain: POSTERIOR_GAIN });
  const where = 'subgoalInference: option decoderNetwork';
  const isOfAction = settings.loss === 'action';
  const decoder = isOfAction ? actionLikelihood(where, settings) : stateLikelihood(where, settings, historyUnits);

  const read = (params: TensorRecord, inputs: TensorRecord) => reader.apply(within('state', params), inputs);
  const judge = (params: TensorRecord, seen: tf.Tensor2D, history: tf.Tensor2D): Gaussian =>
    gaussianOf(head.apply(within('posterior', params), tf.concat([seen, history], 1) as tf.Tensor2D));

  const unroll = (params: TensorRecord, { inputs, isFirst, state }: HistoryRows) => {
    const [rows, steps] = isFirst.shape;
    const seen = read(params, inputs);
    const sequence = tf.reshape(seen, [rows, steps, stateUnits]) as tf.Tensor3D;
    const states = memory.unroll(within('history', params), sequence, isFirst, state);
    const posterior = judge(params, seen, tf.reshape(states, [rows * steps, historyUnits]));
    return { posterior, before: entering(states, isFirst, state) };
  };

  const checkHistories = (where: string, params: TensorRecord, rows: HistoryRows): void => {
    checkRecord(where, 'params', params);
    checkOmgRows(where, settings, rows);
    checkShapes(where, { isFirst: rows.isFirst }, 'B L');
    checkShapes(where, { state: rows.state }, `B ${historyUnits}`);
  };

  return {
    goalDim,
    stateSize: historyUnits,
    init: (generator) => {
      checkGenerator('subgoalInference.init', generator);
      return {
        ...prefixed('state', reader.init(generator.fork())),
        ...prefixed('history', memory.init(generator.fork())),
        ...prefixed('posterior', head.init(generator.fork())),
        ...prefixed('decoder', decoder.init(generator.fork())),
      };
    },
    step: (params, inputs, state) => {
      checkRecord('subgoalInference.step', 'params', params);
      checkInputs('subgoalInference.step', shapes, inputs);
      checkShapes('subgoalInference.step', { state }, `N ${historyUnits}`);
      const seen = read(params, inputs);
      const next = memory.step(within('history', params), seen, state);
      return { posterior: judge(params, seen, next), next };
    },
    posterior: (params, rows) => {
      checkHistories('subgoalInference.posterior', params, rows);
      return unroll(params, rows).posterior;
    },
    loss: (params, rows, targets) => {
      const where = 'subgoalInference.loss';
      checkHistories(where, params, rows);
      checkRecord(where, 'targets', targets);
      const { prior, noise, weights } = targets;
      checkRecord(where, 'targets.prior', prior);
      checkShapes(where, { mean: prior.mean, logVar: prior.logVar, noise }, `N ${goalDim}`);
      checkShapes(where, { weights }, 'N');
      const { posterior, before } = unroll(params, rows);
      const latent = gaussianSample(posterior, noise);
      const nll = weightedRows(decoder.nll(within('decoder', params), rows, latent, before), weights);
      const kl = weightedRows(gaussianKl(posterior, prior), weights);
      const metrics = { nll, kl, ...distances(posterior.mean, prior.mean, weights) };
      return { loss: tf.add(nll, tf.mul(klWeight, kl)) as tf.Scalar, metrics };
    },
  };
}

/** From a state to the features that the GRU reads. */
function stateReader({ inputs, stateUnits, inferenceNetwork }: OmgNetSettings): StateReader {
  if (inferenceNetwork) return ownReader('subgoalInference: option inferenceNetwork', inputs, inferenceNetwork);
  return flatReader(inputs, denseLayer({ inputSize: flatSize(inputs), outputSize: stateUnits, activation: 'relu' }));
}

/** [N, units] the recurrent state before each step, which doesn't depend on the step's observation. */
function entering(states: tf.Tensor3D, isFirst: tf.Tensor2D, state: tf.Tensor2D): tf.Tensor2D {
  const [rows, steps, units] = states.shape;
  const start = tf.reshape(state, [rows, 1, units]);
  const before = steps === 1 ? start : tf.concat([start, tf.slice(states, [0, 0, 0], [rows, steps - 1, units])], 1);
  const kept = tf.mul(before, tf.reshape(tf.sub(1, isFirst), [rows, steps, 1]));
  return tf.reshape(kept, [rows * steps, units]) as tf.Tensor2D;
}

function distances(inferred: tf.Tensor2D, selected: tf.Tensor2D, weights: tf.Tensor1D) {
  const column = tf.reshape(weights, [-1, 1]);
  const centre = tf.div(tf.sum(tf.mul(selected, column), 0, true), tf.maximum(tf.sum(weights), 1e-6));
  const squaredTo = (other: tf.Tensor) => tf.sum(tf.square(tf.sub(selected, other)), 1) as tf.Tensor1D;
  return { error: weightedRows(squaredTo(inferred), weights), spread: weightedRows(squaredTo(centre), weights) };
}
