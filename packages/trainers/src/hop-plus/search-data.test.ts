import { type Experience, ndarray } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { stagHunt } from '@coplay/envs';
import { expect, it } from 'vitest';
import { withPlayedLogProbs } from './search-data';
import type { HopPlusSetup } from './setup';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
const K = game.actions;

/** One environment, two steps, two agents. */
function withExtras(extras: Record<string, number[]>): Experience {
  const arrays = Object.entries(extras).map(([name, values]) => {
    return [name, ndarray(Float32Array.from(values), [1, 2, 2, ...(values.length > 4 ? [K] : [])])];
  });
  return { ...allocateExperience(game, 1, 2), extras: Object.fromEntries(arrays) };
}

const renewed = withExtras({ logProbs: [-1, -2, -3, -4] });
const played = [-5, -6, -7, -8];
const logProbsOf = (treeSearch: unknown, extras: Record<string, number[]>) => {
  const setup = { game, treeSearch } as unknown as HopPlusSetup;
  return [...withPlayedLogProbs(setup, renewed, withExtras({ logProbs: played, ...extras })).extras['logProbs'].data];
};

it('log-probabilities of actions that an exploration chose stay as they were', () => {
  expect(logProbsOf(false, {})).toEqual([-1, -2, -3, -4]);
  expect(logProbsOf(false, { explored: [0, 1, 0, 1] })).toEqual([-1, -6, -3, -8]);
});

it('those of a search too, and only where the search plays', () => {
  const searchPolicy = new Array(4 * K).fill(0);
  searchPolicy[2 * K] = 1; // only the third row searched
  expect(logProbsOf({ plays: 'search' }, { searchPolicy })).toEqual([-1, -2, -7, -4]);
  expect(logProbsOf({ plays: 'search' }, { searchPolicy, explored: [1, 0, 0, 0] })).toEqual([-5, -2, -7, -4]);
  expect(logProbsOf({ plays: 'policy' }, { searchPolicy })).toEqual([-1, -2, -3, -4]);
});
