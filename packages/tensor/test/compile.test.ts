import { CoplayError, type NamedArrays, ndarray } from '@coplay/core';
import {
  adam,
  compile,
  type TensorRecord,
  tf,
  useBackend,
  useExecutor,
  valueAndGradients,
  variables,
} from '@coplay/tensor';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadableBackends } from './backends';
import { onnx } from './onnx-runtime';

type Groups = Record<'params', TensorRecord>;

const scalar = (value: number) => ndarray(Float32Array.of(value), []);

const eager = (await loadableBackends()).map((backend) => ({ backend, executor: 'eager' as const }));
const compiled = [
  ...(onnx ? [{ backend: 'cpu' as const, executor: 'onnx' as const }] : []),
  { backend: 'cpu' as const, executor: 'wasm' as const },
];

describe.each([...compiled, ...eager])('compile, $executor, on $backend', ({ backend, executor }) => {
  beforeEach(async () => {
    await useBackend(backend);
    await useExecutor(executor);
  });

  it('is a function from arrays to arrays', async () => {
    const double = compile((_, { x }) => ({ outputs: { y: tf.mul(x!, 2), big: tf.greater(x!, 2) } }), {
      name: 'double',
    });
    const { y, big } = await double({ x: ndarray(Float32Array.of(1, 2, 3, 4), [2, 2]) });
    expect(y).toEqual({ data: Float32Array.of(2, 4, 6, 8), shape: [2, 2] });
    expect(big).toEqual({ data: Uint8Array.of(0, 0, 1, 1), shape: [2, 2] });
  });

  it('takes int32 as int32, uint8 and float64 as float32', async () => {
    const kinds = compile(
      (_, { a, b, c }) => {
        expect([a!.dtype, b!.dtype, c!.dtype]).toEqual(['int32', 'float32', 'float32']);
        return { outputs: { a: tf.add(a!, tf.scalar(1, 'int32')), b: tf.mul(b!, 0.5), c: c! } };
      },
      { name: 'kinds' },
    );
    const outputs = await kinds({
      a: ndarray(Int32Array.of(-3, 2)),
      b: ndarray(Uint8Array.of(0, 255)),
      c: ndarray(Float64Array.of(0.5)),
    });
    expect(outputs['a']!.data).toEqual(Int32Array.of(-2, 3));
    expect(outputs['b']!.data).toEqual(Float32Array.of(0, 127.5));
    expect(outputs['c']!.data).toEqual(Float32Array.of(0.5));
    await expect(kinds({ a: ndarray(new Uint32Array(1)) })).rejects.toThrow(/a to be int32 or float32, got uint32/);
  });

  it('keeps state behind, shared by every function that is given it', async () => {
    const params = variables({ total: scalar(10) });
    const add = compile(
      ({ params: { total } }: Groups, { x }) => ({ state: { params: { total: tf.add(total!, x!) } }, outputs: {} }),
      { name: 'add', state: { params } },
    );
    const look = compile(({ params: { total } }: Groups) => ({ outputs: { total: total! } }), {
      name: 'look',
      state: { params },
    });
    await add({ x: scalar(1) });
    await add({ x: scalar(2) });
    expect((await look({}))['total']!.data).toEqual(Float32Array.of(13));
    expect((await params.read())['total']).toEqual({ data: Float32Array.of(13), shape: [] });
    params.write({ total: scalar(-1) });
    await add({ x: scalar(0.5) });
    expect((await look({}))['total']!.data).toEqual(Float32Array.of(-0.5));
  });

  it('shares no memory with the caller', async () => {
    const initial = { w: ndarray(Float32Array.of(1, 2)) };
    const params = variables(initial);
    initial.w.data[0] = 99;
    const copy = await params.read();
    copy['w']!.data[1] = 99;
    expect((await params.read())['w']!.data).toEqual(Float32Array.of(1, 2));

    const keepInput = compile((_: Groups, { x }) => ({ state: { params: { w: x! } }, outputs: { w: x! } }), {
      name: 'keepInput',
      state: { params },
    });
    const input = { x: ndarray(Float32Array.of(3, 4)) };
    const { w } = await keepInput(input);
    input.x.data[0] = 99;
    w!.data[1] = 99;
    expect((await params.read())['w']!.data).toEqual(Float32Array.of(3, 4));
  });

  it('swaps and repeats state safely', async () => {
    const params = variables({ a: scalar(1), b: scalar(2) });
    const swap = compile(({ params: { a, b } }: Groups) => ({ state: { params: { a: b!, b: a! } }, outputs: {} }), {
      name: 'swap',
      state: { params },
    });
    const repeat = compile(
      ({ params: { a } }: Groups) => {
        const sum = tf.add(a!, 1);
        return { state: { params: { a: sum, b: sum } }, outputs: {} };
      },
      { name: 'repeat', state: { params } },
    );
    const values = async () => Object.values(await params.read()).map(({ data }) => data[0]);
    await swap({});
    expect(await values()).toEqual([2, 1]);
    await repeat({});
    expect(await values()).toEqual([3, 3]);
    await swap({});
    await repeat({});
    expect(await values()).toEqual([4, 4]);
  });

  it('changes nothing when the function throws, and names it', async () => {
    const params = variables({ w: scalar(1) });
    const broken = compile(
      ({ params: { w } }: Groups, { x }) => ({
        state: { params: { w: tf.add(w!, 1) } },
        outputs: { y: tf.matMul(x as tf.Tensor2D, x as tf.Tensor2D) },
      }),
      { name: 'ppo/broken', state: { params } },
    );
    params.tensors(); // eager calls keep them
    const before = tf.memory().numTensors;
    await expect(broken({ x: ndarray(new Float32Array(6), [2, 3]) })).rejects.toThrow(
      /^compiled function ppo\/broken: ./,
    );
    expect((await params.read())['w']!.data).toEqual(Float32Array.of(1));
    expect(tf.memory().numTensors).toBe(before);
  });

  it('leaves the state alone where acceptState says so', async () => {
    const params = variables({ w: scalar(1) });
    const step = compile(
      ({ params: { w } }: Groups, { x }) => {
        const next = tf.div(w!, x!);
        return { state: { params: { w: next } }, outputs: { next } };
      },
      { name: 'step', state: { params }, acceptState: ({ next }) => Number.isFinite(next!.data[0]) },
    );
    expect((await step({ x: scalar(0) }))['next']!.data[0]).toBe(Infinity);
    expect((await params.read())['w']!.data[0]).toBe(1);
    await step({ x: scalar(4) });
    expect((await params.read())['w']!.data[0]).toBe(0.25);
  });

  it.each<[string, (state: Groups) => TensorRecord, RegExp]>([
    ['a missing name', () => ({}), /state\.params: expected an array named w, got only nothing/],
    ['an unknown name', ({ params }) => ({ ...params, v: params['w']! }), /state\.params: expected only w, got also v/],
    ['another shape', () => ({ w: tf.zeros([2, 1]) }), /state\.params: expected w of shape \[2\], got \[2,1\]/],
    ['another dtype', () => ({ w: tf.zeros([2], 'int32') }), /state\.params: expected w of dtype float32, got int32/],
  ])('refuses new state with %s', async (_, next, message) => {
    const params = variables({ w: ndarray(Float32Array.of(1, 2)) });
    const step = compile((state: Groups) => ({ state: { params: next(state) }, outputs: {} }), {
      name: 'step',
      state: { params },
    });
    await expect(step({})).rejects.toThrow(message);
    await expect(step({})).rejects.toThrow(CoplayError);
    expect((await params.read())['w']!.data).toEqual(Float32Array.of(1, 2));
  });

  it('refuses outputs that are no tensors, and undeclared state', async () => {
    const number = compile((() => ({ outputs: { n: 3 } })) as never, { name: 'number' });
    await expect(number({})).rejects.toThrow(/outputs\.n to be a tensor, got 3/);
    const promise = compile((async () => ({ outputs: {} })) as never, { name: 'promise' });
    await expect(promise({})).rejects.toThrow(/not a promise/);
    const extra = compile((() => ({ state: { slots: {} }, outputs: {} })) as never, { name: 'extra' });
    await expect(extra({})).rejects.toThrow(/groups alone \(none\), got slots/);
    expect(() => compile(() => ({ outputs: {} }), { name: 'f', executor: 'gpu' as 'eager' })).toThrow(
      /executor 'auto', 'onnx', 'wasm' or 'eager', got "gpu"/,
    );
    expect(() => compile(() => ({ outputs: {} }), { name: 'f', state: { params: {} as never } })).toThrow(
      /made by variables\(\)/,
    );
  });

  it('refuses writes that do not fit, and use after dispose', async () => {
    const params = variables({ w: ndarray(Float32Array.of(1, 2)), b: scalar(0) });
    expect(() => params.write({ w: scalar(0), b: scalar(0) })).toThrow(/w of shape \[2\], got \[\]/);
    expect(() => params.write({ w: ndarray(new Float32Array(2)) })).toThrow(/an array named b/);
    expect(() => params.write({ w: ndarray(new Float32Array(2)), b: scalar(1), c: scalar(1) })).toThrow(/also c/);
    expect((await params.read())['w']!.data).toEqual(Float32Array.of(1, 2));
    params.dispose();
    params.dispose();
    await expect(params.read()).rejects.toThrow(/got disposed ones/);
    const nothing = compile(() => ({ outputs: {} }), { name: 'nothing' });
    nothing.dispose();
    await expect(nothing({})).rejects.toThrow(/compiled function nothing: expected a call before dispose\(\)/);
  });

  it('holds the same number of tensors and data after 1 call and after 100, and none in the end', async () => {
    const held = () => [tf.memory().numTensors, tf.engine().backend.numDataIds()];
    const atStart = held();
    const optimiser = adam({ clipNorm: 1, weightDecay: 0.01 });
    const initial: NamedArrays = { w: ndarray(new Float32Array(6).fill(0.1), [3, 2]), b: ndarray(new Float32Array(2)) };
    const [params, slots] = [variables(initial), variables(optimiser.init(initial))];
    const train = compile(
      (state: Record<'params' | 'slots', TensorRecord>, { x }) => {
        const { loss, gradients, metrics } = valueAndGradients(({ w, b }) => {
          const y = tf.tanh(tf.add(tf.matMul(x as tf.Tensor2D, w as tf.Tensor2D), b!));
          return { loss: tf.mean(tf.square(tf.sub(y, 1))) as tf.Scalar, metrics: { y } };
        }, state.params);
        const next = optimiser.update(gradients, state.slots, state.params, 0.01);
        return { state: { params: next.params, slots: next.slots }, outputs: { loss, ...metrics } };
      },
      { name: 'train', state: { params, slots } },
    );
    const x = ndarray(
      Float32Array.from({ length: 12 }, (_, i) => Math.sin(i)),
      [4, 3],
    );
    const first = await train({ x });
    const afterOne = held();
    let last = first;
    for (let i = 1; i < 100; i++) last = await train({ x });
    expect(held()).toEqual(afterOne);
    expect(last['loss']!.data[0]).toBeLessThan(first['loss']!.data[0]);
    for (const part of [train, params, slots]) part.dispose();
    expect(held()).toEqual(atStart);
  });
});

it('flushes denormal numbers, and nothing else', async () => {
  const values = Float32Array.of(1e-45, -1e-39, 1.18e-38, 0, -2, 1e-30);
  const group = variables({ a: ndarray(values), step: ndarray(Int32Array.of(7)) });
  group.flushDenormals();
  const { a, step } = await group.read();
  expect([...a!.data]).toEqual([0, -0, Math.fround(1.18e-38), 0, -2, Math.fround(1e-30)]);
  expect(step!.data).toEqual(Int32Array.of(7));
});
