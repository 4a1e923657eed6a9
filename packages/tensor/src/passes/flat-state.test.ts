import { type NamedArrays, ndarray } from '@coplay/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectNumbers } from '../../test/numbers';
import { useBackend } from '../backend';
import { compile } from '../compile';
import type { TensorRecord } from '../compile/convert';
import type { AnyStep } from '../compile/executor';
import { record } from '../compile/onnx/record';
import { VariableStore } from '../compile/variables';
import { valueAndGradients } from '../gradients';
import { type Graph, GraphBuilder, indices } from '../graph';
import { adam, sgd } from '../optimise';
import { tf } from '../tf';
import { deadNodes } from './dead-nodes';
import { flatState } from './flat-state';

type Groups = Record<'params' | 'slots', TensorRecord>;

const initial: NamedArrays = {
  'layer/kernel': ndarray(Float32Array.of(0.5, -1, 2, 0.25, 1.5, -0.75), [3, 2]),
  'layer/bias': ndarray(Float32Array.of(0.1, -0.2)),
  scale: ndarray(Float32Array.of(3), []),
};

const x = ndarray(Float32Array.of(1, 2, -1, 0.5, -2, 3), [2, 3]);

/** One step of `optimiser` on mean((x W + b)^2) scale. */
function trainer(optimiser: ReturnType<typeof adam>) {
  return ({ params, slots }: Groups, inputs: TensorRecord) => {
    const lossFn = (p: TensorRecord) => {
      const y = tf.add(tf.matMul(inputs.x as tf.Tensor2D, p['layer/kernel'] as tf.Tensor2D), p['layer/bias']);
      return { loss: tf.mul(tf.mean(tf.square(y)), p.scale) as tf.Scalar };
    };
    const { loss, gradients } = valueAndGradients(lossFn, params);
    const next = optimiser.update(gradients, slots, params, 0.01);
    return { state: { params: next.params, slots: next.slots }, outputs: { loss } };
  };
}

function traced(fn: unknown, state: Record<string, VariableStore>, inputs: NamedArrays = {}): Graph {
  return record('test', fn as AnyStep, state, inputs, {}).graph;
}

const count = ({ nodes }: Graph, op: string) => nodes.filter((node) => node.op === op).length;
const names = (list: Graph['inputs']) => list.map(({ name }) => name);

describe('flatState', () => {
  beforeAll(async () => {
    await useBackend('cpu');
  });

  it('reads and writes the parameters of an optimiser as one vector', () => {
    const optimiser = adam();
    const state = { params: new VariableStore(initial), slots: new VariableStore(optimiser.init(initial)) };
    const before = deadNodes(traced(trainer(optimiser), state, { x }));
    const after = flatState(before);
    // Before: a join of the gradients and one of the parameters, one cut. The join of the gradients stays.
    expect([count(before, 'Concat'), count(before, 'Split')]).toEqual([2, 1]);
    expect([count(after, 'Concat'), count(after, 'Split')]).toEqual([1, 0]);
    // Gone: join, cut, and a reshape of kernel and scale on each side (the bias is a vector already).
    expect(after.nodes.length).toBe(before.nodes.length - 6);
    expect(names(after.inputs)).toContain('state/params/');
    expect(names(after.inputs)).toContain('state/params/layer/kernel'); // the loss reads it
    expect(names(after.outputs).sort()).toEqual([
      'next/params/',
      'next/slots/firstMoment',
      'next/slots/secondMoment',
      'next/slots/step',
      'out/loss',
    ]);
  });

  it.each([
    ['adam', adam({ clipNorm: 1, weightDecay: 0.1 })],
    ['sgd', sgd({ momentum: 0.9 })],
  ])('keeps what %s computes', async (_, optimiser) => {
    const run = async (executor: 'onnx' | 'eager') => {
      const state = { params: new VariableStore(initial), slots: new VariableStore(optimiser.init(initial)) };
      const step = compile(trainer(optimiser), { name: 'step', state, executor });
      const losses: number[] = [];
      for (let i = 0; i < 5; i++) losses.push((await step({ x })).loss.data[0]);
      const values = { ...(await state.params.read()), ...(await state.slots.read()) };
      step.dispose();
      return { losses, values };
    };
    const [eager, graph] = [await run('eager'), await run('onnx')];
    expectNumbers(graph.losses, eager.losses, 5);
    for (const name in eager.values) {
      expect(graph.values[name].shape).toEqual(eager.values[name].shape);
      expectNumbers([...graph.values[name].data], [...eager.values[name].data], 5);
    }
    expect(graph.values.scale.data[0]).not.toBe(3);
  });

  it('copies one group to another, and reads what is read no more no longer', async () => {
    const params = new VariableStore(initial);
    const target = new VariableStore(
      Object.fromEntries(
        Object.entries(initial).map(([name, { data, shape }]) => [
          name,
          ndarray(
            data.map(() => 7),
            shape,
          ),
        ]),
      ),
    );
    const fn = ({ params: current }: Record<'params' | 'target', TensorRecord>) => ({
      state: { target: { ...current } },
      outputs: {},
    });
    const after = flatState(traced(fn, { params, target }));
    expect([names(after.inputs), names(after.outputs)]).toEqual([['state/params/'], ['next/target/']]);
    const copy = compile(fn, { name: 'copy', state: { params, target }, executor: 'onnx' });
    await copy({});
    expect(await target.read()).toEqual(await params.read());
    params.write({ ...initial, scale: ndarray(Float32Array.of(-4), []) });
    expect((await target.read()).scale.data[0]).toBe(3);
    await copy({});
    expect((await target.read()).scale.data[0]).toBe(-4);
    copy.dispose();
  });

  it('leaves int32 variables apart', async () => {
    const mixed = {
      a: ndarray(Float32Array.of(1, 2), [2, 1]),
      n: ndarray(Int32Array.of(5)),
      b: ndarray(Float32Array.of(3)),
    };
    const group = new VariableStore(mixed);
    const fn = ({ group: { a, n, b } }: Record<'group', TensorRecord>) => {
      const vector = tf.mul(tf.concat1d([tf.reshape(a, [-1]), b as tf.Tensor1D]), 10);
      const [first, second] = tf.split(vector, [2, 1]);
      return {
        state: { group: { a: tf.reshape(first, [2, 1]), n: tf.add(n, tf.scalar(1, 'int32')), b: second } },
        outputs: {},
      };
    };
    const after = flatState(traced(fn, { group }));
    expect(names(after.inputs)).toEqual(['state/group/n', 'state/group/']);
    expect(names(after.outputs)).toEqual(['next/group/n', 'next/group/']);
    const step = compile(fn, { name: 'step', state: { group }, executor: 'onnx' });
    await step({});
    await step({});
    const { a, n, b } = await group.read();
    expect([[...a.data], [...n.data], [...b.data]]).toEqual([[100, 200], [7], [300]]);
    step.dispose();
  });

  it('joins one side alone where only that fits', async () => {
    const pair = { a: ndarray(Float32Array.of(1, 2)), b: ndarray(Float32Array.of(3)) };
    const group = new VariableStore(pair);
    const reader = ({ group: { a, b } }: Record<'group', TensorRecord>) => {
      const vector = tf.concat1d([a as tf.Tensor1D, b as tf.Tensor1D]);
      return { state: { group: { a: tf.neg(a), b: tf.neg(b) } }, outputs: { sum: tf.sum(vector) } };
    };
    const writer = ({ group: { a, b } }: Record<'group', TensorRecord>) => {
      const [first, second] = tf.split(tf.concat1d([b as tf.Tensor1D, a as tf.Tensor1D]), [2, 1]);
      return { state: { group: { a: first, b: second } }, outputs: {} };
    };
    const [reads, writes] = [flatState(traced(reader, { group })), flatState(traced(writer, { group }))];
    expect(names(reads.inputs)).toEqual(['state/group/a', 'state/group/b', 'state/group/']);
    expect(names(reads.outputs)).toEqual(['next/group/a', 'next/group/b', 'out/sum']);
    expect(names(writes.inputs)).toEqual(['state/group/a', 'state/group/b']); // in another order than the group's
    expect(names(writes.outputs)).toEqual(['next/group/']);
    const [read, write] = [reader, writer].map((fn) => compile(fn, { name: 'fn', state: { group }, executor: 'onnx' }));
    expect(((await read({})) as { sum: { data: ArrayLike<number> } }).sum.data[0]).toBe(6); // now -1, -2, -3
    await write({}); // joined -3, -1, -2
    const { a, b } = await group.read();
    expect([[...a.data], [...b.data]]).toEqual([[-3, -1], [-2]]);
    read.dispose();
    write.dispose();
  });

  it('leaves joins and cuts of other things alone', () => {
    const group = new VariableStore({
      a: ndarray(Float32Array.of(1)),
      b: ndarray(Float32Array.of(2)),
      c: ndarray(Float32Array.of(3)),
    });
    const fn = ({ group: { a, b, c } }: Record<'group', TensorRecord>) => {
      const some = tf.concat1d([a as tf.Tensor1D, b as tf.Tensor1D]);
      const [first, second, third] = tf.split(tf.mul(tf.concat1d([some, some]), 2), 4);
      return { state: { group: { a: first, b: third, c: second } }, outputs: { c } };
    };
    const before = deadNodes(traced(fn, { group }));
    const after = flatState(before);
    expect([after.nodes.length, names(after.inputs), names(after.outputs)]).toEqual([
      before.nodes.length,
      names(before.inputs),
      names(before.outputs),
    ]);
  });

  it('a group of one variable stays as it is; a second time changes nothing', () => {
    const single = new VariableStore({ w: ndarray(new Float32Array(6), [2, 3]) });
    const fn = ({ params: { w } }: Record<'params', TensorRecord>) => ({
      state: { params: { w: tf.neg(w) } },
      outputs: {},
    });
    const graph = flatState(traced(fn, { params: single }));
    expect([names(graph.inputs), names(graph.outputs)]).toEqual([['state/params/w'], ['next/params/w']]);

    const optimiser = adam();
    const state = { params: new VariableStore(initial), slots: new VariableStore(optimiser.init(initial)) };
    const once = flatState(traced(trainer(optimiser), state, { x }));
    expect(flatState(once)).toEqual(once);
  });

  it('leaves out empty variables', () => {
    const builder = new GraphBuilder();
    const value = (size: number) => ({ shape: [size], dtype: 'float32' as const });
    const [a, none, b] = [value(2), value(0), value(1)];
    const joined = builder.op('Concat', [a, b], value(3), { axis: 0 });
    const parts = builder.ops('Split', [builder.op('Neg', [joined], joined), indices([2, 0, 1])], [a, none, b], {
      axis: 0,
    });
    const inputs = [a, none, b].map((entry, i) => ({ name: `state/g/${i}`, value: entry }));
    const outputs = parts.map((entry, i) => ({ name: `next/g/${i}`, value: entry }));
    const graph = flatState({ inputs, nodes: builder.nodes, outputs });
    expect([names(graph.inputs), graph.nodes.map(({ op }) => op), names(graph.outputs)]).toEqual([
      ['state/g/'],
      ['Neg'],
      ['next/g/'],
    ]);
  });
});
