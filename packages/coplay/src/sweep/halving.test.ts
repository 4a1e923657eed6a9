import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeEnd } from './directory';
import { promotable, promote, reachedRungs, runTo, tooFewSettings } from './halving';
import { checkSweep, planOf, rungsOf } from './plan';
import { resultOf } from './summary';

const folder = mkdtempSync(join(tmpdir(), 'coplay-halving-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A sweep of nine settings, of which one in three goes on: 10, 30 and 90 steps. */
function sweepOf(seeds: number) {
  const given = { configuration: {}, list: Array.from({ length: 9 }, (_, x) => ({ x })), halving: { first: 10 } };
  const sweep = checkSweep('a.json', { ...given, seeds });
  return { sweep, runs: planOf('a.json', sweep), rungs: rungsOf(10, 3, 90) };
}

describe('promotable', () => {
  it('promotes the best floor(n / eta) settings that have ended a rung, unless they were promoted before', () => {
    const scores = new Map([5, 9, 1, 7, 8, 2].entries());
    expect(promotable(scores, new Set(), 3)).toEqual([1, 4]);
    expect(promotable(scores, new Set([1]), 3)).toEqual([4]);
    expect(promotable(scores, new Set(), 4)).toEqual([1]); // floor(6 / 4)
    expect(promotable(scores, new Set(), 7)).toEqual([]);
  });

  it('promotes no setting that failed; of equal ones it promotes the first', () => {
    expect(promotable(new Map([-Infinity, -Infinity, 0].entries()), new Set(), 2)).toEqual([2]);
    expect(promotable(new Map([-Infinity, -Infinity, 0].entries()), new Set(), 3)).toEqual([2]);
    expect(promotable(new Map([-Infinity, -Infinity].entries()), new Set(), 2)).toEqual([]);
    expect(promotable(new Map([3, 3, 3, 3].entries()), new Set(), 2)).toEqual([0, 1]);
  });
});

describe('successive halving', () => {
  it('has rungs up to the whole run', () => {
    expect([rungsOf(10, 3, 90), rungsOf(10, 3, 100), rungsOf(7, 2, 8)]).toEqual([
      [10, 30, 90],
      [10, 30, 90, 100],
      [7, 8],
    ]);
  });

  it('promotes while results arrive, as Algorithm 2 does by hand, and goes on from its file', () => {
    const planned = sweepOf(1);
    const end = (setting: number, rung: number, mean: number | 'fails') => {
      const run = runTo(planned.runs[setting], rung, planned.rungs);
      const result = { envSteps: planned.rungs[rung], mean: mean as number, returns: {}, seconds: 1 };
      writeEnd(folder, run, mean === 'fails' ? { error: 'it failed' } : result);
      return promote(folder, planned).map((next) => [next.setting, next.envSteps]);
    };
    // [setting, its return, what follows]: floor(n / 3) candidates after n results.
    const first: [number, number | 'fails', unknown][] = [
      [0, 1, []],
      [1, 5, []],
      [2, 3, [[1, 30]]], // n = 3, the best: 1
      [3, 4, []],
      [4, 6, [[4, 30]]], // n = 5, the best: 4. Setting 1 has gone on already, and stays
      [5, 0, []], // n = 6, the best two: 4 and 1
      [6, 'fails', []],
      [7, 2, []],
      [8, 5.5, [[8, 30]]], // n = 9, the best three: 4, 8 and 1
    ];
    for (const [setting, mean, follows] of first) expect([setting, end(setting, 0, mean)]).toEqual([setting, follows]);
    expect(end(1, 1, 10)).toEqual([]);
    expect(end(4, 1, 11)).toEqual([]);
    expect(end(8, 1, 9)).toEqual([[4, undefined]]); // to the end of the whole run
    expect(reachedRungs(folder, planned)).toEqual([0, 1, 0, 0, 2, 0, 0, 0, 1]);
    const { runs, best } = resultOf(folder, planned);
    expect(runs.map(({ state }) => state).join(' ')).toBe('done done done done open done failed done done');
    expect(runs[4]).toMatchObject({ rung: 1, result: { mean: 11 } });
    // Those with the most steps first, then by return.
    expect(best.map(({ setting, envSteps, mean }) => [setting, envSteps, mean.value])).toEqual([
      ...[
        [4, 30, 11],
        [1, 30, 10],
        [8, 30, 9],
      ],
      ...[
        [3, 10, 4],
        [2, 10, 3],
        [7, 10, 2],
        [0, 10, 1],
        [5, 10, 0],
      ],
    ]);
    expect(end(4, 2, 12)).toEqual([]);
    expect(resultOf(folder, planned).best[0]).toMatchObject({ setting: 4, envSteps: 90, mean: { value: 12 } });
  });

  it('warns where no setting can be trained whole', () => {
    const rungs = [10, 30, 90];
    // Of 9 settings 3 go on from the first rung, and 1 of these from the second; of 8, 2 and none.
    expect(tooFewSettings(9, rungs, 3)).toBeUndefined();
    expect(tooFewSettings(8, rungs, 3)).toContain('of 8 settings none is trained beyond 30 steps. Give 9 settings');
    expect(tooFewSettings(3, rungs, 3)).toContain('beyond 30 steps');
    expect(tooFewSettings(2, rungs, 3)).toContain('beyond 10 steps');
  });

  it('waits for all seeds of a setting, and compares means', () => {
    const place = join(folder, 'seeds');
    const planned = sweepOf(2);
    const end = (index: number, mean: number) => {
      writeEnd(place, runTo(planned.runs[index], 0, planned.rungs), { envSteps: 10, mean, returns: {}, seconds: 1 });
      return promote(place, planned).map(({ name, envSteps }) => [name, envSteps]);
    };
    // Settings 0, 1 and 2 with means 5, 4 and 6.
    for (const [index, mean] of [9, 1, 4, 4, 2].entries()) expect(end(index, mean)).toEqual([]);
    expect(end(5, 10)).toEqual([
      ['002-seed-1', 30],
      ['002-seed-2', 30],
    ]);
  });
});
