import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import { compile, type StepFunction, type TensorRecord, tf, useBackend, variables } from '@coplay/tensor';
import { exportOnnx, type OnnxOptions, toOnnx } from '@coplay/tensor/onnx';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import type { Graph, Value } from '../src/graph';
import { encodeModel } from '../src/onnx';
import { checkWithPython, expectClose, python, runNode, runWeb, temporaryDirectory } from './onnx-files';

beforeAll(() => useBackend('cpu'));

const uniform = (generator: ReturnType<typeof createGenerator>, shape: number[]) =>
  ndarray(
    Float32Array.from(
      { length: shape.reduce((product, size) => product * size, 1) },
      () => 2 * generator.uniform() - 1,
    ),
    shape,
  );

const params = variables({
  W: uniform(createGenerator(1), [12, 3]),
  b: ndarray(Float32Array.of(0.1, -0.2, 0.3)),
  keys: uniform(createGenerator(2), [2, 5, 3]),
});

/** Dense layers, bytes, heads that share rows, rows made of nothing but the batch size. */
const network: StepFunction<'params', { seen: { board: tf.Tensor }; masks: tf.Tensor; scale: tf.Tensor }> = (
  { params: { W, b, keys } },
  { seen: { board }, masks, scale },
) => {
  const rows = board.shape[0];
  const flat = tf.reshape(board, [rows, 12]);
  const logits = tf.add(tf.matMul(flat, W), b) as tf.Tensor2D;
  const twice = tf.reshape(tf.tile(tf.expandDims(logits, 1), [1, 2, 1]), [2 * rows, 3]);
  const heads = tf.reshape(twice, [2, rows, 3]);
  const scores = tf.matMul(heads, keys, false, true); // [2, rows, 5]
  const padded = tf.concat([tf.ones([rows, 1]), logits, tf.zeros([rows, 2])], 1);
  const shifted = tf.concat([tf.zeros([1, 3]), tf.slice(logits, [0, 0], [rows - 1, 3])], 0);
  const bonus = tf.mul(tf.onesLike(logits), scale);
  return {
    outputs: {
      logits: tf.add(tf.mul(logits, masks), bonus),
      scores: tf.transpose(scores, [1, 0, 2]),
      padded,
      shifted,
      twice,
      mean: tf.mean(logits),
      ranks: tf.tile(tf.tensor2d([[1, 2, 3]], [1, 3], 'int32'), [rows, 1]),
      untouched: scale,
    },
  };
};

const options: OnnxOptions<'params'> = {
  name: 'network',
  state: { params },
  inputs: {
    seen: { board: { shape: ['batch', 2, 6], dtype: 'uint8', meaning: 'what lies where' } },
    masks: { shape: ['batch', 3] },
    scale: { shape: [] },
  },
  outputs: { logits: 'numbers of three actions' },
  description: 'A network for a test.',
  metadata: { actions: '["left","right","stay"]' },
};

const feedsOf = (rows: number): NamedArrays => {
  const generator = createGenerator(rows);
  const board = Uint8Array.from({ length: rows * 12 }, () => Math.floor(3 * generator.uniform()));
  return {
    'seen/board': ndarray(board, [rows, 2, 6]),
    masks: uniform(generator, [rows, 3]),
    scale: ndarray(Float32Array.of(0.5), []),
  };
};

/** What the function gives operation by operation. */
async function eagerly(feeds: NamedArrays): Promise<NamedArrays> {
  const run = compile(network, { name: 'network', state: { params }, executor: 'eager' });
  const { 'seen/board': board, masks, scale } = feeds;
  const outputs = (await run({ seen: { board }, masks, scale })) as NamedArrays;
  run.dispose();
  return outputs;
}

const BATCHES = [1, 2, 7, 37];

describe('an exported function', () => {
  it('gives the same numbers at any batch size in onnxruntime-node and onnxruntime-web', {
    tags: ['slow'],
  }, async () => {
    const bytes = await toOnnx(network, options);
    const feeds = BATCHES.map(feedsOf);
    for (const run of [runNode, runWeb]) {
      const runs = await run(bytes, feeds);
      for (const [i, feed] of feeds.entries()) expectClose(runs[i], await eagerly(feed));
    }
  });

  it.skipIf('missing' in python)(
    `passes onnx's checker and gives the same in Python${'missing' in python ? ` (skipped: ${python.missing})` : ''}`,
    async () => {
      const feeds = BATCHES.map(feedsOf);
      const [report] = checkWithPython([{ bytes: await toOnnx(network, options), feeds }]);
      for (const [i, feed] of feeds.entries()) expectClose(report.runs[i], await eagerly(feed));
      expect(report.domains).toEqual(['']);
      expect(report.version).toBe(manifest.version);
      expect(report.description).toBe('A network for a test.');
      expect(report.inputs).toEqual({
        'seen/board': { shape: ['batch', 2, 6], meaning: 'what lies where' },
        masks: { shape: ['batch', 3], meaning: '' },
        scale: { shape: [], meaning: '' },
      });
      expect(report.metadata).toMatchObject({
        'coplay.version': manifest.version,
        'coplay.function': 'network',
        actions: '["left","right","stay"]',
      });
      expect(JSON.parse(report.metadata['coplay.outputs']).logits).toEqual({
        shape: ['batch', 3],
        dtype: 'float32',
        meaning: 'numbers of three actions',
      });
    },
  );

  it('says what the file holds, and has the weights of the moment', async () => {
    const file = join(temporaryDirectory(), 'f.onnx');
    const scale = variables({ w: ndarray(Float32Array.of(2)) });
    const fn: StepFunction<'p'> = ({ p: { w } }, { x }) => ({
      state: { p: { w: tf.add(w, 1) } },
      outputs: { y: tf.mul(x, w), all: tf.reshape(tf.stack([x, x]), [-1]) },
    });
    const told = { name: 'f', state: { p: scale }, inputs: { x: { shape: ['batch', 1] as const } } };
    const made = await exportOnnx(fn, file, told);
    expect(made).toEqual({
      size: readFileSync(file).length,
      operations: made.operations,
      inputs: { x: { shape: ['batch', 1], dtype: 'float32' } },
      outputs: { y: { shape: ['batch', 1], dtype: 'float32' }, all: { shape: ['2*batch'], dtype: 'float32' } },
    });
    scale.write({ w: ndarray(Float32Array.of(5)) });
    const feeds = [{ x: ndarray(Float32Array.of(3, 4), [2, 1]) }];
    const [before] = await runNode(readFileSync(file), feeds);
    expect(Array.from(before['y'].data)).toEqual([6, 8]);
    const [after] = await runNode(await toOnnx(fn, told), feeds);
    expect(Array.from(after['y'].data)).toEqual([15, 20]);
  });

  it('may have sizes that are all fixed, and static arguments', async () => {
    const fn: StepFunction<never> = (_, { x }, { power }) => ({
      outputs: { y: tf.div(tf.pow(x, power as number), x.shape[0]) },
    });
    const bytes = await toOnnx(fn, { name: 'cubes', inputs: { x: { shape: [2] } }, statics: { power: 3 } });
    const [{ y }] = await runNode(bytes, [{ x: ndarray(Float32Array.of(2, 4)) }]);
    expect(Array.from(y.data)).toEqual([4, 32]);
  });

  it('replaces an older file at once and leaves nothing else behind', async () => {
    const place = temporaryDirectory();
    writeFileSync(join(place, 'network.onnx'), 'old');
    await exportOnnx(network, join(place, 'network.onnx'), options);
    expect(readdirSync(place)).toEqual(['network.onnx']);
    expect(new Uint8Array(readFileSync(join(place, 'network.onnx')))).toEqual(await toOnnx(network, options));
  });

  it('of 40 MB is written and read', { tags: ['slow'] }, async () => {
    const W = variables({ W: ndarray(new Float32Array(10_000_000).fill(1e-3), [1000, 10_000]) });
    const fn: StepFunction<'W'> = (state, { x }) => ({ outputs: { y: tf.matMul(x, state.W['W']) } });
    const bytes = await toOnnx(fn, { name: 'large', state: { W }, inputs: { x: { shape: ['batch', 1000] } } });
    expect(bytes.length).toBeGreaterThan(40_000_000);
    const [{ y }] = await runNode(bytes, [{ x: ndarray(new Float32Array(1000).fill(1), [1, 1000]) }]);
    expect(y.data[9_999]).toBeCloseTo(1, 4);
  });
});

describe('what cannot be exported', () => {
  const small = { name: 'f', inputs: { x: { shape: ['batch', 2] as const } } };
  const tensors = (make: (x: tf.Tensor) => TensorRecord) =>
    ((_: object, { x }: TensorRecord) => ({ outputs: make(x) })) as StepFunction<never>;

  it.each<[string, (x: tf.Tensor) => TensorRecord, RegExp]>([
    [
      'a division by the batch size',
      (x) => ({ y: tf.div(x, x.shape[0]) }),
      /constants that don't depend on the batch size \(here of Div\), got \[37\] at 37 rows, \[41\] at 41 rows.*tf\.mean/,
    ],
    [
      'other operations for other sizes',
      (x) => ({ y: x.shape[0] > 40 ? tf.exp(x) : x }),
      /the same operations for any batch size, got 0 operations at 37 rows, 1 operations at 41 rows/,
    ],
    [
      'another operation',
      (x) => ({ y: x.shape[0] > 40 ? tf.exp(x) : tf.log(x) }),
      /the same operations for any batch size, got Log \{\} at 37 rows, Exp \{\} at 41 rows/,
    ],
    [
      'other operands',
      (x) => {
        const a = tf.exp(x);
        const b = tf.log(x);
        return { y: x.shape[0] > 40 ? tf.sub(a, b) : tf.sub(b, a) };
      },
      /got Sub of other values at 37 rows/,
    ],
    [
      'a number for each row',
      (x) => ({ y: tf.add(x, tf.reshape(tf.range(0, x.shape[0]), [-1, 1])) }),
      /got one of shape \[37,1\] at 37 rows/,
    ],
    [
      'a size that grows with the square',
      (x) => ({ y: tf.tile(x, [x.shape[0], 1]) }),
      /y of a size that follows the batch size, got \[1369,2\]/,
    ],
    [
      'an output named as an input',
      (x) => ({ x: tf.exp(x) }),
      /inputs and outputs of different names, got two named x/,
    ],
    [
      'a value that is read',
      (x) => ({ y: tf.mul(x, x.dataSync()[0]) }),
      /toOnnx\(f\): expected a traced function to read no values/,
    ],
  ])('%s', async (_, make, message) => {
    await expect(toOnnx(tensors(make), small)).rejects.toThrow(message);
  });

  it.each<[string, object, RegExp]>([
    ['no shape', { name: 'f', inputs: { x: 'float32' } }, /toOnnx\(f\): expected inputs\.x to be a shape and a dtype/],
    ['an unknown dtype', { name: 'f', inputs: { x: { shape: [2], dtype: 'float64' } } }, /input x: option dtype/],
    ['a word that is not batch', { name: 'f', inputs: { x: { shape: ['rows', 2] } } }, /input x: option shape/],
    ['arrays as state', { ...small, state: { p: {} } }, /state\.p made by variables\(\)/],
    ['an unknown option', { ...small, output: {} }, /unknown option "output"/],
    ['words about an output that is not there', { ...small, outputs: { z: 'z' } }, /names of outputs: y, got z/],
  ])('%s', async (_, given, message) => {
    const fn = tensors((x) => ({ y: tf.exp(x) }));
    await expect(toOnnx(fn, given as OnnxOptions<never>)).rejects.toThrow(message);
  });

  it('a file where none can be', async () => {
    const place = temporaryDirectory();
    mkdirSync(join(place, 'taken.onnx'));
    const fn = tensors((x) => ({ y: tf.exp(x) }));
    await expect(exportOnnx(fn, join(place, 'taken.onnx'), small)).rejects.toThrow(
      /exportOnnx\(f\): expected to write .*taken\.onnx/,
    );
    await expect(exportOnnx(fn, join(place, 'none', 'f.onnx'), small)).rejects.toThrow(/ENOENT/);
    expect(readdirSync(place)).toEqual(['taken.onnx']);
  });

  it('more than 2 GB', () => {
    const data = new Float32Array(2 ** 28); // 1 GB that nobody touches: it takes no memory
    const value = (): Value => ({ shape: [2 ** 28], dtype: 'float32', constant: data });
    const sum: Value = { shape: [2 ** 28], dtype: 'float32' };
    const nodes = [{ op: 'Add', inputs: [value(), value()], outputs: [sum], attributes: {} }];
    const graph: Graph = { inputs: [], nodes, outputs: [{ name: 'sum', value: sum }] };
    expect(() => encodeModel(graph, { name: 'vast' })).toThrow(
      /ONNX file of vast: expected at most 2 GB in one file, got 2\.00 GB/,
    );
  });
});
