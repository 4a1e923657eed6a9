import { type NamedArrays, ndarray } from '@coplay/core';
import { encodeSequence } from '@coplay/models/dreamer';
import { type StateOf, type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { batchOf, startOf } from './data';
import { openLoopForward } from './open-loop';
import { smallBatch, smallParts, stirred, tensorsOf } from './test-batch';

beforeAll(async () => {
  await useBackend('cpu');
});

const [B, T, C] = [2, 4, 2];

describe.each([0, 2])('an open loop with %i co-players', (coPlayers) => {
  const parts = smallParts({}, coPlayers);
  const world = () => tensorsOf(stirred(parts.nets));

  /** Inputs of the step: what is seen is cut to the context. */
  function inputsOf(change: (batch: Record<string, NamedArrays[string]>) => void = () => {}): NamedArrays {
    const batch: Record<string, NamedArrays[string]> = structuredClone(smallBatch(parts));
    change(batch);
    const cut = (name: string) => {
      const { data, shape } = batch[name];
      const size = data.length / (B * T);
      const first = Array.from({ length: B }, (_, b) => [...data.slice(b * T * size, (b * T + C) * size)]).flat();
      return ndarray(Float32Array.from(first), [B, C, ...shape.slice(2)]);
    };
    return {
      ...batch,
      'obs/vector': cut('obs/vector'),
      isFirst: cut('isFirst'),
      'noise/posterior': cut('noise/posterior'),
      'noise/prior': ndarray(new Float32Array((T - C) * B * 2).fill(0.4), [T - C, B, 2]),
    };
  }

  const outputsOf = (inputs: NamedArrays) =>
    openLoopForward(parts)({ world: world() } as StateOf<'world'>, tensorsOf(inputs), {}).outputs as TensorRecord;
  const predicted = (inputs: NamedArrays) => outputsOf(inputs)['obs/vector'].arraySync() as number[][][];

  it('gives every step of every observation, and rewards', () => {
    const outputs = outputsOf(inputsOf());
    expect(outputs['obs/vector'].shape).toEqual([B, T, 3]);
    expect(outputs['rewards'].shape).toEqual([B, T]);
  });

  it('reconstructs the context from the posterior', () => {
    const inputs = tensorsOf(inputsOf());
    const batch = batchOf(parts, inputs);
    const seen = { ...batch, actions: tf.slice(batch.actions, 0, [B, C, batch.actions.shape[2]]) };
    const noise = inputs['noise/posterior'] as tf.Tensor3D;
    const params = world();
    const { states } = encodeSequence(parts.nets, params, seen, startOf(parts, inputs), noise);
    const flat = {
      deter: tf.reshape(states.deter, [B * C, -1]) as tf.Tensor2D,
      stoch: tf.reshape(states.stoch, [B * C, -1]) as tf.Tensor2D,
    };
    const { decoder } = parts.nets;
    const { vector } = decoder.predictions(decoder.apply(parts.nets.parts(params).dec, flat));
    const expected = tf.reshape(vector, [B, C, 3]).arraySync() as number[][][];
    predicted(inputsOf()).forEach((sequence, b) => {
      for (let t = 0; t < C; t++) {
        sequence[t].forEach((x, i) => void expect(x).toBeCloseTo(expected[b][t][i], 5));
      }
    });
  });

  it('imagines under the recorded actions: that of step t moves t and what follows', () => {
    const as = predicted(inputsOf());
    for (const name of coPlayers > 0 ? ['previousActions', 'coPlayerActions'] : ['previousActions']) {
      const other = predicted(
        inputsOf((batch) => {
          const { data } = batch[name];
          const size = data.length / (B * T);
          data[3 * size] = (data[3 * size] + 1) % 3; // the action into the last step of the first sequence
        }),
      );
      expect(other[0].slice(0, 3)).toEqual(as[0].slice(0, 3));
      expect(other[0][3]).not.toEqual(as[0][3]);
      expect(other[1]).toEqual(as[1]);
    }
  });
});
