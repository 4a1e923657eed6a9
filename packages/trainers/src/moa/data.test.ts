import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { batchesPerEpoch, type EpisodeList, newEpisodes, packEpisodes, planBatches } from './data';

/** Episodes of these lengths, whose rows are in reverse order in the table; all steps of episode e have the goal e. */
function episodes(...lengths: readonly number[]): EpisodeList {
  const goals = Int32Array.from(lengths.flatMap((length, episode) => new Array<number>(length).fill(episode)));
  const places = goals.map((_, row) => goals.length - 1 - row);
  return { places, goals, lengths, serials: lengths.map((_, i) => 10 + i) };
}

const sorted = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b);

describe('minibatches of single rows', () => {
  const list = episodes(2, 3);
  const settings = { count: 6, size: 2, window: 0, unknownShare: 0 };
  const plan = planBatches(list, settings, createGenerator(1));

  it('have each row once in a pass, with its own goal; a short last one is filled up with weight 0', () => {
    expect(batchesPerEpoch(list, 2, 0)).toBe(3);
    expect(plan.shape).toEqual([6, 2]);
    expect([...plan.weights]).toEqual([1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0]);
    for (const pass of [0, 6]) expect(sorted(plan.places.subarray(pass, pass + 5))).toEqual([0, 1, 2, 3, 4]);
    plan.places.forEach((place, i) => {
      expect(plan.goals[i]).toBe(plan.weights[i] === 0 ? -1 : list.goals[list.places.indexOf(place)]);
    });
  });

  it('are in another order in each pass', () => {
    expect([...plan.places.subarray(0, 5)]).not.toEqual([...plan.places.subarray(6, 11)]);
  });

  it('hide the goals of a share of the rows', () => {
    const half = planBatches(list, { ...settings, count: 300, unknownShare: 0.5 }, createGenerator(2));
    const shown = half.goals.filter((goal, i) => half.weights[i] === 1 && goal >= 0).length;
    expect(shown / 500).toBeCloseTo(0.5, 1); // 500 rows in 100 passes of 3 minibatches
  });
});

describe('minibatches of windows', () => {
  it('hold whole episodes, the next one in the same window if it fits there', () => {
    expect(packEpisodes([2, 3, 1, 4], [0, 1, 2, 3], 5)).toEqual([
      [0, 1, 2, 3, 4],
      [5, 6, 7, 8, 9],
    ]);
    expect(packEpisodes([2, 3, 1, 4], [1, 3, 0], 5)).toEqual([
      [2, 3, 4],
      [6, 7, 8, 9],
      [0, 1],
    ]);
  });

  it('have about so many steps, and hide the goal of a whole episode', () => {
    const list = episodes(3, 3, 3, 3);
    expect(batchesPerEpoch(list, 8, 4)).toBe(2); // windows of one episode each, two in a minibatch
    const settings = { count: 40, size: 8, window: 4, unknownShare: 0.5 };
    const { shape, places, goals, weights } = planBatches(list, settings, createGenerator(1));
    expect(shape).toEqual([40, 2, 4]);
    const hidden = new Map<number, Set<boolean>>();
    places.forEach((place, i) => {
      if (weights[i] === 0) return;
      const episode = list.goals[list.places.indexOf(place)];
      hidden.set(episode, (hidden.get(episode) ?? new Set()).add(goals[i] === -1));
    });
    expect([...hidden.keys()].sort()).toEqual([0, 1, 2, 3]);
    for (const flags of hidden.values()) expect(flags.size).toBe(1);
  });
});

describe('episodes that a model was not trained on', () => {
  const table: NamedArrays = { actions: ndarray(new Int32Array(6)) };
  const list = episodes(1, 2, 3); // the episodes 10, 11 and 12

  it('are those that came since, without the rows of earlier ones', () => {
    expect(newEpisodes({ table, list }, { rows: 0, episodes: 11 })?.list).toEqual({
      places: Int32Array.of(4, 3, 2, 1, 0),
      goals: Int32Array.of(1, 1, 2, 2, 2),
      lengths: [2, 3],
      serials: [11, 12],
    });
    expect(newEpisodes({ table, list }, { rows: 0, episodes: 0 })?.list).toEqual(list);
  });

  it('are none if none came since', () => {
    expect(newEpisodes({ table, list }, { rows: 0, episodes: 13 })).toBeUndefined();
  });
});
