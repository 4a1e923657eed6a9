import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attemptRows, createMoaBuffer, moaRows } from '@coplay/buffers';
import { type Experience, type GoalSet, type NamedArrays, ndarray } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { gatherRows } from '@coplay/core/rows';
import { describe, expect, it } from 'vitest';

const game = {
  agents: ['a', 'b'],
  actions: 3,
  observation: { vector: { shape: [2], dtype: 'float32' } },
} as const;

/** Action 1 reaches goal 0, action 2 goal 1, but only if the agent leaves by it. */
const goals: GoalSet = {
  names: ['first', 'second'],
  reached: ({ action, left }) => (left && action > 0 ? action - 1 : -1),
  isOpen: () => true,
};

/**
 * One episode of `length` steps in each environment; `b` leaves in step `leaves[e]` by the action `by[e]`, or never
 * (-1).
 */
function episodes(length: number, leaves: readonly number[], by: readonly number[]): Experience {
  const experience = allocateExperience(game, leaves.length, length);
  leaves.forEach((leave, e) => {
    for (let t = 0; t < length; t++) {
      const row = (e * length + t) * 2;
      const isOn = leave < 0 || t <= leave;
      experience.active.set([1, isOn ? 1 : 0], row);
      experience.terminated.set([0, leave >= 0 && t >= leave ? 1 : 0], row);
      experience.actions.set([0, t === leave ? by[e] : 0], row);
      experience.masks.fill(1, row * 3, row * 3 + 6);
      experience.observations['vector'].set([e, t, 10 + e, t], row * 2);
      experience.isFirst[e * length + t] = t === 0 ? 1 : 0;
      experience.ended[e * length + t] = t === length - 1 ? 1 : 0;
    }
  });
  return experience;
}

const column = (rows: NamedArrays, name: string) => [...rows[name].data];

describe('moaRows', () => {
  const three = episodes(4, [1, -1, 3], [2, 0, 1]);

  it('keeps the steps until an agent left, labelled with what it reached in the end', () => {
    const rows = moaRows(three, 1, { goals });
    expect(column(rows, 'observations/vector')).toEqual(
      [
        [10, 0, 10, 1],
        [11, 0, 11, 1, 11, 2, 11, 3],
        [12, 0, 12, 1, 12, 2, 12, 3],
      ].flat(),
    );
    expect(column(rows, 'goals')).toEqual([1, 1, -1, -1, -1, -1, 0, 0, 0, 0]);
    expect(column(rows, 'isFirst')).toEqual([1, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    expect(column(rows, 'terminated')).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(column(rows, 'active').every((x) => x === 1)).toBe(true);
  });

  it('labels each step with the goal that is reached next, by what was seen, and the steps after the last one', () => {
    /** Action 1 reaches the goal that stands first in what the agent sees; nobody leaves. */
    const many: GoalSet = {
      names: Array.from({ length: 14 }, (_, goal) => `goal ${goal}`),
      noGoal: 13,
      reads: ['vector'],
      reached: ({ action, left, observations, row }) => (action === 1 && !left ? observations['vector'][2 * row] : -1),
      isOpen: () => true,
    };
    const three = episodes(5, [-1, -1, -1], [0, 0, 0]);
    const reachedIn = [[1, 3], [4], []];
    reachedIn.forEach((steps, e) => {
      for (const t of steps) three.actions[(e * 5 + t) * 2 + 1] = 1;
      for (let t = 0; t < 5; t++) three.observations['vector'][((e * 5 + t) * 2 + 1) * 2] = e * 5 + t;
    });
    const labels = [1, 1, 3, 3, 13, 9, 9, 9, 9, 9, 13, 13, 13, 13, 13];
    const rows = moaRows(three, 1, { goals: many });
    expect(column(rows, 'goals')).toEqual(labels);
    const { noGoal: _, ...unsaid } = many;
    const unknown = labels.map((goal) => (goal === 13 ? -1 : goal));
    expect(column(moaRows(three, 1, { goals: unsaid }), 'goals')).toEqual(unknown);
    // What was tried for was reached: no attempts in vain.
    const always: GoalSet = {
      ...many,
      reached: ({ action, observations, row }) => (action === 1 ? observations['vector'][2 * row] : -1),
    };
    expect(attemptRows(moaRows(three, 1, { goals: always }), 1, always)['goals'].shape).toEqual([0]);
  });

  it('leaves out episodes without a goal if asked', () => {
    const rows = moaRows(three, 1, { goals, caughtOnly: true });
    expect(column(rows, 'goals')).toEqual([1, 1, 0, 0, 0, 0]);
  });

  it('refuses imagined experience', () => {
    const imagined = { ...three, isImagined: Uint8Array.of(0, 1, 0) };
    expect(() => moaRows(imagined, 1)).toThrow(/expected real experience, got imagined/);
    const buffer = createMoaBuffer({ coPlayers: ['b'] });
    expect(() => buffer.push(imagined)).toThrow(/expected real experience, got imagined/);
    expect(buffer.rows).toEqual({ b: 0 });
  });
});

describe('moaBuffer', () => {
  it('refuses, loudly, a step after an agent left', () => {
    const rows = moaRows(episodes(4, [1], [1]), 1, { goals });
    const buffer = createMoaBuffer({ coPlayers: ['b'] });
    const later = gatherRows(rows, [0, 1, 1]);
    const absent = { ...later, active: ndarray(Uint8Array.of(1, 1, 0)) };
    expect(() => buffer.pushRows('b', absent)).toThrow(/a step after it had left, in row 2/);
    expect(() => buffer.pushRows('b', later), 'also where it is said to be active').toThrow(
      /after it had left, in row 2/,
    );
    expect(buffer.rows).toEqual({ b: 0 });
    const { active: _, ...untold } = rows;
    expect(() => buffer.pushRows('b', untold)).toThrow(/expected a column active/);
  });

  it('lets unfinished episodes wait for their end', () => {
    const whole = episodes(4, [3, 1], [2, 1]);
    const buffer = createMoaBuffer({ coPlayers: ['b'], goals });
    const part = (start: number, end: number): Experience => {
      const piece = allocateExperience(game, 2, end - start);
      const copy = (from: ArrayLike<number>, to: { [i: number]: number }, width: number) => {
        for (let e = 0; e < 2; e++) {
          for (let i = 0; i < (end - start) * width; i++) {
            to[e * (end - start) * width + i] = from[(e * 4 + start) * width + i];
          }
        }
      };
      copy(whole.actions, piece.actions, 2);
      copy(whole.active, piece.active, 2);
      copy(whole.terminated, piece.terminated, 2);
      copy(whole.masks, piece.masks, 6);
      copy(whole.observations['vector'], piece.observations['vector'], 4);
      copy(whole.isFirst, piece.isFirst, 1);
      copy(whole.ended, piece.ended, 1);
      return piece;
    };
    expect(buffer.push(part(0, 3))['b']['actions'].shape).toEqual([0]);
    const added = buffer.push(part(3, 4))['b'];
    expect(column(added, 'goals')).toEqual([1, 1, 1, 1, 0, 0]);
    expect(buffer.pushed).toEqual({ b: { rows: 6, episodes: 2 } });
  });

  it('drops the oldest episodes whole, and never gives a row of them', () => {
    const buffer = createMoaBuffer({ coPlayers: ['b'], capacity: 9, goals });
    for (let i = 0; i < 25; i++) {
      const leave = i % 4; // episodes of 1 to 4 steps
      const rows = moaRows(episodes(4, [leave], [1]), 1, { goals });
      const numbered = { ...rows, actions: ndarray(new Int32Array(leave + 1).fill(i)) };
      buffer.pushRows('b', numbered);
      const { columns, places, lengths } = buffer.held('b');
      const held = [...places].map((place) => columns['actions'].data[place]);
      const expected: number[] = []; // as many of the newest episodes as fit
      for (let k = i; k >= 0 && expected.length + (k % 4) + 1 <= 9; k--)
        expected.unshift(...Array((k % 4) + 1).fill(k));
      expect(held).toEqual(expected);
      expect(lengths.reduce((a, b) => a + b, 0)).toBe(held.length);
    }
    const long = moaRows(episodes(10, [-1], [0]), 1);
    expect(() => buffer.pushRows('b', long)).toThrow(/at most 9 steps, the capacity, got 10/);
  });

  it('drops what was trained on only if asked', () => {
    const [ring, empty] = (['ring', 'empty'] as const).map((keep) => createMoaBuffer({ coPlayers: ['a', 'b'], keep }));
    for (const buffer of [ring, empty]) {
      buffer.push(episodes(4, [1], [1]));
      buffer.trained();
    }
    expect(ring.rows).toEqual({ a: 4, b: 2 });
    expect(empty.rows).toEqual({ a: 0, b: 0 });
    expect(empty.pushed).toEqual({ a: { rows: 4, episodes: 1 }, b: { rows: 2, episodes: 1 } });
  });

  it('goes on from a saved state and from a file as if nothing had happened', async () => {
    const make = () => createMoaBuffer({ coPlayers: ['a', 'b'], capacity: 10, goals });
    const [one, other, third] = [make(), make(), make()];
    for (let i = 0; i < 5; i++) one.push(episodes(4, [i % 4], [1]));
    other.restore(structuredClone(one.state()));
    const contents = (buffer: ReturnType<typeof make>) =>
      buffer.coPlayers.map((id) => {
        const { columns, places, lengths } = buffer.held(id);
        return { rows: gatherRows(columns, places), lengths: [...lengths], counts: buffer.pushed[id] };
      });
    expect(contents(other)).toEqual(contents(one));
    const path = join(mkdtempSync(join(tmpdir(), 'moa-')), 'rows.npz');
    await one.save(path);
    await third.load(path);
    expect(contents(third).map(({ rows }) => rows)).toEqual(contents(one).map(({ rows }) => rows));
    for (const buffer of [one, other]) buffer.push(episodes(4, [2], [2]));
    expect(contents(other)).toEqual(contents(one));
    expect(() => make().restore(createMoaBuffer({ coPlayers: ['a'] }).state())).toThrow(
      /saved.rings: expected rows of a, b, got a/,
    );
  });

  it('has nothing of nobody', () => {
    const buffer = createMoaBuffer({ coPlayers: [] });
    expect(buffer.push(episodes(4, [1], [1]))).toEqual({});
    expect(() => buffer.held('a')).toThrow(/expected one of nobody/);
  });
});

describe('attemptRows', () => {
  it('are the beginnings up to the first vain try for another goal than was reached', () => {
    const three = episodes(4, [1, -1, 3], [2, 0, 1]);
    const actions = three.actions.slice();
    actions[(0 * 4 + 0) * 2 + 1] = 1; // episode 0, step 0: tries goal 0; it reaches goal 1 in step 1
    actions[(1 * 4 + 2) * 2 + 1] = 2; // episode 1, step 2: tries goal 1; it reaches none
    actions[(1 * 4 + 3) * 2 + 1] = 1; // a second try, of another goal
    actions[(2 * 4 + 1) * 2 + 1] = 1; // episode 2, step 1: tries goal 0, which it reaches in step 3
    const rows = moaRows({ ...three, actions }, 1, { goals });
    const attempts = attemptRows(rows, 1, goals);
    expect(column(attempts, 'goals')).toEqual([0, 1, 1, 1]);
    expect(column(attempts, 'isFirst')).toEqual([1, 1, 0, 0]);
    expect(column(attempts, 'actions')).toEqual([1, 0, 0, 2]);
    expect(column(attempts, 'observations/vector')).toEqual([10, 0, 11, 0, 11, 1, 11, 2]);
    const buffer = createMoaBuffer({ coPlayers: ['b'], goals, attempts: true });
    buffer.push({ ...three, actions });
    expect(buffer.rows).toEqual({ b: 2 + 4 + 4 + 4 });
  });

  it('are none where nothing was tried for, or nothing in vain', () => {
    const rows = attemptRows(moaRows(episodes(4, [1, -1, 3], [2, 0, 1]), 1, { goals }), 1, goals);
    expect(rows['goals'].shape).toEqual([0]);
  });
});

describe('room for each goal', () => {
  const rare = () => moaRows(episodes(3, [1], [2]), 1, { goals }); // 2 rows, goal 1
  const common = (e: number) => {
    const rows = moaRows(episodes(3, [2], [1]), 1, { goals }); // 3 rows, goal 0
    const [a, b] = [Math.floor(e / 3), e % 3]; // tells the episodes apart
    return { ...rows, previousActions: ndarray(Int32Array.of(a, b, a, b, a, b), [3, 2]) };
  };
  const filled = (roomPerGoal: boolean) => {
    const buffer = createMoaBuffer({ coPlayers: ['b'], capacity: 12, goals, roomPerGoal }); // 4 rows for each of 2 + 1
    buffer.pushRows('b', rare());
    for (let e = 0; e < 5; e++) buffer.pushRows('b', common(e));
    return buffer;
  };
  const goalsHeld = (buffer: ReturnType<typeof filled>) => {
    const { columns, places } = buffer.held('b');
    return [...places].map((place) => columns['goals'].data[place]);
  };

  it('keeps a rare goal that a single ring forgets', () => {
    expect(goalsHeld(filled(false))).not.toContain(1);
    expect(goalsHeld(filled(true))).toEqual([1, 1, 0, 0, 0]);
  });

  it('holds episodes in the order in which they came, for any goals, and after a restore too', () => {
    const buffer = filled(true);
    buffer.pushRows('b', rare());
    expect(goalsHeld(buffer)).toEqual([1, 1, 0, 0, 0, 1, 1]);
    expect(buffer.held('b').lengths).toEqual([2, 3, 2]);
    expect(buffer.held('b').serials).toEqual([0, 5, 6]); // the commonest goal has room for one of its five
    const again = createMoaBuffer({ coPlayers: ['b'], capacity: 12, goals, roomPerGoal: true });
    again.restore(structuredClone(buffer.state()) as ReturnType<typeof buffer.state>);
    for (const one of [buffer, again]) one.pushRows('b', rare());
    expect(goalsHeld(buffer)).toEqual([0, 0, 0, 1, 1, 1, 1]);
    expect(goalsHeld(again)).toEqual(goalsHeld(buffer));
    const at = (one: typeof buffer) => gatherRows(one.held('b').columns, one.held('b').places);
    expect(at(again)).toEqual(at(buffer));
    expect(again.pushed).toEqual(buffer.pushed);
  });
});
