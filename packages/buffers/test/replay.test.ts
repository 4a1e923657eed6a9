import { createReplayBuffer, type ReplayBuffer } from '@coplay/buffers';
import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Steps `from`..`to - 1` of a stream: every field holds the number of its step and stream. */
function steps(from: number, to: number, stream = 0): NamedArrays {
  const numbers = Array.from({ length: to - from }, (_, i) => stream * 1000 + from + i);
  return {
    id: ndarray(Int32Array.from(numbers)),
    pair: ndarray(Float32Array.from(numbers.flatMap((id) => [id, id + 0.5])), [numbers.length, 2]),
    deep: ndarray(Float64Array.from(numbers.flatMap((id) => [id, -id, id, -id])), [numbers.length, 2, 2]),
  };
}

/** All windows that were drawn, as text; checks that the fields of each agree and that it is consecutive. */
function draw(buffer: ReplayBuffer, length: number, batch: number): Set<string> {
  const { rows, streams, steps: starts } = buffer.sample(createGenerator(1), { batch, length });
  const ids = Array.from(streams, (stream, b) =>
    Array.from({ length }, (_, l) => stream * 1000 + starts[b] + l),
  ).flat();
  expect([...rows['id'].data]).toEqual(ids);
  expect([...rows['pair'].data]).toEqual(ids.flatMap((id) => [id, id + 0.5]));
  expect([...rows['deep'].data]).toEqual(ids.flatMap((id) => [id, -id, id, -id]));
  expect(rows['deep'].shape).toEqual([batch, length, 2, 2]);
  return new Set(Array.from(streams, (stream, b) => `${stream}:${starts[b]}`));
}

/** Two streams: nine steps were pushed to one, of which it holds six, and four to the other. */
function held() {
  const buffer = createReplayBuffer({ capacity: 12, streams: 2 });
  buffer.push(steps(0, 9), 0);
  buffer.push(steps(0, 4, 1), 1);
  return buffer.state() as { rows: object };
}

describe('createReplayBuffer', () => {
  it('draws every window that is held and no other, at every position of the seam (P12, P14)', () => {
    for (let total = 1; total <= 17; total++) {
      const buffer = createReplayBuffer({ capacity: 8 });
      for (let step = 0; step < total; step++) buffer.push(steps(step, step + 1));
      for (let length = 1; length <= 4; length++) {
        const oldest = Math.max(0, total - 8);
        const expected = Array.from({ length: Math.max(0, total - oldest - length + 1) }, (_, i) => `0:${oldest + i}`);
        expect(buffer.windows(length)).toBe(expected.length);
        if (expected.length === 0) expect(() => draw(buffer, length, 1)).toThrow(/at least \d steps, got at most/);
        else expect(draw(buffer, length, 200)).toEqual(new Set(expected));
      }
    }
  });

  it('keeps streams apart, for any sizes of pushes', () => {
    const pushes = fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 0, max: 11 })), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pushes, fc.integer({ min: 1, max: 4 }), (list, length) => {
        const buffer = createReplayBuffer({ capacity: 20, streams: 3 }); // 6 steps each
        const totals = [0, 0, 0];
        for (const [stream, count] of list) {
          buffer.push(steps(totals[stream], totals[stream] + count, stream), stream);
          totals[stream] += count;
        }
        const expected = totals.flatMap((total, stream) => {
          const oldest = Math.max(0, total - 6);
          return Array.from({ length: Math.max(0, total - oldest - length + 1) }, (_, i) => `${stream}:${oldest + i}`);
        });
        expect([...buffer.pushed]).toEqual(totals);
        expect(buffer.size).toBe(totals.reduce((sum, total) => sum + Math.min(6, total), 0));
        if (expected.length > 0) expect(draw(buffer, length, 400)).toEqual(new Set(expected));
      }),
    );
  });

  it('draws windows with equal chances', () => {
    const buffer = createReplayBuffer({ capacity: 10 });
    buffer.push(steps(0, 13));
    const { steps: starts } = buffer.sample(createGenerator(3), { batch: 80_000, length: 3 });
    const counts = new Map<number, number>();
    for (const start of starts) counts.set(start, (counts.get(start) ?? 0) + 1);
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    // 10,000 expected of each, standard deviation 94: five of them.
    for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(470);
  });

  it('draws the same after save and restore, and goes on as before', () => {
    const first = createReplayBuffer({ capacity: 12, streams: 2 });
    first.push(steps(0, 9), 0);
    first.push(steps(0, 4, 1), 1);
    const second = createReplayBuffer({ capacity: 12, streams: 2 });
    second.restore(structuredClone(first.state()));
    for (const buffer of [first, second]) buffer.push(steps(4, 8, 1), 1);
    const options = { batch: 50, length: 3 };
    expect(second.sample(createGenerator(5), options)).toEqual(first.sample(createGenerator(5), options));
    expect(second.state()).toEqual(first.state());
    const other = createReplayBuffer({ capacity: 13 });
    expect(() => other.restore(first.state())).toThrow(/expected 1 streams of 13 steps, got 2 streams of 6 steps/);
    const empty = createReplayBuffer({ capacity: 4 });
    empty.restore(createReplayBuffer({ capacity: 4 }).state());
    expect(empty.size).toBe(0);
  });

  it.each<[what: string, damage: (state: ReturnType<typeof held>) => unknown, message: RegExp]>([
    ['nothing', () => null, /saved: expected object, got null/],
    ['no rows', (state) => ({ ...state, rows: undefined }), /saved\.rows: expected record, got undefined/],
    ['a negative counter', (state) => ({ ...state, pushed: Float64Array.of(-1, 4) }), /pushed of 2 whole numbers/],
    ['half a step', (state) => ({ ...state, pushed: Float64Array.of(8.5, 4) }), /pushed of 2 whole numbers/],
    ['NaN', (state) => ({ ...state, begun: Float64Array.of(0, Number.NaN) }), /begun of 2 whole numbers/],
    ['too many streams', (state) => ({ ...state, begun: new Float64Array(3) }), /begun of 2 whole numbers/],
    ['a late beginning', (state) => ({ ...state, begun: Float64Array.of(0, 5) }), /begun of stream 1 up to the 4/],
    [
      'a row too few',
      (state) => ({ ...state, pushed: Float64Array.of(9, 3) }),
      /9 rows of \w+, one for each step held/,
    ],
    ['no fields', (state) => ({ ...state, rows: {} }), /10 rows of each field, one for each step held, got no fields/],
    [
      'plain arrays',
      (state) => ({ ...state, rows: { ...state.rows, t: { data: Array(10).fill(0), shape: [10] } } }),
      /saved\.rows\.t\.data: expected a typed array/,
    ],
    [
      'a shape of less than nothing',
      (state) => ({ ...state, rows: { ...state.rows, t: { data: new Float32Array(10), shape: [10, -1, -1] } } }),
      /saved\.rows\.t\.shape\.1: expected a number to be >=0/,
    ],
  ])('refuses a damaged state, with %s, and stays as it was', (_, damage, message) => {
    const buffer = createReplayBuffer({ capacity: 12, streams: 2 });
    buffer.push(steps(0, 5), 0);
    const before = structuredClone(buffer.state());
    expect(() => buffer.restore(damage(held()) as never)).toThrow(message);
    expect(buffer.state()).toEqual(before);
  });

  it('takes no more memory after the first push (W12)', () => {
    const buffer = createReplayBuffer({ capacity: 10_000 });
    const some = steps(0, 1000);
    buffer.push(some);
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 100; i++) buffer.push(some);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000); // the ring is 520 kB
    expect([buffer.size, buffer.pushed[0]]).toEqual([10_000, 101_000]);
  });

  it('refuses other fields, streams that are not there, and options out of range', () => {
    const buffer = createReplayBuffer({ capacity: 4, streams: 2 });
    buffer.push(steps(0, 1));
    const { pair, ...rest } = steps(0, 1);
    expect(() => buffer.push(rest)).toThrow(/replayBuffer.push: expected pair of float32 \[B, 2\], got no field pair/);
    expect(() => buffer.push({ ...rest, pair: ndarray(new Float64Array(2), [1, 2]) })).toThrow(/got pair of float64/);
    expect(() => buffer.push({ ...rest, pair: ndarray(new Float32Array(4), [2, 2]) })).toThrow(
      /pair of shape \[B=1, ...\]/,
    );
    expect(() => buffer.push(steps(0, 1), 2)).toThrow(/a stream from 0 to 1, got 2/);
    expect(() => createReplayBuffer({ capacity: 0 })).toThrow(/createReplayBuffer: option capacity/);
    expect(() => createReplayBuffer({ capacity: 1, streams: 2 })).toThrow(/capacity of at least 2/);
    expect(() => buffer.sample(createGenerator(1), { batch: 0 })).toThrow(/option batch/);
  });
});
