import type { NamedArrays, NDArray } from '@coplay/core';
import {
  adam,
  type Compiled,
  compile,
  type ExecutorName,
  type TensorRecord,
  tf,
  valueAndGradients,
  variables,
} from '@coplay/tensor';
import { logProbOf } from '@coplay/tensor/distributions';
import { bias, type Draws, drawAll, indices, kernel, numbers } from './numbers';
import { recurrence, recurrenceInputs, recurrenceParams } from './recurrence';

/** A step that is timed. Peers write the same one, by its name, over the same arrays. */
export interface Step {
  readonly name: string;
  /** For tables. */
  readonly title: string;
  readonly params: Draws;
  readonly inputs: Draws;
  /** The loss that Adam minimises, or the outputs of a step without a loss. */
  readonly fn: (params: TensorRecord, inputs: TensorRecord) => tf.Tensor;
  /** Forward, backward and Adam with learning rate 1e-3; otherwise forward alone. */
  readonly isTraining: boolean;
}

const OBSERVATION = 448;
const ACTIONS = 7;
const HIDDEN = 128;

const mlpParams = {
  w1: kernel(OBSERVATION, HIDDEN),
  b1: bias(HIDDEN),
  w2: kernel(HIDDEN, HIDDEN),
  b2: bias(HIDDEN),
  wp: kernel(HIDDEN, ACTIONS),
  bp: bias(ACTIONS),
  wv: kernel(HIDDEN, 1),
  bv: bias(1),
};

function dense(x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor): tf.Tensor {
  return tf.add(tf.matMul(x, kernel), bias);
}

function torso(p: TensorRecord, x: tf.Tensor): tf.Tensor {
  return tf.tanh(dense(tf.tanh(dense(x, p['w1'], p['b1'])), p['w2'], p['b2']));
}

/** Clipped surrogate, value and entropy loss (Schulman et al. 2017, eq. 9). */
function ppoLoss(
  p: TensorRecord,
  { observations, actions, advantages, returns, oldLogProbs }: TensorRecord,
): tf.Tensor {
  const features = torso(p, observations);
  const logProbs = tf.logSoftmax(dense(features, p['wp'], p['bp']));
  const values = tf.squeeze(dense(features, p['wv'], p['bv']), [1]);
  const ratio = tf.exp(tf.sub(logProbOf(logProbs, actions), oldLogProbs));
  const clipped = tf.clipByValue(ratio, 0.8, 1.2);
  const policyLoss = tf.neg(tf.mean(tf.minimum(tf.mul(ratio, advantages), tf.mul(clipped, advantages))));
  const valueLoss = tf.mean(tf.square(tf.sub(values, returns)));
  const entropy = tf.neg(tf.mean(tf.sum(tf.mul(tf.exp(logProbs), logProbs), -1)));
  return tf.sub(tf.add(policyLoss, tf.mul(valueLoss, 0.5)), tf.mul(entropy, 0.01));
}

/** An autoencoder of planes: two convolutions, two dense layers. */
function convLoss(p: TensorRecord, { planes }: TensorRecord): tf.Tensor {
  const [rows] = planes.shape;
  const convolve = (x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) =>
    tf.relu(tf.add(tf.conv2d(x as tf.Tensor4D, kernel as tf.Tensor4D, 1, 'same'), bias));
  const features = convolve(convolve(planes, p['c1'], p['cb1']), p['c2'], p['cb2']);
  const hidden = tf.relu(dense(tf.reshape(features, [rows, -1]), p['wd'], p['bd']));
  const decoded = dense(hidden, p['wo'], p['bo']);
  return tf.mean(tf.square(tf.sub(decoded, tf.reshape(planes, [rows, -1]))));
}

/** A GRU in the form of DreamerV2, unrolled; the sum over time of mean squared states. */
function gruLoss(p: TensorRecord, { sequence }: TensorRecord): tf.Tensor {
  const [, rows] = sequence.shape;
  let h: tf.Tensor = tf.zeros([rows, p['b'].shape[0]! / 3]);
  const losses = tf.unstack(sequence).map((x) => {
    const [reset, candidate, update] = tf.split(dense(tf.concat([x, h], 1), p['w'], p['b']), 3, 1);
    const content = tf.tanh(tf.mul(tf.sigmoid(reset), candidate));
    const share = tf.sigmoid(tf.sub(update, 1));
    h = tf.add(tf.mul(share, content), tf.mul(tf.sub(1, share), h));
    return tf.mean(tf.square(h));
  });
  return tf.addN(losses);
}

function gruStep(time: number, units: number): Step {
  return {
    name: `gru-${time}-${units}`,
    title: `GRU, T ${time}, 16 rows, ${units} units`,
    params: { w: kernel(128 + units, 3 * units), b: bias(3 * units) },
    inputs: { sequence: numbers([time, 16, 128]) },
    fn: gruLoss,
    isTraining: true,
  };
}

/** All steps, in the order of the table. */
export const steps: readonly Step[] = [
  {
    name: 'ppo',
    title: 'PPO, MLP 448-128-128, 256 rows',
    params: mlpParams,
    inputs: {
      observations: numbers([256, OBSERVATION]),
      actions: indices([256], ACTIONS),
      advantages: numbers([256]),
      returns: numbers([256]),
      oldLogProbs: numbers([256], 0.3, -1.9),
    },
    fn: ppoLoss,
    isTraining: true,
  },
  {
    name: 'act',
    title: 'act, 8 rows, the same network',
    params: mlpParams,
    inputs: { observations: numbers([8, OBSERVATION]) },
    fn: (p, { observations }) => dense(torso(p, observations), p['wp'], p['bp']),
    isTraining: false,
  },
  {
    name: 'conv',
    title: 'world model, 2 conv 3x3x32 on 8x8x7 + dense, 64 rows',
    params: {
      c1: kernel(3, 3, 7, 32),
      cb1: bias(32),
      c2: kernel(3, 3, 32, 32),
      cb2: bias(32),
      wd: kernel(2048, 128),
      bd: bias(128),
      wo: kernel(128, 448),
      bo: bias(448),
    },
    inputs: { planes: numbers([64, 8, 8, 7]) },
    fn: convLoss,
    isTraining: true,
  },
  gruStep(16, 256),
  gruStep(64, 256),
  gruStep(64, 64),
  {
    name: 'recurrence',
    title: 'Dreamer-like recurrence, T 16, 16 rows',
    params: recurrenceParams,
    inputs: recurrenceInputs,
    fn: recurrence,
    isTraining: true,
  },
];

/** A step that can be run, with parameters of its own. */
export interface Runnable {
  readonly compiled: Compiled;
  readonly inputs: NamedArrays;
  /** Runs once and returns the loss, or for a forward step the outputs. */
  run(): Promise<NDArray>;
  dispose(): void;
}

/** Compiles a step over fresh parameters. */
export function makeRunnable(step: Step, executor: ExecutorName): Runnable {
  const initial = drawAll(step.params, 1);
  const inputs = drawAll(step.inputs, 1 + Object.keys(step.params).length);
  const optimiser = adam();
  const params = variables(initial);
  const slots = variables(optimiser.init(initial));
  const train = (state: Record<'params' | 'slots', TensorRecord>, arrays: TensorRecord) => {
    const { loss, gradients } = valueAndGradients((p) => ({ loss: step.fn(p, arrays) as tf.Scalar }), state.params);
    const next = optimiser.update(gradients, state.slots, state.params, 1e-3);
    return { state: { params: next.params, slots: next.slots }, outputs: { value: loss } };
  };
  const forward = (state: Record<'params', TensorRecord>, arrays: TensorRecord) => ({
    outputs: { value: step.fn(state.params, arrays) },
  });
  const name = `bench/${step.name}`;
  const compiled = step.isTraining
    ? compile(train, { name, state: { params, slots }, executor })
    : compile(forward, { name, state: { params }, executor });
  return {
    compiled: compiled as Compiled,
    inputs,
    run: async () => (await (compiled as Compiled)(inputs))['value'],
    dispose() {
      compiled.dispose();
      params.dispose();
      slots.dispose();
    },
  };
}
