import { type MoaNet, within } from '@coplay/models';
import { logProbOf, type Optimiser, type StepFunction, type TensorRecord, tf, valueAndGradients } from '@coplay/tensor';

/** Inputs of one minibatch out of a table of rows: `each` has it for S minibatches, [S, ...]. */
export type MoaUpdateInputs = {
  /** `places` int32 [B] (or [W, L]) in the table, `goals` int32 and `weights` of the same shape, `learningRate` [] */
  readonly each: TensorRecord;
  /** `table/NAME` [R, ...]: `in/<input>`, `masks` [R, K], `actions` int32 [R], `isFirst` [R] */
  readonly shared: { readonly table: TensorRecord };
};

/**
 * One gradient step: cross-entropy -sum(w log pi(a)) / sum(w) with the co-player's actions, on rows gathered out of the
 * table.
 */
export function moaUpdate(net: MoaNet, optimiser: Optimiser): StepFunction<'params' | 'slots', MoaUpdateInputs> {
  return (state, { each, shared }) => {
    const rows = gathered(net, shared.table, each);
    const weights = tf.reshape(each['weights'], [-1]) as tf.Tensor1D;
    const actions = tf.reshape(rows.actions, [-1]) as tf.Tensor1D;
    const { loss, gradients } = valueAndGradients((params) => {
      const taken = logProbOf(net.predict(params, rows), actions) as tf.Tensor1D;
      const count = tf.maximum(tf.sum(weights), 1e-8);
      return { loss: tf.neg(tf.div(tf.sum(tf.mul(taken, weights)), count)) as tf.Scalar, metrics: {} };
    }, state.params);
    const learningRate = each['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, learningRate);
    return { state: { params, slots }, outputs: { loss, gradientNorm } };
  };
}

/** Inputs of a prediction of rows of a table: as of an update, without `weights` and `learningRate`. */
export type MoaPredictInputs = { readonly each: TensorRecord; readonly table: TensorRecord };

/** Log-probabilities [P, K] of rows of a table, at `places` [P] (or [W, L], P = W L). */
export function moaPredict(net: MoaNet): StepFunction<'params', MoaPredictInputs> {
  return (state, { each, table }) => ({ outputs: { logProbs: net.predict(state.params, gathered(net, table, each)) } });
}

/**
 * One step for acting: inputs `in/<input>` [B, ...], `mask` [B, K], `goals` [B] and, recurrent, `state`; outputs
 * `logProbs`, `next`.
 */
export function moaAct(net: MoaNet): StepFunction<'params'> {
  return (state, inputs) => {
    const goals = inputs['goals'] as tf.Tensor1D | undefined;
    const memory = inputs['state'] as tf.Tensor2D | undefined;
    const { logProbs, state: next } = net.step(
      state.params,
      within(inputs, 'in'),
      inputs['mask'] as tf.Tensor2D,
      goals,
      memory,
    );
    return { outputs: next ? { logProbs, next } : { logProbs } };
  };
}

/** The rows of a minibatch. */
function gathered(net: MoaNet, table: TensorRecord, each: TensorRecord) {
  const places = each['places'] as tf.Tensor1D | tf.Tensor2D;
  const take = (name: string) => tf.gather(table[name], places);
  const inputs: TensorRecord = {};
  for (const name in table) if (name.startsWith('in/')) inputs[name.slice(3)] = take(name);
  return {
    inputs,
    mask: take('masks'),
    actions: take('actions'),
    ...(net.goals > 0 && { goals: each['goals'] }),
    ...(net.stateSize > 0 && { isFirst: take('isFirst') as tf.Tensor2D }),
  };
}
