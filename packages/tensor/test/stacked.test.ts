import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import {
  adam,
  compile,
  compileScan,
  compileScanEach,
  compileStacked,
  type ScanInputs,
  type StepFunction,
  stackVariables,
  type TensorRecord,
  tf,
  useBackend,
  valueAndGradients,
  variables,
} from '@coplay/tensor';
import { logProbOf, maskedLogProbs } from '@coplay/tensor/distributions';
import { beforeAll, describe, expect, it } from 'vitest';

const MEMBERS = 3;
const generator = createGenerator(3);
const random = (...shape: number[]) =>
  ndarray(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => generator.uniform() - 0.5),
    shape,
  );

const optimiser = adam({ clipNorm: 0.1 });

/** Cross-entropy of a small network with a mask: everything that a policy's step uses. */
const step: StepFunction<'params' | 'slots'> = (state, inputs) => {
  const { loss, gradients, metrics } = valueAndGradients((params) => {
    const hidden = tf.tanh(tf.add(tf.matMul(inputs['x'] as tf.Tensor2D, params['w'] as tf.Tensor2D), params['b']!));
    const logits = tf.matMul(hidden as tf.Tensor2D, params['v'] as tf.Tensor2D);
    const logProbs = maskedLogProbs(logits, inputs['mask']!);
    const chosen = logProbOf(logProbs, inputs['actions']!);
    return { loss: tf.neg(tf.mean(chosen)) as tf.Scalar, metrics: { chosen } };
  }, state.params);
  const { params, slots, gradientNorm } = optimiser.update(
    gradients,
    state.slots,
    state.params,
    inputs['rate'] as tf.Scalar,
  );
  return { state: { params, slots }, outputs: { loss, gradientNorm, ...metrics } };
};

const initial = Array.from({ length: MEMBERS }, () => ({ w: random(4, 8), b: random(8), v: random(8, 3) }));
const batches = Array.from({ length: 4 }, () =>
  Array.from({ length: MEMBERS }, (_, member) => ({
    x: random(5, 4),
    mask: ndarray(Float32Array.of(1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1), [5, 3]),
    actions: ndarray(Int32Array.of(0, 1, 2, 0, 2)),
    rate: ndarray(Float32Array.of(0.01 * (member + 1)), []),
  })),
);

function join(arrays: readonly NamedArrays[]): NamedArrays {
  return Object.fromEntries(
    Object.entries(arrays[0]!).map(([name, { data, shape }]) => {
      const joined = data.slice().fill(0) as Float32Array;
      const all = new (data.constructor as new (n: number) => Float32Array)(joined.length * arrays.length);
      arrays.forEach((entry, i) => {
        all.set(entry[name]!.data as Float32Array, i * joined.length);
      });
      return [name, ndarray(all, [arrays.length, ...shape])];
    }),
  );
}

const members = () =>
  initial.map((params) => ({ params: variables(params), slots: variables(optimiser.init(params)) }));

function stacked(
  all: ReturnType<typeof members>,
  executor: 'onnx' | 'wasm' | 'eager',
  acceptState?: (member: number) => boolean,
) {
  return compileStacked(step, {
    name: 'test/stacked',
    executor,
    state: {
      params: stackVariables(all.map(({ params }) => params)),
      slots: stackVariables(
        all.map(({ slots }) => slots),
        'apart',
      ),
    },
    ...(acceptState ? { acceptState: (_: NamedArrays, member: number) => acceptState(member) } : {}),
  });
}

function close(a: ArrayLike<number>, b: ArrayLike<number>, tolerance = 1e-5): void {
  expect(a.length).toBe(b.length);
  for (let i = 0; i < a.length; i++) expect(Math.abs(a[i]! - b[i]!)).toBeLessThan(tolerance);
}

beforeAll(async () => {
  await useBackend('cpu');
});

describe.each(['onnx', 'wasm', 'eager'] as const)('compileStacked with %s', (executor) => {
  it('does for each member what compile does for it alone, step after step', async () => {
    const [alone, together] = [members(), members()];
    const singles = alone.map((state) => compile(step, { name: 'test/single', state, executor: 'eager' }));
    const all = stacked(together, executor);
    for (const batch of batches) {
      const expected = await Promise.all(batch.map((inputs, i) => singles[i]!(inputs)));
      const got = await all(join(batch));
      const joined = join(expected);
      for (const name in joined) {
        expect(got[name]!.shape).toEqual(joined[name]!.shape);
        close(got[name]!.data, joined[name]!.data);
      }
    }
    for (let i = 0; i < MEMBERS; i++) {
      const [mine, theirs] = [await together[i]!.params.read(), await alone[i]!.params.read()];
      for (const name in theirs) close(mine[name]!.data, theirs[name]!.data);
      const slots = [await together[i]!.slots.read(), await alone[i]!.slots.read()];
      for (const name in slots[1]) close(slots[0]![name]!.data, slots[1]![name]!.data);
    }
  });

  it('shares the variables with functions of one member, both ways', async () => {
    const all = members();
    const together = stacked(all, executor);
    const alone = compile(
      ({ params }: Record<'params', TensorRecord>) => ({
        state: { params: { ...params, b: tf.zerosLike(params['b']!) } },
        outputs: { b: params['b']! },
      }),
      { name: 'test/reset', state: { params: all[1]!.params }, executor },
    );
    await together(join(batches[0]!));
    const before = (await all[1]!.params.read())['b']!;
    expect((await alone({}))['b']!.data).toEqual(before.data);
    expect(before.data).not.toEqual(initial[1]!.b.data);
    expect(Math.max(...(await all[1]!.params.read())['b']!.data.map(Math.abs))).toBe(0);
    const others = (await all[0]!.params.read())['b']!;
    await together(join(batches[1]!));
    const moved = (await all[1]!.params.read())['b']!.data;
    expect(Math.max(...moved.map(Math.abs))).toBeLessThan(0.021); // from zero, by a step of Adam at rate 0.02
    expect(Math.max(...moved.map(Math.abs))).toBeGreaterThan(0);
    expect((await all[0]!.params.read())['b']!.data).not.toEqual(others.data);
  });

  it('leaves the members as they were whose state is refused', async () => {
    const all = members();
    const together = stacked(all, executor, (member) => member !== 1);
    await together(join(batches[0]!));
    await together(join(batches[1]!));
    expect((await all[1]!.params.read())['w']).toEqual(initial[1]!.w);
    const reference = members();
    const plain = stacked(reference, executor);
    await plain(join(batches[0]!));
    await plain(join(batches[1]!));
    for (const i of [0, 2]) {
      expect((await all[i]!.params.read())['w']).toEqual((await reference[i]!.params.read())['w']);
    }
  });
});

describe('compileStacked', () => {
  it('computes operations without a rule member by member', async () => {
    const group = stackVariables(Array.from({ length: 2 }, () => variables({ z: random(1) })));
    const sorted = compileStacked(
      (_: Record<'g', TensorRecord>, { x }) => ({ outputs: { y: tf.cumsum(x!, 0), top: tf.topk(x!, 2).values } }),
      { name: 'test/odd', state: { g: group }, executor: 'onnx' },
    );
    const { y, top } = await sorted({ x: ndarray(Float32Array.of(1, 2, 3, 6, 5, 4), [2, 3]) });
    expect(y).toEqual({ data: Float32Array.of(1, 3, 6, 6, 11, 15), shape: [2, 3] });
    expect(top).toEqual({ data: Float32Array.of(3, 2, 6, 5), shape: [2, 2] });
  });

  it('says what it wants', async () => {
    const group = { g: stackVariables([variables({ z: random(1) }), variables({ z: random(1) })]) };
    const f = compileStacked((_: Record<'g', TensorRecord>, { x }) => ({ outputs: { x: x! } }), {
      name: 'f',
      state: group,
    });
    await expect(f({ x: random(3, 2) })).rejects.toThrow(
      /x of shape \[2, \.\.\.\], one part for each member, got \[3,2\]/,
    );
    expect(() => stackVariables([])).toThrow(/at least one member/);
    expect(() => stackVariables([variables({ z: random(1) }), variables({ z: random(2) })])).toThrow(
      /z float32 \[1\], got z float32 \[2\]/,
    );
    expect(() => compileStacked(step as never, { name: 'f', state: { g: variables({}) as never } })).toThrow(
      /state\.g made by stackVariables/,
    );
  });
});

describe.each(['onnx', 'wasm', 'eager'] as const)('compileScan with %s', (executor) => {
  const scanned: StepFunction<'params' | 'slots', ScanInputs> = (state, { each, shared }) => {
    const rows = (name: string) => tf.gather(shared[name]!, each['rows'] as tf.Tensor1D);
    return step(state, { x: rows('x'), mask: rows('mask'), actions: rows('actions'), rate: each['rate']! }, {});
  };
  const table = {
    x: random(6, 4),
    mask: ndarray(new Uint8Array(18).fill(1), [6, 3]),
    actions: ndarray(Int32Array.of(0, 1, 2, 2, 1, 0)),
  };
  const rows = [Int32Array.of(0, 1, 2), Int32Array.of(5, 3, 1), Int32Array.of(2, 2, 4), Int32Array.of(0, 4, 5)];
  const rates = Float32Array.of(0.01, 0.02, 0.03, 0.04);
  const batchOf = (i: number, member = 0) => ({
    x: gather(table.x, rows[(i + member) % 4]!),
    mask: ndarray(new Uint8Array(9).fill(1), [3, 3]),
    actions: ndarray(Int32Array.from(rows[(i + member) % 4]!, (row) => table.actions.data[row] as number)),
    rate: ndarray(rates.slice(i, i + 1), []),
  });

  function gather({ data, shape }: NamedArrays[string], chosen: Int32Array) {
    const parts = Array.from(chosen, (row) =>
      Array.from((data as Float32Array).subarray(row * shape[1]!, (row + 1) * shape[1]!)),
    );
    return ndarray(Float32Array.from(parts.flat()), [chosen.length, shape[1]!]);
  }

  it('does in one call what S calls do', async () => {
    const [alone, scan] = [members()[0]!, members()[0]!];
    const single = compile(step, { name: 'test/single', state: alone, executor: 'eager' });
    const all = compileScan(scanned, { name: 'test/scan', state: scan, executor });
    const expected = [];
    for (let i = 0; i < 4; i++) expected.push(await single(batchOf(i)));
    const each = { rows: ndarray(Int32Array.from(rows.flatMap((r) => [...r])), [4, 3]), rate: ndarray(rates) };
    const got = await all({ each, shared: table });
    const joined = join(expected);
    for (const name in joined) {
      expect(got[name]!.shape).toEqual(joined[name]!.shape);
      close(got[name]!.data, joined[name]!.data);
    }
    const [mine, theirs] = [await scan.params.read(), await alone.params.read()];
    for (const name in theirs) close(mine[name]!.data, theirs[name]!.data);
    expect((await scan.slots.read())['step']!.data[0]).toBe(4);
  });

  it('leaves everything as it was where one step is refused', async () => {
    const scan = members()[0]!;
    const all = compileScan(scanned, { name: 'test/scan', state: scan, executor, acceptState: () => false });
    const each = { rows: ndarray(Int32Array.from(rows.flatMap((r) => [...r])), [4, 3]), rate: ndarray(rates) };
    await all({ each, shared: table });
    expect((await scan.params.read())['w']).toEqual(initial[0]!.w);
    expect((await scan.slots.read())['step']!.data[0]).toBe(0);
  });

  it('repeats stacked members, each with its own rows', async () => {
    const [alone, together] = [members(), members()];
    const singles = alone.map((state) => compile(step, { name: 'test/single', state, executor: 'eager' }));
    const all = compileStacked<'params' | 'slots', ScanInputs>(scanned, {
      name: 'test/stacked-scan',
      executor,
      scan: true,
      state: {
        params: stackVariables(together.map(({ params }) => params)),
        slots: stackVariables(
          together.map(({ slots }) => slots),
          'apart',
        ),
      },
    });
    const expected: NamedArrays[] = [];
    for (let member = 0; member < MEMBERS; member++) {
      const steps = [];
      for (let i = 0; i < 4; i++) steps.push(await singles[member]!(batchOf(i, member)));
      expected.push(join(steps));
    }
    const order = (member: number) => Array.from({ length: 4 }, (_, i) => [...rows[(i + member) % 4]!]).flat();
    const each = {
      rows: ndarray(Int32Array.from([0, 1, 2].flatMap(order)), [MEMBERS, 4, 3]),
      rate: ndarray(Float32Array.from([0, 1, 2].flatMap(() => [...rates])), [MEMBERS, 4]),
    };
    const got = await all({ each, shared: join([table, table, table]) });
    const joined = join(expected);
    for (const name in joined) {
      expect(got[name]!.shape).toEqual(joined[name]!.shape);
      close(got[name]!.data, joined[name]!.data);
    }
    for (let i = 0; i < MEMBERS; i++) {
      const [mine, theirs] = [await together[i]!.params.read(), await alone[i]!.params.read()];
      for (const name in theirs) close(mine[name]!.data, theirs[name]!.data);
    }
  });
});

describe.each(['onnx', 'wasm', 'eager'] as const)('compileScanEach with %s', (executor) => {
  const add: StepFunction<'g', ScanInputs> = (state, { each }) => {
    const total = tf.add(state.g['total']!, each['x']!);
    return { state: { g: { total } }, outputs: { total } };
  };
  const steps = (...x: number[]) => ({ each: { x: ndarray(Float32Array.from(x)) }, shared: {} });
  const start = (total: number) => variables({ total: ndarray(Float32Array.of(total), []) });
  const totalOf = async (group: ReturnType<typeof start>) => (await group.read())['total']!.data[0];

  it('runs each member on its own variables, also when calls overlap', async () => {
    const groups = [start(10), start(200)];
    const acceptState = (outputs: NamedArrays) => outputs['total']!.data.every((total) => total < 300);
    const [first, second] = compileScanEach(add, {
      name: 'test/each',
      executor,
      states: groups.map((g) => ({ g })),
      acceptState,
    });
    const answers = await Promise.all([
      first!(steps(1, 2)),
      second!(steps(5, 6)),
      first!(steps(1, 1)),
      second!(steps(99)),
    ]);
    expect(answers.map(({ total }) => [...total!.data])).toEqual([[11, 13], [205, 211], [14, 15], [310]]);
    expect(await Promise.all(groups.map(totalOf))).toEqual([15, 211]); // the last call is refused
    first!.dispose();
  });

  it('refuses members of different kinds, and none', () => {
    const odd = variables({ total: random(2) });
    expect(() => compileScanEach(add, { name: 'f', states: [{ g: start(1) }, { g: odd }] })).toThrow(
      /variables like the first member's: g: total float32 \[\], got g: total float32 \[2\]/,
    );
    expect(() => compileScanEach(add, { name: 'f', states: [] })).toThrow(/states of at least one member/);
  });
});

it('compileScan says what it wants', async () => {
  const f = compileScan((_, { each }) => ({ outputs: { x: each['x']! } }), { name: 'f' });
  await expect(f({ each: {}, shared: {} })).rejects.toThrow(/inputs\.each with arrays \[S, \.\.\.\]/);
  await expect(f({ each: { x: random(2), y: random(3) }, shared: {} })).rejects.toThrow(/each\/y \[3\]/);
});
