import { CoplayError, type NDArray } from '@coplay/core';
import { compile, type TensorRecord, tf, useBackend, valueAndGradients, variables } from '@coplay/tensor';
import * as layers from '@tensorflow/tfjs-layers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trace } from '../src/trace';
import { floats, ints } from './compiled';

type Body = (x: tf.Tensor) => unknown;

/** Compiles for ONNX and calls once. */
async function call(body: Body, x: NDArray = floats([1, -2, 3])): Promise<NDArray> {
  const compiled = compile((_, inputs: TensorRecord) => ({ outputs: { y: body(inputs['x']!) as tf.Tensor } }), {
    name: 'my/step',
    executor: 'onnx',
  });
  try {
    return (await compiled({ x }))['y']!;
  } finally {
    compiled.dispose();
  }
}

/** The second, once the first is done. */
const after = (_effect: unknown, x: tf.Tensor) => x;

const held = () => {
  const { numTensors, numDataBuffers, numBytes } = tf.memory();
  return { numTensors, numDataBuffers, numBytes, variables: Object.keys(tf.engine().registeredVariables).length };
};

describe('what a traced function may not do', () => {
  let before: ReturnType<typeof held>;
  const { random } = Math;

  beforeEach(async () => {
    await useBackend('cpu');
    before = held();
  });
  afterEach(() => {
    expect(held()).toEqual(before);
    expect(tf.getBackend()).toBe('cpu');
    expect(Math.random).toBe(random);
  });

  const whereItIs = /compiled function my\/step: /;
  const reading = /read no values .*got one that does.*tf\.where instead of if.*executor: 'eager'/;
  const randomness = /draw no random numbers.*unseeded random operation.*Give the numbers as an input/;
  const refusals: [string, Body, RegExp][] = [
    ['reads a value to branch', (x) => (tf.sum(x).dataSync()[0]! > 0 ? x : tf.neg(x)), reading],
    ['reads values into arrays', (x) => tf.tensor(x.arraySync() as number[]), reading],
    ['prints', (x) => after(x.print(), x), reading],
    ['reads and never looks at the promise', (x) => after(x.data(), x), reading],
    [
      'awaits a value',
      async (x) => {
        await x.data();
        return x;
      },
      /read no values/,
    ],
    ['picks by a mask', (x) => after(tf.booleanMaskAsync(x, tf.greater(x, 0)), x), reading],
    [
      'has a shape that depends on data',
      (x) => tf.unique(x as tf.Tensor1D).values,
      /shape that is known beforehand, got Unique, whose shape depends on the data.*Use a mask/,
    ],
    ['draws random numbers', (x) => tf.add(x, tf.randomUniform([3])), randomness],
    ['draws normal numbers', (x) => tf.add(x, tf.randomNormal([3])), randomness],
    ['drops out', (x) => tf.dropout(x, 0.5), randomness],
    ['drops out in a layer', (x) => layers.layers.dropout({ rate: 0.5 }).apply(x, { training: true }), randomness],
    ['samples', (x) => tf.multinomial(x as tf.Tensor1D, 2), randomness],
    [
      'samples with a seed',
      (x) => tf.multinomial(x as tf.Tensor1D, 2, 7),
      /no random numbers.*got tf\.multinomial.*arg max of logits/,
    ],
    [
      'has no graph for a kernel',
      (x) => tf.spectral.rfft(x),
      /compiled function my\/step: expected operations that can be compiled, got the kernel \w+, which can't.*executor: 'eager'/,
    ],
    [
      'has no gradient for a kernel',
      (x) => tf.grad((y: tf.Tensor) => tf.topk(y, 1).values)(x),
      /gradient function not found for TopK/,
    ],
    ['makes strings', () => tf.tensor(['a']), /dtype float32, int32 or bool, got string/],
    [
      'keeps a tensor',
      (x) => tf.keep(tf.exp(x)),
      /tensors made inside to be used inside.*got 1 kept beyond it by tf\.keep.*Return them as outputs or as state/,
    ],
    ['makes a variable', (x) => tf.add(x, tf.variable(tf.zeros([3]))), /1 kept beyond it by tf\.keep, tf\.variable/],
    [
      'trains by tfjs',
      (x) => {
        const w = tf.variable(tf.zeros([3]));
        tf.train.adam(0.1).minimize(() => tf.sum(tf.mul(w, x)) as tf.Scalar);
        return w;
      },
      /kept beyond it by tf\.keep, tf\.variable or an optimiser/,
    ],
    ['is async', async (x) => x, /compiled function my\/step: /],
    ['misuses tfjs', (x) => tf.reshape(x, [2]), /[Ss]ize/],
  ];

  it.each(refusals)('a function that %s', async (_, body, words) => {
    const error = await call(body).catch((reason: unknown) => reason as Error);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(whereItIs);
    expect((error as Error).message).toMatch(words);
  });

  it('a function that is async gets told so, and what fails later is not heard of', async () => {
    const compiled = compile(
      (async (_: unknown, inputs: TensorRecord) => {
        await Promise.resolve();
        return { outputs: { y: tf.add(inputs['x']!, 1) } };
      }) as never,
      { name: 'my/step', executor: 'onnx' },
    );
    await expect(compiled({ x: floats([1]) })).rejects.toThrow(
      /compiled function my\/step: expected \{ outputs, state\? \} returned, got .*not a promise/,
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    compiled.dispose();
  });

  it('a captured tensor that is disposed', async () => {
    const captured = tf.tensor1d([1, 2, 3]);
    captured.dispose();
    await expect(call((x) => tf.add(x, captured))).rejects.toThrow(
      /my\/step: expected a tensor \[3\] from outside that's alive, got one that is disposed/,
    );
  });

  it('a captured variable', async () => {
    const initial = tf.tensor1d([1, 2, 3]);
    const w = tf.variable(initial, true, 'w/kernel');
    await expect(call((x) => tf.mul(x, w))).rejects.toThrow(
      /no variable captured from outside.*would be frozen.*got w\/kernel.*Pass it as state/,
    );
    tf.dispose([w, initial]);
  });

  it('a captured tensor is a constant, and stays usable', async () => {
    const captured = tf.tensor1d([1, 2, 3]);
    const { data } = await call((x) => tf.add(x, tf.mul(captured, captured)));
    expect([...data]).toEqual([2, 2, 12]);
    expect([...captured.dataSync()]).toEqual([1, 2, 3]);
    captured.dispose();
  });

  it('a tensor of an earlier trace', async () => {
    let leaked: tf.Tensor | undefined;
    await call((x) => {
      leaked = tf.exp(x);
      return leaked;
    });
    await expect(call((x) => tf.add(x, leaked!))).rejects.toThrow(/from outside that's alive.*Make it inside/);
    expect(() => leaked!.dataSync()).toThrow(/disposed/);
  });

  it('a parameter that changes shape', async () => {
    const params = variables({ w: floats([1, 2]) });
    const step = compile(
      ({ params: { w } }: Record<'params', TensorRecord>) => ({
        state: { params: { w: tf.expandDims(w!, 0) } },
        outputs: {},
      }),
      { name: 'my/step', executor: 'onnx', state: { params } },
    );
    await expect(step({})).rejects.toThrow(/my\/step: state\.params: expected w of shape \[2\], got \[1,2\]/);
    expect((await params.read())['w']!.data).toEqual(Float32Array.of(1, 2));
    expect(() => params.write({ w: floats([1]) })).toThrow(/w of shape \[2\], got \[1\]/);
    step.dispose();
    params.dispose();
  });

  it('a failure inside a gradient leaves nothing behind', async () => {
    const body: Body = (x) =>
      valueAndGradients(({ w }) => ({ loss: tf.sum(tf.unique(tf.square(w!) as tf.Tensor1D).values) as tf.Scalar }), {
        w: x,
      }).loss;
    await expect(call(body)).rejects.toThrow(/Unique/);
    const plain: Body = (x) => tf.grad((y: tf.Tensor) => tf.sum(tf.mul(tf.exp(y), y.dataSync()[0]!)))(x);
    await expect(call(plain)).rejects.toThrow(/read no values/);
    const { data } = await call((x) => tf.grad((y: tf.Tensor) => tf.square(y))(x));
    expect([...data]).toEqual([2, -4, 6]);
  });
});

describe('tracing', () => {
  const identity = () =>
    trace('here', ({ input, output }) => output('y', tf.exp(input('x', { shape: [2], dtype: 'float32' }))));

  it.each(['cpu', 'wasm'] as const)('leaves the backend %s in use', async (backend) => {
    await useBackend(backend);
    tf.disposeVariables(); // of test files that ran in this process before
    const before = held();
    expect(identity().nodes.map(({ op }) => op)).toEqual(['Exp']);
    expect(tf.getBackend()).toBe(backend);
    expect([...tf.exp(tf.scalar(0)).dataSync()]).toEqual([1]);
    expect(() => trace('here', () => tf.scalar(1).dataSync() && fails())).toThrow('here: on purpose');
    expect(tf.getBackend()).toBe(backend);
    tf.engine().disposeVariables();
    expect(held().numDataBuffers).toBe(before.numDataBuffers + 2);
  });

  it('leaves no backend in use where none was', () => {
    const engine = tf.engine() as unknown as Record<'backendName' | 'backendInstance', unknown>;
    const { backendName, backendInstance } = engine;
    Object.assign(engine, { backendName: null, backendInstance: null });
    try {
      identity();
      expect(() => trace('here', fails)).toThrow('here: on purpose');
      expect([engine.backendName, engine.backendInstance]).toEqual([null, null]);
    } finally {
      Object.assign(engine, { backendName, backendInstance });
    }
  });

  it('happens once for each signature', async () => {
    await useBackend('cpu');
    let traces = 0;
    const compiled = compile(
      (_, { x }: TensorRecord) => {
        traces++;
        return { outputs: { y: tf.neg(x!) } };
      },
      { name: 'count', executor: 'onnx' },
    );
    for (const x of [floats([1]), floats([2]), floats([1, 2]), ints([1]), floats([3])]) await compiled({ x });
    expect(traces).toBe(3);
    compiled.dispose();
  });
});

describe('what comes out', () => {
  it.each<[string, Body, NDArray, NDArray['data']]>([
    ['an arg max', (x) => tf.argMax(x), floats([1, 3, 2]), Int32Array.of(1)],
    ['arg maxima', (x) => tf.argMax(x, 1), floats([1, 3, 2, 0], [2, 2]), Int32Array.of(1, 0)],
    ['a mask', (x) => tf.greater(x, 1), floats([1, 3, 2]), Uint8Array.of(0, 1, 1)],
    ['an int32 lookup', (x) => tf.gather(tf.tensor1d([10, 20, 30], 'int32'), x), ints([2, 0]), Int32Array.of(30, 10)],
    ['the places of the largest', (x) => tf.topk(x, 2).indices, floats([1, 3, 2]), Int32Array.of(1, 2)],
    ['a count of booleans', (x) => tf.sum(tf.greater(x, 1)), floats([1, 3, 2]), Int32Array.of(2)],
    ['a constant', () => tf.tensor1d([1, 2], 'int32'), floats([1]), Int32Array.of(1, 2)],
    ['an input, unchanged', (x) => x, ints([5, 6]), Int32Array.of(5, 6)],
    ['a mask as numbers', (x) => tf.cast(tf.greater(x, 1), 'float32'), floats([1, 3]), Float32Array.of(0, 1)],
    ['nothing', (x) => tf.slice(x, [0], [0]), floats([1]), new Float32Array(0)],
    ['a sum of nothing', (x) => tf.sum(x), floats([]), Float32Array.of(0)],
  ])('%s is a plain array of its dtype', async (_, body, x, expected) => {
    await useBackend('cpu');
    expect((await call(body, x)).data).toEqual(expected);
  });
});

function fails(): never {
  throw new Error('on purpose');
}

it('errors of the library are CoplayErrors', async () => {
  await useBackend('cpu');
  await expect(call((x) => tf.tensor1d(x.dataSync() as Float32Array))).rejects.toThrow(CoplayError);
});
