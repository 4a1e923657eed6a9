import { createGenerator, type Game } from '@coplay/core';
import { allocateStepArrays } from '@coplay/core/arrays';
import { stagHunt } from '@coplay/envs';
import { createSearch, type SearchNetworks } from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import { only, uniform } from './networks';
import { randomTree, tableGame } from './table-game';

type CoAction = (state: Int32Array, seat: number) => number;

/**
 * The best discounted return from a state, and that of each legal action: every sequence of own actions is played out.
 */
function exhaustive(game: Game<'int32'>, seat: number, gamma: number, coAction: CoAction) {
  const A = game.agents.length;
  const generator = createGenerator(1);
  const known = new Map<string, readonly number[]>();
  const values = (state: Int32Array): readonly number[] => {
    const key = state.join();
    const found = known.get(key) ?? Array.from({ length: game.actions }, (_, action) => worth(state, action));
    known.set(key, found);
    return found;
  };
  function worth(before: Int32Array, action: number): number {
    const mask = new Uint8Array(game.actions);
    game.legal(before, 0, seat, mask, 0);
    if (mask[action] === 0) return Number.NEGATIVE_INFINITY;
    const state = before.slice();
    const actions = Int32Array.from({ length: A }, (_, agent) => (agent === seat ? action : coAction(before, agent)));
    const result = allocateStepArrays(game, 1);
    game.step(state, 0, actions, 0, generator, result, 0);
    const isOver = result.terminated[seat] === 1 || result.truncated[seat] === 1;
    return result.rewards[seat] + (isOver ? 0 : gamma * Math.max(...values(state)));
  }
  return values;
}

/** Co-players who do what a function says, and a focal agent that knows nothing. */
function networksOf(game: Game<'int32'>, coAction: CoAction): SearchNetworks {
  const stateOf = (states: unknown, row: number) =>
    (states as Int32Array).slice(row * game.stateSize, (row + 1) * game.stateSize);
  return {
    ...uniform(game.actions),
    coPlayers: ({ rows, states, seats }) =>
      only(
        game.actions,
        Array.from({ length: rows }, (_, row) => coAction(stateOf(states, row), seats[row])),
      ),
  };
}

async function bestByBoth(game: Game<'int32'>, state: Int32Array, seat: number, coAction: CoAction) {
  const expected = exhaustive(game, seat, 0.9, coAction)(state);
  const search = createSearch({
    game,
    simulations: 6000,
    trees: 1,
    gamma: 0.9,
    exploration: 2,
    truncation: 'terminal',
  });
  const roots = { rows: 1, states: state, seats: Int32Array.of(seat), generator: createGenerator(1) };
  const { q, visits } = await search.search(roots, networksOf(game, coAction));
  const best = Array.from(visits).indexOf(Math.max(...visits));
  return { best, found: q[best], expected, worth: Math.max(...expected) };
}

describe('compared with exhaustive search', () => {
  it('a random tree of three agents: the action tried most is the best one, its Q close to what it is worth', async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const game = tableGame(randomTree(3, 3, 2, createGenerator(seed)));
      const coAction: CoAction = ([place], seat) => (place * 7 + seat) % 3;
      for (const seat of [0, 1, 2]) {
        const { best, found, expected, worth } = await bestByBoth(game, new Int32Array(2), seat, coAction);
        expect(expected[best]).toBe(worth);
        // A mean over visits lies below the best by what was spent on trying others, at most c P sqrt(N) / N' each.
        expect(found).toBeLessThanOrEqual(worth + 1e-6);
        expect(found).toBeGreaterThan(worth - 0.1);
      }
    }
  });

  it.each([
    ['a partner who waits on the stag: go there and hunt it', ['1.h', '...', '.2S'], 5 * 0.9 ** 4],
    ['a partner who never comes: take the hare', ['1.h', '.3.', 'S.2'], 0.9 ** 2],
  ])('a stag hunt on 3x3, %s', async (_, map, worth) => {
    const agents = map.join('').replace(/[^1-8]/g, '').length;
    const game = stagHunt({ size: 3, agents, stags: 1, hares: 1, maxSteps: 8, obstaclePieces: 0 });
    const state = new Int32Array(game.stateSize);
    game.readLayout!(map.join('\n'), state, 0);
    const HUNT = 5;
    const [RIGHT, STAY] = [3, 4];
    // Agent_1 goes to the right where it can, and hunts whenever it stands on the stag; any other stays.
    const coAction: CoAction = (at, seat) => {
      const mask = new Uint8Array(7);
      game.legal(at, 0, seat, mask, 0);
      if (seat !== 1 || agents > 2) return STAY;
      return mask[HUNT] ? HUNT : mask[RIGHT] ? RIGHT : STAY;
    };
    const result = await bestByBoth(game, state, 0, coAction);
    expect(result.worth).toBeCloseTo(worth, 6); // by hand: four moves, then half of 10; two moves, then 1
    expect(result.expected[result.best]).toBe(result.worth);
    expect(result.found).toBeLessThanOrEqual(result.worth + 1e-6); // a mean over what was tried, never above the best
  });
});
