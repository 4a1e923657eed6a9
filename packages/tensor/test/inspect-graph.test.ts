import { ndarray } from '@coplay/core';
import { compile, inspectGraph, type TensorRecord, tf, variables } from '@coplay/tensor';
import { describe, expect, it } from 'vitest';

const params = variables({ w: ndarray(Float32Array.of(1, 2), [2]) });

/** x + w twice over, of which passes leave one: w' = x + w, y = (x + w) (x + w) */
function twice({ params: { w } }: Record<'params', TensorRecord>, { x }: TensorRecord) {
  return { state: { params: { w: tf.add(x, w) } }, outputs: { y: tf.mul(tf.add(x, w), tf.add(x, w)) } };
}

describe('inspectGraph', () => {
  it('measures the graph after each pass, and leaves the state alone', async () => {
    const fn = compile(twice, { name: 'twice', state: { params }, executor: 'onnx' });
    const { passes, ...times } = await inspectGraph(fn, { x: ndarray(Float32Array.of(3, 4)) });
    expect(passes[0]).toMatchObject({ name: 'traced', nodes: 4 });
    expect(passes.at(-1)!.nodes).toBe(2);
    expect(passes.at(-1)!.bytes).toBeLessThan(passes[0].bytes);
    expect(Object.values(times).every((milliseconds) => milliseconds > 0)).toBe(true);
    expect([...(await params.read())['w'].data]).toEqual([1, 2]);
    fn.dispose();
  });

  it('refuses functions that have no graph', async () => {
    const fn = compile(twice, { name: 'eager', state: { params }, executor: 'eager' });
    await expect(inspectGraph(fn, { x: ndarray(Float32Array.of(3, 4)) })).rejects.toThrow('inspectGraph: expected');
    await expect(inspectGraph({ dispose: () => undefined }, {})).rejects.toThrow('a function made by compile()');
    fn.dispose();
  });
});
