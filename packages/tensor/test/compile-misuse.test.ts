import { type NDArray, ndarray } from '@coplay/core';
import {
  compile,
  compileScan,
  compileStacked,
  inspectGraph,
  type ScanInputs,
  type StepFunction,
  stackVariables,
  tf,
  useBackend,
  type Variables,
  variables,
} from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { needsOnnx, onnx } from './onnx-runtime';

const executors = onnx ? (['onnx', 'wasm', 'eager'] as const) : (['wasm', 'eager'] as const);
const floats = (...values: number[]) => ndarray(Float32Array.from(values));
const numbers = ({ data }: NDArray) => Array.from(data);
const negated: StepFunction<never> = (_, { x }) => ({ outputs: { y: tf.neg(x) } });

beforeAll(async () => {
  await useBackend('cpu');
});

describe.each(executors)('what a function is called with, with %s', (executor) => {
  const negate = (inputs: unknown, statics?: unknown) =>
    compile(negated, { name: 'f', executor })(inputs as never, statics as never);

  it.each<[string, unknown, RegExp]>([
    ['more numbers than the shape says', { x: { data: new Float32Array(3), shape: [2] } }, /3 numbers for shape \[2\]/],
    ['negative sizes', { x: { data: new Float32Array(2), shape: [-1, -2] } }, /got the shape \[-1, -2\]/],
    ['fractions of sizes', { x: { data: new Float32Array(3), shape: [1.5, 2] } }, /got the shape \[1\.5, 2\]/],
    ['integers of 64 bits', { x: { data: new BigInt64Array(1), shape: [1] } }, /x to be float32, int32, uint8/],
    ['bytes without a type', { x: { data: new DataView(new ArrayBuffer(4)), shape: [1] } }, /x to be float32, int32/],
    ['an array that is in no record', floats(1), /inputs to be a record/],
    ['a name that objects cannot hold', Object.fromEntries([['__proto__', floats(1)]]), /__proto__\. Choose another/],
  ])('%s: an error that says so', async (_, inputs, message) => {
    await expect(negate(inputs)).rejects.toThrow(message);
  });

  it('a record inside of itself: an error that says so', async () => {
    const inputs: Record<string, unknown> = {};
    inputs['x'] = inputs;
    await expect(negate(inputs)).rejects.toThrow(/records in records, 32 deep at most/);
  });

  it('static values that are no values: an error that says so', async () => {
    await expect(negate({ x: floats(1) }, { k: [1] })).rejects.toThrow(/the static value k to be a string, a number/);
    await expect(negate({ x: floats(1) }, null)).rejects.toThrow(/a record of static values, got null/);
  });

  it('static numbers that JSON has no words for are told apart', async () => {
    const below: StepFunction<never> = (_, { x }, { k }) => ({ outputs: { y: tf.minimum(x, Number(k)) } });
    const call = compile(below, { name: 'f', executor });
    const found = [];
    for (const k of [Infinity, -Infinity, 3]) found.push((await call({ x: floats(5) }, { k })).y.data[0]);
    expect(found).toEqual([5, -Infinity, 3]);
  });

  it('memory that threads share, odd names, and other orders of names are fine', async () => {
    const shared = ndarray(new Float32Array(new SharedArrayBuffer(4)).fill(7));
    expect(numbers((await negate({ x: shared })).y)).toEqual([-7]);
    const fn: StepFunction<never> = (_, { 'a/b': a, 'é∆': e, constructor: c }) => ({
      outputs: { 'ü/': tf.sub(tf.sub(a, e), c as unknown as tf.Tensor) },
    });
    const call = compile(fn, { name: 'odd/\n"', executor });
    const [first, second] = [
      await call({ 'a/b': floats(9), 'é∆': floats(2), constructor: floats(1) } as never),
      await call({ constructor: floats(1), 'é∆': floats(2), 'a/b': floats(9) } as never),
    ];
    expect([numbers(first['ü/']), numbers(second['ü/'])]).toEqual([[6], [6]]);
  });

  it('no rows give no rows', async () => {
    const fn: StepFunction<never> = (_, { x }) => ({
      outputs: {
        product: tf.matMul(x, tf.ones([2, 3])),
        softmax: tf.softmax(x),
        sum: tf.sum(x),
        best: tf.argMax(x, 1),
      },
    });
    const { product, softmax, sum, best } = await compile(fn, { name: 'f', executor })({
      x: ndarray(new Float32Array(0), [0, 2]),
    });
    expect([product.shape, softmax.shape, best.shape]).toEqual([[0, 3], [0, 2], [0]]);
    expect(numbers(sum)).toEqual([0]);
  });

  it('a tensor instead of a record of outputs: an error that says so', async () => {
    const fn = ((_: unknown, { x }: { x: tf.Tensor }) => ({ outputs: x })) as never;
    await expect(compile(fn, { name: 'f', executor })({ x: floats(1) } as never)).rejects.toThrow(
      /outputs to be a record: a tensor, by name/,
    );
  });
});

/** A function that adds 1 to the variable w of the group p. */
function counter(p: Variables, options: object) {
  const step: StepFunction<'p'> = ({ p: { w } }) => ({ state: { p: { w: tf.add(w, 1) } }, outputs: { w } });
  return compile(step, { name: 'count', state: { p }, ...options });
}

describe.each(executors)('acceptState, with %s', (executor) => {
  it('says true or false, and at once: anything else is an error and changes nothing', async () => {
    for (const acceptState of [async () => false, () => undefined]) {
      const p = variables({ w: floats(1) });
      const count = counter(p, { executor, acceptState });
      await expect(count({})).rejects.toThrow(/acceptState: expected true or false returned, at once/);
      expect(numbers((await p.read())['w'])).toEqual([1]);
    }
  });

  it('may call functions, whose turn comes when it has ended; what it throws goes to the caller', async () => {
    const p = variables({ w: floats(1) });
    let later: ReturnType<typeof count> | undefined;
    const count = counter(p, {
      executor,
      acceptState: () => {
        later ??= count({});
        return true;
      },
    });
    expect(numbers((await count({})).w)).toEqual([1]);
    expect(numbers((await later!).w)).toEqual([2]);
    expect(numbers((await p.read())['w'])).toEqual([3]);
    const strict = counter(p, {
      executor,
      acceptState: () => {
        throw new Error('mine');
      },
    });
    await expect(strict({})).rejects.toThrow('mine');
    expect(numbers((await p.read())['w'])).toEqual([3]);
  });
});

describe('variables', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /arrays to be a record/],
    ['numbers', { w: 3 }, /arrays\.w to be an array/],
    ['records', { w: { v: floats(1) } }, /arrays by name, in no records, got "w\/v"/],
    ['no name', { '': floats(1) }, /arrays by name/],
    ['the name __proto__', Object.fromEntries([['__proto__', floats(1)]]), /__proto__\. Choose another/],
    ['too many numbers', { w: { data: new Float32Array(3), shape: [2] } }, /3 numbers for shape \[2\]/],
    ['integers of 64 bits', { w: { data: new BigInt64Array(1), shape: [1] } }, /w to be float32 or int32/],
  ])('of %s: an error that says so', (_, arrays, message) => {
    expect(() => variables(arrays as never)).toThrow(message);
  });

  it('are written all or not at all', async () => {
    const v = variables({ a: floats(1), n: ndarray(Int32Array.of(2)), w: floats(3, 4) });
    const good = { a: floats(9), n: ndarray(Int32Array.of(9)), w: floats(9, 9) };
    const bad = [
      { ...good, w: { data: new Float32Array(3), shape: [2] } },
      { ...good, n: floats(1.5) },
    ];
    for (const arrays of bad) expect(() => v.write(arrays)).toThrow(/variables\.write/);
    expect(Object.values(await v.read()).map(numbers)).toEqual([[1], [2], [3, 4]]);
    v.write(good);
    expect(Object.values(await v.read()).map(numbers)).toEqual([[9], [9], [9, 9]]);
  });

  it('are declared once in a function, under a name without a slash', () => {
    const v = variables({ w: floats(1) });
    const fn = () => ({ outputs: {} });
    expect(() => compile(fn, { name: 'f', state: { a: v, b: v } })).toThrow(/a and b the same\. Declare it once/);
    expect(() => compile(fn, { name: 'f', state: { 'a/b': v } })).toThrow(/groups without a slash, got a\/b/);
    expect(() => stackVariables([v, v])).toThrow(/variables of its own for each member/);
    const stacked = stackVariables([v]);
    expect(() => compileStacked(fn, { name: 'f', state: { a: stacked, b: stacked } })).toThrow(/Declare it once/);
  });

  it.each(executors)(
    'may be called as methods of objects are, and take each other’s places, with %s',
    async (executor) => {
      const v = variables({ constructor: floats(1, 2), toString: floats(3, 4) } as never);
      const swap: StepFunction<'v'> = ({ v: { constructor: a, toString: b } }) => ({
        state: { v: { constructor: b, toString: a } as never },
        outputs: {},
      });
      const call = compile(swap, { name: 'swap', state: { v }, executor });
      for (let i = 0; i < 3; i++) await call({});
      expect(Object.values(await v.read()).map(numbers)).toEqual([
        [3, 4],
        [1, 2],
      ]);
    },
  );
});

describe.each(executors)('compileScan of steps that have nothing of their own to read, with %s', (executor) => {
  it('repeats them all the same', async () => {
    const p = variables({ w: floats(1) });
    const step: StepFunction<'p', ScanInputs> = ({ p: { w } }) => ({
      state: { p: { w: tf.mul(w, 2) } },
      outputs: { w },
    });
    const call = compileScan(step, { name: 'f', state: { p }, executor });
    const { w } = await call({ each: { unread: floats(0, 0, 0) }, shared: {} });
    expect([numbers(w), numbers((await p.read())['w'])]).toEqual([[1, 2, 4], [8]]);
  });
});

describe.skipIf(!onnx)(`with ONNX Runtime${needsOnnx}`, () => {
  it('a run that fails in the trial of threads is explained like any other', async () => {
    const fn: StepFunction<never> = (_, { x }) => ({ outputs: { y: tf.sum(tf.tile(x, [2 ** 20, 2 ** 14])) } });
    const call = compile(fn, { name: 'huge', executor: 'onnx', threads: 'trial' });
    await expect(call({ x: ndarray(Float32Array.of(1, 2), [1, 2]) })).rejects.toThrow(
      /^compiled function huge: expected a graph that runs, got .*Tile/,
    );
  });

  it('a disposed function is not inspected', async () => {
    const call = compile(negated, { name: 'f', executor: 'onnx' });
    call.dispose();
    await expect(inspectGraph(call, { x: floats(1) })).rejects.toThrow(/that runs on ONNX Runtime, and is in use/);
  });
});
