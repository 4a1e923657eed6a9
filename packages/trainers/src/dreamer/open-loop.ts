import type { SequenceReplay } from '@coplay/buffers';
import { checkOptions, type Generator, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { encodeSequence, type RssmState } from '@coplay/models/dreamer';
import { type Compiled, type StepFunction, type TensorRecord, tf } from '@coplay/tensor';
import { z } from 'zod';
import { batchInputs, batchOf, type DreamerParts, firstSteps, posteriorNoise, startOf, uniformNoise } from './data';
import { lastStates } from './imagination';
import type { DreamerSetup } from './setup';

/** Options of `DreamerLearner.openLoop`. */
export interface OpenLoopOptions {
  /** B, sequences, at least 1. Default 4 */
  readonly batch?: number;
  /** C, steps that are seen before imagination goes on alone, in 1..T - 1. Default T / 2, rounded down */
  readonly context?: number;
}

/**
 * Recorded sequences of T steps and the world model's predictions of them: C steps that it sees, then T - C that it
 * imagines.
 */
export interface OpenLoop {
  /** C */
  readonly context: number;
  /** [B, T, ...] as recorded: `obs/NAME`, and `rewards` [B, T] on arrival */
  readonly actual: NamedArrays;
  /** The same as reconstructed, then imagined: numbers, chances of a 1, bytes; raw */
  readonly predicted: NamedArrays;
  /** [B, T] 0 from the step on in which another episode begins after the context: imagination can't know of it */
  readonly valid: NDArray<Uint8Array>;
}

/**
 * Posterior states of the first C steps, prior ones under the recorded actions after that, decoded. Inputs: a batch, of
 * which `obs/NAME` [B, C, ...] and `isFirst` [B, C] are cut to the context, `noise/posterior` [B, C, S], `noise/prior`
 * [T - C, B, S]. Outputs: `obs/NAME` and `rewards`, [B, T, ...].
 */
export function openLoopForward(parts: DreamerParts): StepFunction<'world'> {
  const { nets } = parts;
  return ({ world }, inputs) => {
    const { dyn, dec, rew } = nets.parts(world);
    const [B, C] = inputs['isFirst'].shape;
    const batch = batchOf(parts, inputs);
    const [, T, A] = batch.actions.shape;
    const context = { ...batch, actions: tf.slice(batch.actions, 0, [B, C, A]) };
    const noise = inputs['noise/posterior'] as tf.Tensor3D; // [B, C, S]
    const { states } = encodeSequence(nets, world, context, startOf(parts, inputs), noise);
    const actions = tf.unstack(batch.actions, 1) as tf.Tensor2D[]; // T of [B, A]
    const noises = tf.unstack(inputs['noise/prior']) as tf.Tensor2D[]; // T - C of [B, S]
    const imagined: RssmState[] = [];
    let state = lastStates(states, 1);
    for (let t = C; t < T; t++) {
      state = nets.rssm.imagine(dyn, state, actions[t], noises[t - C]);
      imagined.push(state);
    }
    const joined = (name: 'deter' | 'stoch') => {
      const later = tf.stack(
        imagined.map((each) => each[name]),
        1,
      );
      return tf.concat([states[name], later], 1); // [B, T, ...]
    };
    const all = { deter: joined('deter'), stoch: joined('stoch') };
    const features = nets.rssm.features(all); // [B T, F]
    const flat = {
      deter: tf.reshape(all.deter, [B * T, -1]) as tf.Tensor2D,
      stoch: tf.reshape(all.stoch, [B * T, -1]) as tf.Tensor2D,
    };
    const decoded = Object.entries(nets.decoder.predictions(nets.decoder.apply(dec, flat)));
    const outputs = decoded.map(([name, x]) => [`obs/${name}`, tf.reshape(x, [B, T, ...x.shape.slice(1)])]);
    const rewards = tf.reshape(nets.reward.mean(nets.reward.logits(rew, features)), [B, T]);
    return { outputs: { ...(Object.fromEntries(outputs) as TensorRecord), rewards } };
  };
}

/** Draws sequences, without taking new ones from learning, and shows them to the world model. */
export async function openLoop(
  { nets, options }: DreamerSetup,
  functions: { readonly openLoop: Compiled },
  replay: SequenceReplay,
  generator: Generator,
  given: OpenLoopOptions,
): Promise<OpenLoop> {
  const T = options.sequenceLength;
  const schema = z.strictObject({
    batch: z.int().min(1).default(4),
    context: z
      .int()
      .min(1)
      .max(T - 1)
      .default(Math.floor(T / 2)),
  });
  const { batch, context } = checkOptions('learner.openLoop', schema, given);
  const sample = { ...replay.look(generator, batch), fresh: 0 };
  const inputs = batchInputs(sample, options.replayLatents);
  const shown = Object.entries(inputs).map(([name, array]) => [name, isCut(name) ? firstSteps(array, context) : array]);
  const predicted = await functions.openLoop({
    ...(Object.fromEntries(shown) as NamedArrays),
    ...posteriorNoise(nets, generator, batch, context),
    'noise/prior': uniformNoise(generator, [T - context, batch, nets.sizes.stoch]),
  });
  const actual = Object.fromEntries(Object.keys(predicted).map((name) => [name, inputs[name]]));
  // The networks flatten a vector of any shape.
  const shaped = Object.entries(predicted).map(
    ([name, { data }]) => [name, ndarray(data, actual[name].shape)] as const,
  );
  return { context, actual, predicted: Object.fromEntries(shaped), valid: validSteps(inputs['isFirst'], context) };
}

/** Whether imagination isn't shown more of an input than the context. */
function isCut(name: string): boolean {
  return name.startsWith('obs/') || name === 'isFirst';
}

function validSteps({ data, shape: [B, T] }: NDArray, context: number): NDArray<Uint8Array> {
  const valid = new Uint8Array(B * T);
  for (let b = 0; b < B; b++) {
    for (let t = 0, on = true; t < T; t++) {
      on &&= t < context || data[b * T + t] === 0;
      valid[b * T + t] = on ? 1 : 0;
    }
  }
  return ndarray(valid, [B, T]);
}
