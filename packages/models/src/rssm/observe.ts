import { checkShapes } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import { linear, normed } from '../layers';
import { paramOf } from '../layers/params';
import type { BlockGru } from './core';
import type { RssmInputs, RssmOptions, RssmSequence, RssmState } from './sequences';

const WHERE = 'rssm.observe';

/** The inputs of one step, [B, ...] each. */
interface StepInputs {
  /** [B, 1] 0 where an episode begins */
  readonly keep: tf.Tensor2D;
  /** [g, B, D / g] of the action */
  readonly drive: tf.Tensor3D;
  /** [B, Hd] of the observation: its part of the posterior's first layer */
  readonly view: tf.Tensor2D;
  /** [B, S] */
  readonly noise: tf.Tensor2D;
}

/**
 * The function behind `Rssm.observe`. Loops over time; everything independent of the state is computed before the loop.
 */
export function sequenceObserver(
  options: RssmOptions,
  core: BlockGru,
  sample: (logits: tf.Tensor, noise: tf.Tensor) => tf.Tensor3D,
) {
  const { deter, hidden, stoch, classes, tokens: tokenSize } = options;

  const kernelOf = (params: TensorRecord) =>
    paramOf<tf.Tensor2D>(WHERE, params, 'obs0/kernel', [deter + tokenSize, hidden]);

  const step = (params: TensorRecord, { deter: h, stoch: z }: RssmState, { keep, drive, view, noise }: StepInputs) => {
    const flat = tf.reshape(z, [-1, stoch * classes]) as tf.Tensor2D; // [B, S C]
    const next = core.step(params, tf.mul(h, keep), tf.mul(flat, keep), drive); // [B, D]
    const ofDeter = tf.slice(kernelOf(params), [0, 0], [deter, hidden]); // [D, Hd]
    const x = normed(
      tf.add(tf.matMul(next, ofDeter), view) as tf.Tensor2D,
      paramOf(WHERE, params, 'obs0/scale', [hidden]),
    ); // [B, Hd]
    const logits = tf.reshape(linear(params, 'obslogit', x), [-1, stoch, classes]); // [B, S, C]
    return { state: { deter: next, stoch: sample(logits, noise) }, logits };
  };

  const prepare = (
    params: TensorRecord,
    { tokens, actions, isFirst }: RssmInputs,
    noise: tf.Tensor3D,
  ): StepInputs[] => {
    const [rows, steps] = isFirst.shape;
    const keep = tf.expandDims(tf.sub(1, isFirst), 2); // [B, T, 1]
    const drive = core.actionPart(params, flatten(tf.mul(actions, keep))); // [g, B T, D / g]
    const driveInTime = tf.reshape(drive, [drive.shape[0], rows, steps, -1]); // [g, B, T, D / g]
    const drives = tf.unstack(tf.transpose(driveInTime, [2, 0, 1, 3])); // T of [g, B, D / g]
    const ofTokens = tf.slice(kernelOf(params), [deter, 0], [tokenSize, hidden]); // [E, Hd]
    const bias = paramOf(WHERE, params, 'obs0/bias', [hidden]);
    const seen = tf.add(tf.matMul(flatten(tokens), ofTokens), bias); // [B T, Hd]
    const [keeps, views, noises] = [keep, tf.reshape(seen, [rows, steps, hidden]), noise].map(byStep);
    return drives.map((own, t) => ({ keep: keeps[t], drive: own, view: views[t], noise: noises[t] }) as StepInputs);
  };

  return (params: TensorRecord, start: RssmState, inputs: RssmInputs, noise: tf.Tensor3D): RssmSequence => {
    checkInputs(options, start, inputs, noise);
    const states: RssmState[] = [];
    const logits: tf.Tensor[] = [];
    let state = start;
    for (const given of prepare(params, inputs, noise)) {
      const next = step(params, state, given);
      state = next.state;
      states.push(state);
      logits.push(next.logits);
    }
    return {
      deter: tf.stack(
        states.map((each) => each.deter),
        1,
      ) as tf.Tensor3D,
      stoch: tf.stack(
        states.map((each) => each.stoch),
        1,
      ) as tf.Tensor4D,
      logits: tf.stack(logits, 1) as tf.Tensor4D,
    };
  };
}

/** [B, T, N] to [B T, N] */
function flatten(x: tf.Tensor): tf.Tensor2D {
  return tf.reshape(x, [-1, x.shape[2]!]);
}

/** [B, T, N] to T tensors [B, N] */
function byStep(x: tf.Tensor): tf.Tensor[] {
  return tf.unstack(tf.transpose(x, [1, 0, 2]));
}

function checkInputs(options: RssmOptions, start: RssmState, inputs: RssmInputs, noise: tf.Tensor3D): void {
  const { tokens: size, actions: width, deter, stoch, classes } = options;
  const { tokens, actions, isFirst } = inputs;
  checkShapes(WHERE, { isFirst }, 'B T');
  const [rows, steps] = isFirst.shape;
  checkShapes(WHERE, { tokens }, `${rows} ${steps} ${size}`);
  checkShapes(WHERE, { actions }, `${rows} ${steps} ${width}`);
  checkShapes(WHERE, { noise }, `${rows} ${steps} ${stoch}`);
  checkShapes(WHERE, { 'start.deter': start.deter }, `${rows} ${deter}`);
  checkShapes(WHERE, { 'start.stoch': start.stoch }, `${rows} ${stoch} ${classes}`);
}
