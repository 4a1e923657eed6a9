import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHistoryBuffer, type HistoryBufferOptions } from '@coplay/buffers';
import type { Experience } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { describe, expect, it } from 'vitest';

const AGENTS = 3;

/**
 * A stream of one environment: episodes one behind the other, [steps of each agent] in each. Everything an agent saw or
 * did names its episode, step and seat: `e * 100 + t * 10 + seat`.
 */
function streamOf(episodes: readonly (readonly number[])[], first = 0): Experience {
  const steps = episodes.reduce((sum, stays) => sum + Math.max(...stays), 0);
  const game = {
    agents: ['a', 'b', 'c'],
    observation: { name: { shape: [], dtype: 'float32' as const } },
    actions: 1000,
  };
  const experience = allocateExperience(game, 1, steps);
  let at = 0;
  episodes.forEach((stays, e) => {
    const length = Math.max(...stays);
    for (let t = 0; t < length; t++, at++) {
      experience.isFirst[at] = t === 0 ? 1 : 0;
      experience.ended[at] = t === length - 1 ? 1 : 0;
      for (let seat = 0; seat < AGENTS; seat++) {
        const row = at * AGENTS + seat;
        const name = (first + e) * 100 + t * 10 + seat;
        experience.observations['name'][row] = name;
        experience.actions[row] = name;
        experience.previousActions[row] = t === 0 ? -1 : name - 10;
        experience.active[row] = t < stays[seat] ? 1 : 0;
        experience.terminated[row] = t >= stays[seat] - 1 ? 1 : 0;
      }
    }
  });
  return experience;
}

/** Values that name themselves, and NaN-proof: those of absent agents are a trap. */
const valuesOf = ({ actions, active }: Experience) =>
  Float32Array.from(actions, (name, row) => (active[row] === 1 ? name + 0.5 : 1e9));

const bufferOf = (options: Partial<HistoryBufferOptions> = {}) => createHistoryBuffer({ observer: 1, ...options });
const all = (size: number) => Array.from({ length: size }, (_, i) => i);

describe('history buffer', () => {
  it('holds each co-player as long as it was there, in cyclic order from the observer', () => {
    const buffer = bufferOf();
    const stream = streamOf([[1, 3, 2]]);
    expect(buffer.push(stream, valuesOf(stream))).toBe(2);
    expect([...buffer.offsets()]).toEqual([0, 2, 3]); // seat 2: 2 steps; seat 0: 1 step
    const rows = buffer.rows(all(3));
    expect([...rows['observations/name'].data]).toEqual([2, 12, 0]);
    expect([...rows['actions'].data]).toEqual([2, 12, 0]);
    expect([...rows['coPlayer'].data]).toEqual([1, 1, 2]);
    expect([...rows['left'].data]).toEqual([0, 1, 1]);
    expect([...rows['values'].data]).toEqual([1.5, 11.5, 1.5]); // of the observer
    // Previous actions begin with the seat whose view it is.
    expect([...rows['previousActions'].data]).toEqual([-1, -1, -1, 2, 0, 1, -1, -1, -1]);
  });

  it("takes the co-player's values, or the observer's view, where it's asked", () => {
    const stream = streamOf([[2, 1, 1]]);
    const theirs = bufferOf({ valuesOf: 'coPlayer' });
    theirs.push(stream, valuesOf(stream));
    expect([...theirs.rows(all(3))['values'].data]).toEqual([2.5, 0.5, 10.5]);
    const own = bufferOf({ view: 'own' });
    own.push(stream, valuesOf(stream));
    expect([...own.rows(all(3))['observations/name'].data]).toEqual([1, 1, 11]);
    const ours = [...own.rows(all(3))['values'].data];
    expect(ours.slice(0, 2)).toEqual([1.5, 1.5]);
    expect(ours[2]).toBeNaN(); // the observer had left: nothing of 1e9
  });

  it('puts episodes together over rollouts, and leaves out one whose start was never seen', () => {
    const whole = streamOf([
      [2, 2, 2],
      [4, 4, 4],
      [1, 1, 1],
    ]);
    const buffer = bufferOf();
    const cut = (start: number, end: number) => sliceOf(whole, start, end);
    expect(buffer.push(cut(1, 4), valuesOf(cut(1, 4)))).toBe(0); // the end of an episode, half of the next one
    expect(buffer.push(cut(4, 7), valuesOf(cut(4, 7)))).toBe(4); // its other half, and one that is whole
    expect([...buffer.offsets()]).toEqual([0, 4, 8, 9, 10]);
    const rows = buffer.rows(all(10));
    expect([...rows['observations/name'].data]).toEqual([102, 112, 122, 132, 100, 110, 120, 130, 202, 200]);
    expect([...rows['values'].data]).toEqual([101.5, 111.5, 121.5, 131.5, 101.5, 111.5, 121.5, 131.5, 201.5, 201.5]);
  });

  it('keeps all fields of a row together around the seam, and drops whole histories', () => {
    const buffer = bufferOf({ capacity: 8 });
    for (let i = 0; i < 20; i++) {
      const stays = [[1 + (i % 3), 2, 1 + (i % 2)]];
      const stream = streamOf(stays, i);
      buffer.push(stream, valuesOf(stream));
      expect(buffer.size).toBeLessThanOrEqual(8);
      const offsets = buffer.offsets();
      expect(offsets.at(-1)).toBe(buffer.size);
      const rows = buffer.rows(all(buffer.size));
      const names = [...rows['observations/name'].data];
      expect([...rows['actions'].data]).toEqual(names);
      for (let h = 0; h < buffer.histories; h++) {
        const history = names.slice(offsets[h], offsets[h + 1]);
        expect(history[0] % 100).toBeLessThan(10); // begins where its episode does
        expect(history.every((name, t) => name === history[0] + 10 * t)).toBe(true);
      }
    }
    const { pushed, dropped } = buffer.counts;
    expect([pushed, pushed - dropped]).toEqual([40, buffer.histories]);
  });

  it('takes no more memory at ten times its capacity', () => {
    const buffer = bufferOf({ capacity: 200 });
    const stream = streamOf(Array.from({ length: 10 }, () => [5, 5, 5]));
    const bytes: number[] = [];
    for (let i = 0; i < 20; i++) {
      buffer.push(stream, valuesOf(stream));
      bytes.push(buffer.encode().length);
    }
    expect(buffer.counts.pushed * 5).toBe(10 * 200);
    expect(new Set(bytes.slice(2)).size).toBe(1);
  });

  it('is emptied every so many pushes, before the next one is taken', () => {
    const buffer = bufferOf({ clearEvery: 2 });
    const sizes = all(5).map((i) => {
      const stream = streamOf([[1, 1, 1]], i);
      buffer.push(stream, valuesOf(stream));
      return buffer.size;
    });
    expect(sizes).toEqual([2, 4, 2, 4, 2]);
    expect(buffer.counts.cleared).toBe(2);
  });

  it('goes on from its state, in the middle of an episode', () => {
    const whole = streamOf([
      [3, 3, 3],
      [4, 4, 4],
    ]);
    const halves = [sliceOf(whole, 0, 5), sliceOf(whole, 5, 7)];
    const first = bufferOf({ capacity: 9 });
    first.push(halves[0], valuesOf(halves[0]));
    const second = bufferOf({ capacity: 9 });
    second.restore(first.state());
    for (const buffer of [first, second]) buffer.push(halves[1], valuesOf(halves[1]));
    expect(second.state()).toEqual(first.state());
    expect(second.counts).toEqual(first.counts);
    expect(second.histories).toBe(2);
  });

  it('is written and read as npz', async () => {
    const stream = streamOf([[2, 3, 1]]);
    const buffer = bufferOf();
    buffer.push(stream, valuesOf(stream));
    const path = join(tmpdir(), `histories-${process.pid}.npz`);
    await buffer.save(path);
    const other = bufferOf();
    await other.load(path);
    expect(other.rows(all(3))).toEqual(buffer.rows(all(3)));
    expect([...other.offsets()]).toEqual([...buffer.offsets()]);
  });

  it('refuses imagined episodes, values of another shape and histories that never fit', () => {
    const stream = streamOf([[2, 2, 2]]);
    expect(() => bufferOf().push({ ...stream, isImagined: Uint8Array.of(1) })).toThrow(/real experience.*imagined/);
    expect(() => bufferOf().push(stream, new Float32Array(2))).toThrow(/values \[1,2,3\], 6 numbers/);
    expect(() => bufferOf({ capacity: 1 }).push(stream)).toThrow(/at most 1 steps/);
    expect(() => createHistoryBuffer({ observer: 5 }).push(stream)).toThrow(/more than 5 agents/);
  });
});

/** The steps from `start` to `end` of a stream, as a rollout would have cut it. */
function sliceOf(whole: Experience, start: number, end: number): Experience {
  const part = <T extends Int32Array | Float32Array | Uint8Array>(data: T, width: number) =>
    data.slice(start * width, end * width) as T;
  return {
    ...whole,
    steps: end - start,
    lengths: Int32Array.of(end - start),
    observations: { name: part(whole.observations['name'] as Float32Array, AGENTS) },
    masks: part(whole.masks, AGENTS * 1000),
    actions: part(whole.actions, AGENTS),
    previousActions: part(whole.previousActions, AGENTS),
    rewards: part(whole.rewards, AGENTS),
    active: part(whole.active, AGENTS),
    terminated: part(whole.terminated, AGENTS),
    truncated: part(whole.truncated, AGENTS),
    isFirst: part(whole.isFirst, 1),
    ended: part(whole.ended, 1),
  };
}
