import { checkShapes, type Generator, type NamedArrays } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkRecord } from '@coplay/core/checks';
import { type TensorRecord, tf } from '@coplay/tensor';
import { codesLoss, logProbOf, maskedLogProbs } from '@coplay/tensor/distributions';
import { flatSize, type InputShapes } from '../inputs';
import { denseLayer, type Layer, prefixed, sequential, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { checkInputs, flattenInputs } from '../torso/flatten';
import { ownNetwork } from '../torso/own-network';
import type { OmgNetSettings } from './options';

/** Recorded steps, N rows. */
export interface OmgRows {
  /** [N, ...] for each input: the observations */
  readonly inputs: TensorRecord;
  /** [N, K] the agent's legal actions; read by the loss `action` only */
  readonly masks?: tf.Tensor2D;
  /** [N] int32 its actions; read by the loss `action` only */
  readonly actions?: tf.Tensor1D;
}

/** Refuses rows that lack an input of the networks. */
export function checkOmgRows(where: string, { inputs, actions, loss }: OmgNetSettings, rows: OmgRows): void {
  checkRecord(where, 'rows', rows);
  checkInputs(where, inputs, rows.inputs);
  if (loss !== 'action') return;
  checkShapes(where, { masks: rows.masks as tf.Tensor2D }, `N ${actions}`);
  checkShapes(where, { actions: rows.actions as tf.Tensor1D }, 'N');
}

/** The side of a latent variable model that says how well a latent explains a row. */
export interface Likelihood {
  init(generator: Generator): NamedArrays;
  /**
   * @param latent   [N, D]
   * @param context  [N, contextSize] known inputs in addition to the latent
   * @returns [N] negative log-likelihood in nats (weighted, or a mean, as the options say)
   */
  nll(params: TensorRecord, rows: OmgRows, latent: tf.Tensor2D, context?: tf.Tensor2D): tf.Tensor1D;
}

/** Several dense layers with ReLU, then a linear one. */
export function perceptron(inputSize: number, hidden: readonly number[], outputSize: number, gain = 1): Layer {
  const sizes = [inputSize, ...hidden];
  const layers = hidden.map((units, i) => denseLayer({ inputSize: sizes[i], outputSize: units, activation: 'relu' }));
  return sequential([...layers, denseLayer({ inputSize: sizes.at(-1) ?? inputSize, outputSize, gain })], inputSize);
}

/**
 * The state that was seen, from the latent and a context: Bernoulli for each cell of planes and each flag, categorical
 * for each one-hot code, normal with variance 1 for each other number (squared error / 2).
 */
export function stateLikelihood(where: string, settings: OmgNetSettings, contextSize: number): Likelihood {
  const { inputs, goalDim, hidden, decoderNetwork } = settings;
  const inputSize = goalDim + contextSize;
  const decoder = decoderNetwork
    ? ownDecoder(where, decoderNetwork, { more: inputSize, outputs: inputs })
    : perceptronDecoder(perceptron(inputSize, hidden, flatSize(inputs)), {});
  return {
    init: decoder.init,
    nll: (params, rows, latent, context) =>
      reconstructionError(
        settings,
        decoder.apply(params, {}, joined(latent, context)),
        flattenInputs(inputs, rows.inputs),
      ),
  };
}

/** The action that was taken, from the state, its time and the latent: cross-entropy over the legal actions. */
export function actionLikelihood(where: string, settings: OmgNetSettings): Likelihood {
  const { inputs, goalDim, hidden, actions, decoderNetwork } = settings;
  const decoder = decoderNetwork
    ? ownDecoder(where, decoderNetwork, { inputs, more: goalDim, outputs: { actions: [actions] } })
    : perceptronDecoder(perceptron(flatSize(inputs) + goalDim, hidden, actions, 0.01), inputs);
  return {
    init: decoder.init,
    nll: (params, rows, latent) => {
      const logits = decoder.apply(params, rows.inputs, latent); // [N, K]
      const logProbs = maskedLogProbs(logits, rows.masks as tf.Tensor2D);
      return tf.neg(logProbOf(logProbs, rows.actions as tf.Tensor1D)) as tf.Tensor1D;
    },
  };
}

/** A network from an observed state (without inputs: from nothing of it), and a latent, to what it predicts. */
interface Decoder {
  init(generator: Generator): NamedArrays;
  apply(params: TensorRecord, state: TensorRecord, latent: tf.Tensor2D): tf.Tensor2D;
}

/** The default: a layer over the state, flattened, and the latent. */
function perceptronDecoder({ init, apply }: Layer, inputs: InputShapes): Decoder {
  const isOfLatent = Object.keys(inputs).length === 0;
  const read = (state: TensorRecord, latent: tf.Tensor2D) =>
    isOfLatent ? latent : joined(flattenInputs(inputs, state), latent);
  return { init, apply: (params, state, latent) => apply(params, read(state, latent)) };
}

/** A user's network, with parameters `body/...`. */
function ownDecoder(where: string, network: TorsoBuilder, shapes: Parameters<typeof ownNetwork>[2]): Decoder {
  const body = ownNetwork(where, network, shapes);
  return {
    init: (generator) => prefixed('body', body.init(generator)),
    apply: (params, state, latent) => body.apply(within('body', params), state, latent),
  };
}

/**
 * How far a reconstruction is off: occupied cells count `occupiedWeight` times.
 *
 * @param outputs [N, F] logits of cells and codes, means of other numbers, in the order of the inputs
 * @param targets [N, F] the observations
 * @returns [N] sum (or mean) over the F numbers
 */
function reconstructionError(
  settings: ReconstructionSettings,
  outputs: tf.Tensor2D,
  targets: tf.Tensor2D,
): tf.Tensor1D {
  const { inputs, reduction } = settings;
  const names = Object.keys(inputs);
  const sizes = names.map((name) => sizeOf(inputs[name]));
  const [means, seen] = [outputs, targets].map((all) => (names.length === 1 ? [all] : tf.split(all, sizes, 1)));
  const errors = names.map((name, i) => inputError(settings, name, means[i] as tf.Tensor2D, seen[i] as tf.Tensor2D));
  const sum = tf.addN(errors) as tf.Tensor1D;
  return reduction === 'sum' ? sum : (tf.div(sum, outputs.shape[1]) as tf.Tensor1D);
}

type ReconstructionSettings = Pick<OmgNetSettings, 'inputs' | 'kinds' | 'flags' | 'occupiedWeight' | 'reduction'>;

/** The error of one input, [N] summed over its numbers. */
function inputError(settings: ReconstructionSettings, name: string, outputs: tf.Tensor2D, targets: tf.Tensor2D) {
  const shape = settings.inputs[name];
  const input = settings.kinds[name] ?? { kind: shape.length === 3 ? 'planes' : 'vector' };
  if (input.kind === 'codes') return codesLoss(outputs, targets, input.classes);
  const size = sizeOf(shape);
  const cells = input.kind === 'planes' ? size : name === 'vector' ? settings.flags : 0;
  const parts = [
    ...(cells < size ? [squaredError(columns(outputs, 0, size - cells), columns(targets, 0, size - cells))] : []),
    ...(cells > 0
      ? [cellError(settings, columns(outputs, size - cells, cells), columns(targets, size - cells, cells))]
      : []),
  ];
  return parts.length === 1 ? parts[0] : (tf.add(parts[0], parts[1]) as tf.Tensor1D);
}

/** Half of the squared error, [N]. */
function squaredError(outputs: tf.Tensor2D, targets: tf.Tensor2D): tf.Tensor1D {
  return tf.mul(0.5, tf.sum(tf.square(tf.sub(outputs, targets)), 1)) as tf.Tensor1D;
}

/** -log sigmoid(l) = softplus(l) - l for an occupied cell, softplus(l) for an empty one; [N] */
function cellError({ occupiedWeight }: ReconstructionSettings, logits: tf.Tensor2D, targets: tf.Tensor2D): tf.Tensor1D {
  const occupied = tf.mul(targets, tf.mul(occupiedWeight, tf.sub(tf.softplus(logits), logits)));
  const empty = tf.mul(tf.sub(1, targets), tf.softplus(logits));
  return tf.sum(tf.add(occupied, empty), 1) as tf.Tensor1D;
}

/** Columns of [N, F], from one on. */
function columns(x: tf.Tensor2D, from: number, count: number): tf.Tensor2D {
  return count === x.shape[1] ? x : (tf.slice(x, [0, from], [x.shape[0], count]) as tf.Tensor2D);
}

function joined(first: tf.Tensor2D, second: tf.Tensor2D | undefined): tf.Tensor2D {
  return second ? (tf.concat([first, second], 1) as tf.Tensor2D) : first;
}

/** sum(weights x) / sum(weights); 0 where all weights are. */
export function weightedRows(x: tf.Tensor1D, weights: tf.Tensor1D): tf.Scalar {
  return tf.div(tf.sum(tf.mul(x, weights)), tf.maximum(tf.sum(weights), 1e-6)) as tf.Scalar;
}
