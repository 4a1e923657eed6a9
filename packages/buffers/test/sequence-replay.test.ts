import { createSequenceReplay, type SequenceReplay } from '@coplay/buffers';
import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Steps `from`..`to - 1` of a stream: each holds the number of its step and stream. */
function steps(from: number, to: number, stream = 0): NamedArrays {
  const ids = Int32Array.from({ length: to - from }, (_, i) => stream * 1000 + from + i);
  return { id: ndarray(ids), state: ndarray(Float32Array.from([...ids].flatMap((id) => [id, -id])), [ids.length, 2]) };
}

/** Adds `count` steps to each stream, one at a time and in turn. */
function fill(replay: SequenceReplay, streams: number, count: number): void {
  for (let t = 0; t < count; t++) for (let s = 0; s < streams; s++) replay.push(steps(t, t + 1, s), s);
}

/** The ids of each window. */
function drawn(replay: SequenceReplay, batch: number, seed = 1): number[][] {
  const { rows } = replay.sample(createGenerator(seed), batch);
  const [, length] = rows['id'].shape;
  return Array.from({ length: batch }, (_, b) => [...rows['id'].data.slice(b * length, (b + 1) * length)]);
}

// The properties that DreamerV3's own tests of its replay check (embodied/tests/test_replay.py); capacity is counted in
// steps here.
describe('createSequenceReplay', () => {
  it.each([
    [1, 1, 1],
    [2, 1, 2],
    [5, 1, 10],
    [1, 2, 2],
    [5, 3, 15],
    [2, 7, 20],
  ])('counts the windows of %i steps over %i streams that %i steps of capacity hold', (length, streams, capacity) => {
    const replay = createSequenceReplay({ length, streams, capacity, online: false });
    const share = Math.floor(capacity / streams);
    for (let n = 1; n <= 30; n++) {
      for (let s = 0; s < streams; s++) replay.push(steps(n - 1, n, s), s);
      expect(replay.windows).toBe(streams * Math.max(0, Math.min(n, share) - length + 1));
    }
  });

  it('draws windows that are contiguous and of one stream, for streams that grow in turns', () => {
    const replay = createSequenceReplay({ length: 7, streams: 2, capacity: 54, online: true });
    fill(replay, 2, 40);
    for (const ids of drawn(replay, 200)) {
      const [first] = ids;
      expect(ids).toEqual(Array.from({ length: 7 }, (_, i) => first + i));
      expect(first % 1000).toBeGreaterThanOrEqual(13); // 27 of each stream's 40 are held
    }
  });

  it('draws uniformly: 7 steps, windows of 5', () => {
    const replay = createSequenceReplay({ length: 5, capacity: 20, online: false });
    replay.push(steps(0, 7));
    const starts = drawn(replay, 3000).map(([first]) => first);
    // 1,000 each are expected; four standard deviations of a binomial(3000, 1/3) are 103.
    for (const start of [0, 1, 2]) expect(Math.abs(starts.filter((s) => s === start).length - 1000)).toBeLessThan(103);
  });

  it('hands out each new window once, without overlap, in order, and draws by chance when there are no more', () => {
    const replay = createSequenceReplay({ length: 3, streams: 2, capacity: 60 });
    fill(replay, 2, 7); // windows at 0 and 3 of each stream; the 7th step begins one that isn't full
    expect(replay.waiting).toBe(4);
    const sample = replay.sample(createGenerator(1), 3);
    expect(sample.fresh).toBe(3);
    expect([...sample.streams]).toEqual([0, 1, 0]);
    expect([...sample.steps]).toEqual([0, 0, 3]);
    const next = replay.sample(createGenerator(1), 3);
    expect([next.fresh, next.streams[0], next.steps[0]]).toEqual([1, 1, 3]);
    expect(replay.waiting).toBe(0);
    expect(replay.sample(createGenerator(1), 3).fresh).toBe(0);
  });

  it('shows windows without handing them out', () => {
    const [replay, other] = [0, 1].map(() => createSequenceReplay({ length: 3, streams: 2, capacity: 60 }));
    for (const each of [replay, other]) fill(each, 2, 9);
    const { rows, streams, steps: firsts } = replay.look(createGenerator(4), 50);
    expect(rows['id'].shape).toEqual([50, 3]);
    expect(new Set(firsts)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6])); // not the queue's 0, 3 and 6 alone
    streams.forEach((stream, b) => void expect(rows['id'].data[3 * b]).toBe(1000 * stream + firsts[b]));
    expect(replay.waiting).toBe(6);
    expect(drawn(replay, 6)).toEqual(drawn(other, 6));
  });

  it('forgets waiting windows whose steps have made room', () => {
    const replay = createSequenceReplay({ length: 2, capacity: 6 });
    fill(replay, 1, 11); // held: 5..10; full windows among them: 6-7, 8-9
    expect(replay.waiting).toBe(2);
    expect(drawn(replay, 2)).toEqual([
      [6, 7],
      [8, 9],
    ]);
  });

  it('covers a stream once, for any sizes of pushes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        const replay = createSequenceReplay({ length: 4, capacity: 100 });
        let total = 0;
        for (const size of sizes) {
          replay.push(steps(total, total + size));
          total += size;
        }
        const whole = Math.floor(total / 4);
        expect(replay.waiting).toBe(whole);
        if (whole > 0) expect(drawn(replay, whole).flat()).toEqual(Array.from({ length: 4 * whole }, (_, i) => i));
      }),
    );
  });

  it('replaces fields of steps that are held, by the number of the step', () => {
    const replay = createSequenceReplay({ length: 3, capacity: 4, online: false });
    replay.push(steps(0, 6)); // held: 2..5
    const state = ndarray(
      Float32Array.from({ length: 12 }, (_, i) => 100 + i),
      [2, 3, 2],
    );
    // The first window is 1..3, whose step 1 has made room; the second one 4..6, whose step 6 hasn't come.
    replay.overwrite({ streams: Int32Array.of(0, 0), steps: Float64Array.of(1, 4) }, { state });
    const found = new Map<number, number[]>();
    for (let seed = 0; seed < 20; seed++) {
      const { rows } = replay.sample(createGenerator(seed), 1);
      rows['id'].data.forEach((id, i) => void found.set(id, [...rows['state'].data.slice(2 * i, 2 * i + 2)]));
    }
    expect(found.get(2)).toEqual([102, 103]);
    expect(found.get(3)).toEqual([104, 105]);
    expect(found.get(4)).toEqual([106, 107]);
    expect(found.get(5)).toEqual([108, 109]);
    const wrong = ndarray(new Float32Array(3), [1, 3]);
    const one = { streams: Int32Array.of(0), steps: Float64Array.of(2) };
    expect(() => replay.overwrite(one, { state: wrong })).toThrow(/state of shape \[1,3,2\], got \[1,3\]/);
    expect(() => replay.overwrite(one, { other: wrong })).toThrow(/a field that was pushed, got other/);
  });

  it('goes on to the bit from a saved state', () => {
    const replay = createSequenceReplay({ length: 3, streams: 2, capacity: 30 });
    fill(replay, 2, 20);
    replay.sample(createGenerator(1), 2);
    const twin = createSequenceReplay({ length: 3, streams: 2, capacity: 30 });
    twin.restore(structuredClone(replay.state()));
    expect(twin.waiting).toBe(replay.waiting);
    expect(twin.waiting).toBeGreaterThan(0);
    expect(drawn(twin, 20, 5)).toEqual(drawn(replay, 20, 5));
    for (const each of [twin, replay]) each.push(steps(20, 26, 1), 1);
    expect(drawn(twin, 20, 6)).toEqual(drawn(replay, 20, 6));
  });

  it('refuses to draw what it does not have, and unknown options', () => {
    const replay = createSequenceReplay({ length: 3, capacity: 30 });
    replay.push(steps(0, 2));
    expect(() => replay.sample(createGenerator(1), 1)).toThrow(/at least 3 steps, got at most 2/);
    expect(() => createSequenceReplay({ length: 3, capacity: 3, onlin: true } as never)).toThrow(/onlin/);
  });

  it('refuses a capacity whose share of a stream holds no window', () => {
    expect(() => createSequenceReplay({ length: 3, streams: 4, capacity: 11 })).toThrow(
      /capacity of at least 12, 3 steps for each of 4 streams, got 11/,
    );
    const replay = createSequenceReplay({ length: 3, streams: 4, capacity: 12 });
    fill(replay, 4, 3);
    expect(replay.windows).toBe(4);
  });
});
