import { mapColumns } from '@coplay/core/rows';
import type { InputEncoder } from '@coplay/models';
import type { HistoryRows, OmgRows, StateVae, SubgoalInference } from '@coplay/models/omg';
import {
  type Optimiser,
  type ScanInputs,
  type StepFunction,
  type TensorRecord,
  tf,
  valueAndGradients,
} from '@coplay/tensor';

/** The parts of the steps. */
interface Parts {
  readonly vae: StateVae;
  readonly inference: SubgoalInference;
  readonly optimiser: Optimiser;
  readonly encoder: InputEncoder;
}

/**
 * One gradient step of the state VAE.
 *
 * Inputs of each step: `NAME` [B, ...] of the encoder, `masks` [B, K], `actions` int32 [B], `noise` [B, D]; shared:
 * `learningRate` [].
 */
export function vaeStep({ vae, optimiser, encoder }: Parts): StepFunction<'vae' | 'vaeSlots', ScanInputs> {
  return (state, { each, shared }) => {
    const weights = tf.onesLike(tf.slice(each['noise'], [0, 0], [-1, 1]));
    const lossOf = (params: TensorRecord) =>
      vae.loss(params, rowsOf(encoder, each), each['noise'] as tf.Tensor2D, tf.reshape(weights, [-1]) as tf.Tensor1D);
    const { loss, gradients, metrics } = valueAndGradients(lossOf, state.vae);
    const rate = shared['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.vaeSlots, state.vae, rate);
    return { state: { vae: params, vaeSlots: slots }, outputs: { loss, gradientNorm, ...metrics } };
  };
}

/**
 * One gradient step of the subgoal inference, towards the frozen VAE's latents.
 *
 * Inputs of each step: `places` int32 [B L] in the table, `selected` int32 [B L] the subgoals' places, `isFirst` [B,
 * L], `weights` [B L], `noise` [B L, D]; shared: `learningRate` [], the table's `NAME` [R, ...], `masks`, `actions`.
 */
export function inferenceStep(parts: Parts): StepFunction<'vae' | 'inference' | 'inferenceSlots', ScanInputs> {
  const { vae, inference, optimiser, encoder } = parts;
  return (state, { each, shared }) => {
    const { learningRate, ...table } = shared;
    const gather = (places: tf.Tensor) => mapColumns(table, (column) => tf.gather(column, places as tf.Tensor1D));
    const isFirst = each['isFirst'] as tf.Tensor2D;
    const rows: HistoryRows = {
      ...rowsOf(encoder, gather(each['places'])),
      isFirst,
      state: tf.zeros([isFirst.shape[0], inference.stateSize]),
    };
    const targets = {
      prior: vae.encode(state.vae, rowsOf(encoder, gather(each['selected'])).inputs),
      noise: each['noise'] as tf.Tensor2D,
      weights: each['weights'] as tf.Tensor1D,
    };
    const lossOf = (params: TensorRecord) => inference.loss(params, rows, targets);
    const { loss, gradients, metrics } = valueAndGradients(lossOf, state.inference);
    const rate = learningRate as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.inferenceSlots, state.inference, rate);
    return { state: { inference: params, inferenceSlots: slots }, outputs: { loss, gradientNorm, ...metrics } };
  };
}

/** Acting: inputs `NAME` [N, ...] and `state` [N, units]; outputs `mean` [N, D] and `next`. */
export function inferStep({ inference }: Parts): StepFunction<'inference'> {
  return ({ inference: params }, { state, ...inputs }) => {
    const { posterior, next } = inference.step(params, inputs, state as tf.Tensor2D);
    return { outputs: { mean: posterior.mean, next } };
  };
}

/** The frozen prior: inputs `NAME` [N, ...]; output `mean` [N, D]. */
export function encodeStep({ vae }: Parts): StepFunction<'vae'> {
  return ({ vae: params }, inputs) => ({ outputs: { mean: vae.encode(params, inputs).mean } });
}

function rowsOf(encoder: Parts['encoder'], columns: TensorRecord): OmgRows {
  return {
    inputs: Object.fromEntries(Object.keys(encoder.shapes).map((name) => [name, columns[name]])),
    masks: columns['masks'] as tf.Tensor2D,
    actions: columns['actions'] as tf.Tensor1D,
  };
}
