import { createGenerator } from '@coplay/core';
import { ensureBackend, type TensorRecord, tf } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { rssm } from './rssm';

beforeAll(ensureBackend);

const [B, A, D, S, C] = [4, 3, 8, 2, 3];

/** Parameters of which none is 0: biases and scales count, too. */
function somewhere(specs: Readonly<Record<string, { readonly shape: readonly number[] }>>): TensorRecord {
  const generator = createGenerator(3);
  const entries = Object.entries(specs).map(([name, { shape }]) => {
    const size = shape.reduce((product, d) => product * d, 1);
    const values = Float32Array.from({ length: size }, () => generator.uniform() + 0.1);
    return [name, tf.tensor(values, [...shape])];
  });
  return Object.fromEntries(entries);
}

describe('a table of actions', () => {
  it('imagines the same as the actions themselves, in rows that differ', () => {
    const model = rssm({ deter: D, hidden: 6, stoch: S, classes: C, blocks: 2, actions: A, tokens: 5 });
    const params = somewhere(model.specs);
    const state = {
      deter: tf.reshape(tf.sin(tf.range(0, B * D)), [B, D]) as tf.Tensor2D,
      stoch: tf.oneHot(tf.tensor2d([0, 1, 2, 0, 1, 1, 2, 0], [B, S], 'int32'), C) as tf.Tensor3D,
    };
    const actions = tf.cast(tf.oneHot(tf.tensor1d([2, 0, 1, 2], 'int32'), A), 'float32') as tf.Tensor2D;
    const noise = tf.fill([B, S], 0.4) as tf.Tensor2D;
    const float = { ...state, stoch: tf.cast(state.stoch, 'float32') as tf.Tensor3D };
    const expected = model.imagine(params, float, actions, noise);
    const table = model.actionTable(params);
    expect(table.shape).toEqual([2, A, D / 2]);
    const got = model.imagine(params, float, actions, noise, table);
    const difference = tf.max(tf.abs(tf.sub(got.deter, expected.deter)));
    expect(difference.dataSync()[0]).toBeLessThan(1e-6);
    expect([...got.stoch.dataSync()]).toEqual([...expected.stoch.dataSync()]);
  });
});
