import { createGenerator, type Game } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { createSearch, type SearchNetworks } from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import { noiseOf, only, uniform } from './networks';
import { meanValue, type Reference, referenceSearch } from './reference-search';
import { type Place, randomTree, tableGame } from './table-game';

const one = Int32Array.of(0);
const start = (game: Game<'int32'>) => {
  const state = new Int32Array(game.stateSize);
  game.reset(state, 0, createGenerator(1));
  return state;
};

describe('closed forms', () => {
  /** Three cells in a row; the only way is on, and the last step pays 1 and ends. */
  const corridor: Place[] = [0, 1, 2].map((cell) => ({
    next: [cell === 2 ? -1 : cell + 1],
    rewards: [[cell === 2 ? 1 : 0]],
  }));

  it('a corridor is worth gamma^2: the reward at the end counts once, for any values of the critic elsewhere', async () => {
    const game = tableGame({ agents: 1, actions: 1, places: corridor });
    const search = createSearch({ game, simulations: 4, trees: 2, gamma: 0.5 });
    const roots = { rows: 1, states: start(game), seats: one, generator: createGenerator(1) };
    const { q, values, visits, policy } = await search.search(
      roots,
      uniform(1, ({ states }, row) => states[2 * row]),
    );
    // The paths: to place 1 (critic 1), to place 2 (critic 2), to the end, to the end again.
    const returns = [0.5 * 1, 0.25 * 2, 0.25 * 1, 0.25 * 1];
    expect(q[0]).toBeCloseTo(returns.reduce((a, b) => a + b) / 4, 12);
    expect(values[0]).toBeCloseTo(q[0], 12);
    expect([visits[0], policy[0]]).toEqual([8, 1]);
  });

  it.each([
    ['bootstrap', 0.5 ** 2 * 7],
    ['terminal', 0],
  ] as const)('a time limit is worth the critic there, or nothing: %s', async (truncation, worth) => {
    const game = tableGame({ agents: 1, actions: 1, places: corridor, maxSteps: 2 });
    const search = createSearch({ game, simulations: 8, trees: 1, gamma: 0.5, truncation });
    const roots = { rows: 1, states: start(game), seats: one, generator: createGenerator(1) };
    const { q } = await search.search(
      roots,
      uniform(1, ({ states }, row) => (states[2 * row] === 2 ? 7 : 0)),
    );
    expect(q[0]).toBeCloseTo((7 * worth) / 8, 12); // the first path ends at place 1
  });

  /** (own, other) payoffs (3, 0), (2, 9), (0, 0) three steps away. */
  it('own payoff alone decides: 3 before (2, 9)', async () => {
    const pay = [
      [3, 0],
      [2, 9],
      [0, 0],
    ];
    const nowhere = new Array<readonly number[]>(9).fill([0, 0]);
    const single = [1, 2].map(() => [1, 0, 0]);
    const wait = (next: number): Place => ({ next: new Array<number>(9).fill(next), rewards: nowhere, legal: single });
    const places: Place[] = [
      { next: [1, 1, 1, 2, 2, 2, 3, 3, 3], rewards: nowhere },
      ...[0, 1, 2].map((branch) => wait(4 + branch)),
      ...pay.map(
        (rewards): Place => ({
          next: new Array<number>(9).fill(-1),
          rewards: new Array(9).fill(rewards),
          legal: single,
        }),
      ),
    ];
    const game = tableGame({ agents: 2, actions: 3, places });
    const search = createSearch({ game, simulations: 3000, trees: 1, gamma: 1, exploration: 1, rationality: 20 });
    const roots = { rows: 1, states: start(game), seats: one, generator: createGenerator(1) };
    const { q, policy, visits } = await search.search(roots, uniform(3));
    // A branch is worth its payoff from the third visit on; before, what the critic says: 0.
    pay.forEach(([own], branch) => {
      expect(visits[branch]).toBeGreaterThan(2);
      expect(q[branch]).toBeCloseTo((own * (visits[branch] - 2)) / visits[branch], 9);
    });
    expect(policy[0]).toBeGreaterThan(0.99);
  });

  it('an untried action is worth nothing, or what its state is worth by now: by hand', async () => {
    // Three ends: 1, 4 and 0; the critic says 2 at the root. With P = 1/3 and c = 0.3, c P sqrt(N) / (1 + N(a)) is 0.1
    // sqrt(N) / (1 + N(a)).
    const places: Place[] = [{ next: [-1, -1, -1], rewards: [[1], [4], [0]] }];
    const game = tableGame({ agents: 1, actions: 3, places });
    const found = async (unvisited: 'zero' | 'parent', simulations: number) => {
      const options = { game, unvisited, simulations, trees: 1, gamma: 1, exploration: 0.3 };
      const roots = { rows: 1, states: start(game), seats: one, generator: createGenerator(1) };
      const { visits, q } = await createSearch(options).search(
        roots,
        uniform(3, () => 2),
      );
      return { visits: [...visits], q: [...q] };
    };
    // All scores are equal: the first action. Then zero: 1 + 0.05 to 0 + 0.1, for ever.
    expect(await found('zero', 1)).toEqual({ visits: [1, 0, 0], q: [1, 0, 0] });
    expect(await found('zero', 4)).toEqual({ visits: [4, 0, 0], q: [1, 0, 0] });
    // Parent: the state is worth (2 + 1) / 2 = 1.5, and 1.6 is more than 1.05: the second action.
    expect(await found('parent', 1)).toEqual({ visits: [1, 0, 0], q: [1, 1.5, 1.5] });
    // Then (2 + 1 + 4) / 3, less than 4; and (2 + 1 + 4 + 4) / 4 = 2.75.
    expect(await found('parent', 2)).toEqual({ visits: [1, 1, 0], q: [1, 4, 7 / 3] });
    expect(await found('parent', 3)).toEqual({ visits: [1, 2, 0], q: [1, 4, 2.75] });
  });

  it('a matrix game of one round: the mean over trees, or over visits, is the expected payoff', async () => {
    const payoffs = [
      [4, 0],
      [2, 2],
    ];
    const places: Place[] = [{ next: [-1, -1, -1, -1], rewards: payoffs.flat().map((own) => [own, 0]) }];
    const game = tableGame({ agents: 2, actions: 2, places });
    const others = (rows: number) =>
      Float32Array.from({ length: 2 * rows }, (_, i) => Math.log(i % 2 === 0 ? 0.75 : 0.25));
    const networks: SearchNetworks = { ...uniform(2), coPlayers: ({ rows }) => others(rows) };
    const roots = { rows: 1, states: start(game), seats: one, generator: createGenerator(1) };
    for (const coPlayerSampling of ['perNode', 'perVisit'] as const) {
      const size =
        coPlayerSampling === 'perNode' ? { trees: 4000, simulations: 40 } : { trees: 1, simulations: 40_000 };
      const { q } = await createSearch({ game, coPlayerSampling, exploration: 50, ...size }).search(roots, networks);
      expect(Math.abs(q[0] - 3)).toBeLessThan(0.1); // 4 * 0.75; the deviation of a mean of 4,000 is 0.03
      expect(q[1]).toBeCloseTo(2, 9);
    }
  });

  /** Going (0) meets a coin: 1 with 0.1, else nothing; staying (1) pays 0.2. */
  function coinGame() {
    const places: Place[] = [
      { next: [1, -1], rewards: [[0], [0.2]] },
      { next: [-1, -1], rewards: [[0], [0]] },
      { next: [-1, -1], rewards: [[1], [1]] },
    ];
    const chance = (next: number, generator: { uniform(): number }) => (generator.uniform() < 0.1 ? 2 : next);
    return tableGame({ agents: 1, actions: 2, places, chance });
  }

  it('a coin in the rules, drawn in each visit: an action is worth the expectation', async () => {
    const game = coinGame();
    const search = createSearch({
      game,
      coPlayerSampling: 'perVisit',
      simulations: 20_000,
      trees: 1,
      gamma: 1,
      exploration: 100,
    });
    const roots = { rows: 1, states: start(game), seats: one, generator: createGenerator(1) };
    const { q, visits } = await search.search(roots, uniform(2));
    expect(visits[0]).toBeGreaterThan(8000);
    expect(Math.abs(q[0] - 0.1)).toBeLessThan(0.02); // deviation 0.3 / sqrt(8000) = 0.003
    expect(q[1]).toBeCloseTo(0.2, 6);
  });

  it('drawn once in a node a tree takes the draw for certain; over trees it evens out in Q, not in what the root seems worth', async () => {
    const game = coinGame();
    const search = createSearch({ game, simulations: 300, trees: 4000, gamma: 1, exploration: 0.3 });
    const roots = { rows: 1, states: start(game), seats: one, generator: createGenerator(1) };
    const { q, values } = await search.search(roots, uniform(2));
    expect(Math.abs(q[0] - 0.1)).toBeLessThan(0.02); // deviation 0.3 / sqrt(4000) = 0.005
    expect(values[0]).toBeGreaterThan(0.25); // a tenth of the trees take the 1, the others 0.2: towards 0.28
  });
});

describe('compared with the plainest search', () => {
  /** Prior, value and co-players by hash. */
  function reference(game: Game<'int32'>, seat: number): Reference {
    return {
      game,
      seat,
      gamma: 0.9,
      exploration: 1.3,
      evaluate: (state) => ({
        logits: Array.from({ length: game.actions }, (_, k) => noiseOf(k, ...state)),
        value: noiseOf(50, ...state),
      }),
      coAction: (state, other) => {
        const mask = new Uint8Array(game.actions);
        game.legal(state, 0, other, mask, 0);
        const legal = Array.from(mask.keys()).filter((k) => mask[k] === 1);
        return legal[Math.floor(((noiseOf(77, other, ...state) + 1) / 2) * legal.length)];
      },
    };
  }

  function networksOf({ game, evaluate, coAction }: Reference): SearchNetworks {
    const stateOf = (states: unknown, row: number) =>
      (states as Int32Array).slice(row * game.stateSize, (row + 1) * game.stateSize);
    return {
      focal: ({ rows, states }) => {
        const answers = Array.from({ length: rows }, (_, row) => evaluate(stateOf(states, row)));
        return {
          logits: Float32Array.from(answers.flatMap(({ logits }) => logits)),
          values: Float32Array.from(answers, ({ value }) => value),
        };
      },
      coPlayers: ({ rows, states, seats }) =>
        only(
          game.actions,
          Array.from({ length: rows }, (_, row) => coAction(stateOf(states, row), seats[row])),
        ),
    };
  }

  const games: [string, Game<'int32'>][] = [
    ['a random tree of two agents', tableGame(randomTree(2, 3, 3, createGenerator(1)))],
    ['a random tree of three agents', tableGame(randomTree(3, 2, 3, createGenerator(2)))],
    ['a stag hunt on 3x3', stagHunt({ size: 3, agents: 3, stags: 1, hares: 2, maxSteps: 6 })],
    ['a stag hunt on 8x8', stagHunt({ size: 8, agents: 4, stags: 1, hares: 4, maxSteps: 12 })],
  ];

  const both = ['zero', 'parent'] as const;
  const cases = games.flatMap(([name, game]) => both.map((unvisited) => ({ name, game, unvisited })));
  it.each(cases)(
    '$name, unvisited $unvisited: the same visits and values, per node and per visit',
    async ({ game, unvisited }) => {
      for (const seat of game.agents.keys()) {
        const setup = { ...reference(game, seat), unvisited };
        const state = start(game);
        const root = referenceSearch(setup, state, 300);
        const untried = unvisited === 'parent' ? meanValue(root) : 0;
        for (const coPlayerSampling of ['perNode', 'perVisit'] as const) {
          const options = { coPlayerSampling, unvisited, simulations: 300, trees: 1, gamma: 0.9, exploration: 1.3 };
          const roots = { rows: 1, states: state, seats: Int32Array.of(seat), generator: createGenerator(5) };
          const { visits, q } = await createSearch({ game, ...options }).search(roots, networksOf(setup));
          expect(Array.from(visits)).toEqual(root.edges.map((edge) => edge.visits));
          root.edges.forEach(({ sum, visits: count }, k) => {
            const ifUntried = root.priors[k] < 0 ? 0 : untried;
            expect(q[k]).toBeCloseTo(count ? sum / count : ifUntried, 6);
          });
        }
      }
    },
  );
});
