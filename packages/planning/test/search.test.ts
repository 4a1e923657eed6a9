import { createGenerator, type Game, type Generator, rulesSimulator, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import {
  createSearch,
  type LeafRows,
  type SearchNetworks,
  type SearchOptions,
  type SearchResult,
  type SearchRoots,
} from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import { hashed, noiseOf, uniform } from './networks';
import { type Place, tableGame } from './table-game';

const hunt = stagHunt({ size: 5, agents: 3, stags: 1, hares: 2, maxSteps: 10 });

/** R states of a game somewhere in its first episode, and seats 0, 1, 2, 0, ... */
function somewhere(game: Game<'int32'>, rows: number, generator: SearchRoots['generator']): SearchRoots {
  const env = vectorEnv(game, { envs: rows, seed: 3 });
  const seats = Int32Array.from({ length: rows }, (_, i) => i % game.agents.length);
  return { rows, states: (env.states as Int32Array).slice(), seats, generator };
}

const generators = (count: number): Generator[] => Array.from({ length: count }, (_, i) => createGenerator(i + 1));
const netsOf = (game: Game<'int32'>) => hashed(game.actions, game.stateSize);
const run = (options: Omit<SearchOptions, 'game'>, roots: SearchRoots, networks: SearchNetworks = netsOf(hunt)) =>
  createSearch({ game: hunt, simulations: 60, trees: 3, ...options }).search(roots, networks);

/** One root's part of a result, or of the arrays of roots. */
function part(result: SearchResult, root: number): unknown[] {
  const K = result.policy.length / result.actions.length;
  const cut = (array: Float32Array | Float64Array | Int32Array) => Array.from(array.subarray(root * K, (root + 1) * K));
  return [cut(result.policy), cut(result.q), cut(result.visits), result.values[root], result.actions[root]];
}

describe('determinism', () => {
  it.each(['perNode', 'perVisit'] as const)(
    'the same seed gives the same bits, another one others: sampling %s',
    async (coPlayerSampling) => {
      const beliefs = new Float64Array(4 * 3 * 2).fill(0.5);
      const again = async (seed: number) =>
        run({ coPlayerSampling }, { ...somewhere(hunt, 4, createGenerator(seed)), beliefs });
      const first = await again(1);
      expect(await again(1)).toEqual(first);
      expect((await again(2)).q).not.toEqual(first.q);
    },
  );

  it('a root with its own generator finds the same, with any other roots and at any place among them', async () => {
    const roots = somewhere(hunt, 5, generators(5));
    const all = await run({}, roots);
    const order = [3, 0, 4];
    const S = hunt.stateSize;
    const picked = await run(
      {},
      {
        rows: 3,
        states: Int32Array.from(order.flatMap((i) => Array.from(roots.states.subarray(i * S, (i + 1) * S)))),
        seats: Int32Array.from(order, (i) => roots.seats[i]),
        generator: order.map((i) => createGenerator(i + 1)),
      },
    );
    order.forEach((from, to) => {
      expect(part(picked, to)).toEqual(part(all, from));
    });
  });

  it('memory that is used again leaves no trace: large, small, and large searches of one object', async () => {
    const search = createSearch({ game: hunt, simulations: 30, trees: 2 });
    const small = await search.search(somewhere(hunt, 2, createGenerator(1)), netsOf(hunt));
    const large = await search.search(somewhere(hunt, 9, createGenerator(2)), netsOf(hunt));
    expect(await search.search(somewhere(hunt, 2, createGenerator(1)), netsOf(hunt))).toEqual(small);
    expect(await search.search(somewhere(hunt, 9, createGenerator(2)), netsOf(hunt))).toEqual(large);
  });

  it('searches that are asked for at once run one after the other', async () => {
    const search = createSearch({ game: hunt, simulations: 20, trees: 2 });
    const both = await Promise.all(
      [1, 2].map((seed) => search.search(somewhere(hunt, 3, createGenerator(seed)), netsOf(hunt))),
    );
    for (const seed of [1, 2]) {
      expect(both[seed - 1]).toEqual(
        await run({ simulations: 20, trees: 2 }, somewhere(hunt, 3, createGenerator(seed))),
      );
    }
  });
});

describe('shared evaluations', () => {
  /** Networks that write down every different question. */
  function noting(networks: SearchNetworks) {
    const focal = new Set<string>();
    const coPlayers = new Set<string>();
    const note = (into: Set<string>, { rows, states, seats, players }: LeafRows, goals?: Int32Array) => {
      const S = hunt.stateSize;
      for (let row = 0; row < rows; row++) {
        into.add([seats[row], players[row], goals?.[row], ...states.subarray(row * S, (row + 1) * S)].join());
      }
    };
    const noted: SearchNetworks = {
      focal: (rows) => {
        note(focal, rows);
        return networks.focal(rows);
      },
      coPlayers: (rows) => {
        note(coPlayers, rows, rows.goals);
        return networks.coPlayers!(rows);
      },
    };
    return { noted, focal, coPlayers };
  }

  it.each(['perNode', 'perVisit'] as const)(
    'give the same as unshared ones, each question once: sampling %s',
    async (coPlayerSampling) => {
      const beliefs = Float64Array.from({ length: 6 * 3 * 2 }, (_, i) => (i % 2 ? 0.7 : 0.3));
      const roots = () => ({ ...somewhere(hunt, 6, createGenerator(1)), beliefs });
      const [shared, unshared] = [true, false].map((cacheAnswers) =>
        createSearch({ game: hunt, coPlayerSampling, cacheAnswers, simulations: 60 }),
      );
      const { noted, focal, coPlayers } = noting(netsOf(hunt));
      expect(await shared.search(roots(), netsOf(hunt))).toEqual(await unshared.search(roots(), noted));
      expect(shared.counts.focalRequests).toBe(unshared.counts.focalEvaluated);
      expect(shared.counts.coPlayerRequests).toBe(unshared.counts.coPlayerEvaluated);
      expect(shared.counts.focalEvaluated).toBe(focal.size);
      expect(shared.counts.coPlayerEvaluated).toBe(coPlayers.size);
      expect(focal.size).toBeLessThan(unshared.counts.focalEvaluated);
      expect(coPlayers.size).toBeLessThan(unshared.counts.coPlayerEvaluated);
    },
  );

  it('ask nothing twice until they are forgotten', async () => {
    const search = createSearch({ game: hunt, simulations: 40, trees: 2 });
    const roots = () => somewhere(hunt, 3, createGenerator(1));
    await search.search(roots(), netsOf(hunt));
    const { focalEvaluated } = search.counts;
    await search.search(roots(), netsOf(hunt));
    expect(search.counts.focalEvaluated).toBe(focalEvaluated);
    search.forget();
    await search.search(roots(), netsOf(hunt));
    expect(search.counts.focalEvaluated).toBe(2 * focalEvaluated);
  });

  it('begin anew where a search begins above the capacity', async () => {
    const search = createSearch({ game: hunt, simulations: 40, trees: 2, capacity: 10 });
    const roots = () => somewhere(hunt, 3, createGenerator(1));
    const first = await search.search(roots(), netsOf(hunt));
    const { focalEvaluated } = search.counts;
    expect(await search.search(roots(), netsOf(hunt))).toEqual(first);
    expect(search.counts.focalEvaluated).toBe(2 * focalEvaluated);
  });

  it('keep players with weights of their own apart, in one call', async () => {
    const players = Int32Array.of(7, 8, 7);
    const roots = { ...somewhere(hunt, 1, generators(1)), rows: 3, seats: Int32Array.of(0, 0, 0), players };
    const states = Int32Array.from([...roots.states, ...roots.states, ...roots.states]);
    const seeds = [1, 1, 1].map((seed) => createGenerator(seed));
    const together = await run({}, { ...roots, states, generator: seeds });
    expect(part(together, 2)).toEqual(part(together, 0));
    expect(part(together, 1)).not.toEqual(part(together, 0));
    const alone = { ...somewhere(hunt, 1, generators(1)), players: Int32Array.of(8) };
    expect(part(await run({}, alone), 0)).toEqual(part(together, 1));
  });

  it('work on states whose bytes are no whole words', async () => {
    const small = gameOfBytes();
    const roots = { rows: 2, states: new Uint8Array(6), seats: Int32Array.of(0, 0), generator: createGenerator(1) };
    const networks = (): SearchNetworks =>
      uniform(2, ({ states }, row) => noiseOf(states[3 * row], states[3 * row + 1]));
    const results = [true, false].map((cacheAnswers) =>
      createSearch({ game: small, cacheAnswers, simulations: 30 }).search(roots, networks()),
    );
    expect(await results[0]).toEqual(await results[1]);
  });
});

/** Each action doubles a number, and adds itself. */
function gameOfBytes(): Game<'uint8'> {
  return {
    name: 'bytes',
    agents: ['agent_0'],
    actions: 2,
    actionNames: ['zero', 'one'],
    observation: { number: { shape: [], dtype: 'int32' } },
    stateSize: 3,
    maxSteps: 6,
    infos: [],
    options: {},
    stateType: 'uint8',
    isActive: () => true,
    reset: (state, offset) => state.fill(0, offset, offset + 3),
    step(state, offset, actions, from, _generator, result, row) {
      state[offset] = 2 * state[offset] + actions[from];
      state[offset + 1]++;
      result.rewards[row] = 0;
      result.terminated[row] = 0;
      result.truncated[row] = state[offset + 1] >= 6 ? 1 : 0;
    },
    legal: (_state, _offset, _agent, mask, at) => mask.fill(1, at, at + 2),
    observe: () => {},
    elapsed: (state, offset) => state[offset + 1],
  };
}

describe('simulators', () => {
  it('the rules as a simulator find what the rules find', async () => {
    const roots = () => somewhere(hunt, 4, createGenerator(1));
    for (const coPlayerSampling of ['perNode', 'perVisit'] as const) {
      expect(await run({ coPlayerSampling, simulator: rulesSimulator(hunt) }, roots())).toEqual(
        await run({ coPlayerSampling }, roots()),
      );
    }
  });

  it('get exactly the rows that are to be stepped, and may take their time', async () => {
    const rules = rulesSimulator(hunt);
    const sizes: number[] = [];
    const simulator = {
      game: hunt,
      async step(...[states, actions, generator, result]: Parameters<typeof rules.step>) {
        sizes.push(states.length / hunt.stateSize);
        expect(actions.length).toBe(3 * sizes[sizes.length - 1]);
        expect(result.rewards.length).toBe(actions.length);
        await Promise.resolve();
        await rules.step(states, actions, generator, result);
      },
    };
    const roots = () => somewhere(hunt, 4, createGenerator(1));
    expect(await run({ simulator }, roots())).toEqual(await run({}, roots()));
    expect(sizes[0]).toBe(12);
  });
});

describe('renamed agents', () => {
  /** A stag hunt's state with agent i of it as agent (i + by) % A. */
  function rotated(game: Game<'int32'>, states: Int32Array, by: number): Int32Array {
    const A = game.agents.length;
    const grid = game.grid!;
    const parts = {
      cells: new Int32Array(A),
      things: new Uint8Array(200),
      fixed: new Uint8Array(100),
      elapsed: new Int32Array(1),
    };
    const turned = new Int32Array(game.stateSize);
    grid.read(states, 0, parts, 0);
    const cells = parts.cells.slice();
    cells.forEach((cell, i) => {
      parts.cells[(i + by) % A] = cell;
    });
    grid.write(parts, 0, turned, 0);
    return turned;
  }

  it.each(['perNode', 'perVisit'] as const)(
    'find the same when seats turn in a circle: sampling %s',
    async (coPlayerSampling) => {
      const { actions: K, observation } = hunt;
      const size = observation['planes'].shape.reduce((a, b) => a * b);
      const seen = { planes: new Uint8Array(size), time: new Float32Array(1) };
      // Networks that see what an agent sees, and not which seat it has.
      const look = (states: unknown, row: number, seat: number) => {
        hunt.observe(states as Int32Array, row * hunt.stateSize, seat, seen, 0);
        return [...seen.planes, Math.round(10 * seen.time[0])];
      };
      const logitsOf = (rows: { rows: number; states: unknown; seats: Int32Array }, salt: number) =>
        Float32Array.from({ length: rows.rows * K }, (_, i) => {
          const row = Math.floor(i / K);
          return noiseOf(salt, i % K, ...look(rows.states, row, rows.seats[row]));
        });
      const networks: SearchNetworks = {
        focal: (rows) => ({
          logits: logitsOf(rows, 1),
          values: Float32Array.from(rows.seats, (seat, row) => noiseOf(2, ...look(rows.states, row, seat))),
        }),
        coPlayers: (rows) => logitsOf(rows, 3),
      };
      const states = somewhere(hunt, 1, createGenerator(1)).states as Int32Array;
      const results: SearchResult[] = [];
      for (let by = 0; by < 3; by++) {
        const roots = {
          rows: 1,
          states: rotated(hunt, states, by),
          seats: Int32Array.of(by),
          generator: createGenerator(4),
        };
        results.push(await run({ coPlayerSampling }, roots, networks));
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    },
  );
});

describe('goals and previous actions', () => {
  const still: Place[] = [{ next: new Array<number>(8).fill(0), rewards: new Array(8).fill([0, 0, 0]) }];
  const game = tableGame({ agents: 3, actions: 2, places: still });

  it('goals are drawn from the beliefs, one for each tree and co-player', async () => {
    const seen = new Map<string, number>();
    const networks: SearchNetworks = {
      ...uniform(2),
      coPlayers: ({ rows, seats, goals }) => {
        seats.forEach((seat, row) => {
          const key = `${seat}: ${goals[row]}`;
          seen.set(key, (seen.get(key) ?? 0) + 1);
        });
        return new Float32Array(2 * rows);
      },
    };
    const search = createSearch({ game, simulations: 0, trees: 4000, cacheAnswers: false });
    const beliefs = Float64Array.of(1, 0, 0.25, 0.75, 0, 0);
    await search.search(
      { rows: 1, states: new Int32Array(2), seats: Int32Array.of(0), beliefs, generator: createGenerator(1) },
      networks,
    );
    expect([...seen.keys()].sort()).toEqual(['1: 0', '1: 1', '2: -1']); // of agent_2 no goal is left
    expect(Math.abs(seen.get('1: 0')! / 4000 - 0.25)).toBeLessThan(0.03);
  });

  it('the goals of each root are drawn from its own beliefs', async () => {
    const seen: string[] = [];
    const networks: SearchNetworks = {
      ...uniform(2),
      coPlayers: ({ rows, seats, goals, states }) => {
        seats.forEach((seat, row) => {
          seen.push(`root ${states[2 * row + 1]}, seat ${seat}: ${goals[row]}`);
        });
        return new Float32Array(2 * rows);
      },
    };
    const search = createSearch({ game, simulations: 0, trees: 1, cacheAnswers: false });
    // Two roots, told apart by the step count in their states. Every belief is certain.
    const beliefs = Float64Array.of(0, 0, 1, 0, 0, 1, /* second root */ 0, 0, 0, 1, 1, 0);
    const states = Int32Array.of(0, 0, 0, 1);
    const seats = Int32Array.of(0, 0);
    await search.search({ rows: 2, states, seats, beliefs, generator: createGenerator(1) }, networks);
    expect(seen.sort()).toEqual(['root 0, seat 1: 0', 'root 0, seat 2: 1', 'root 1, seat 1: 1', 'root 1, seat 2: 0']);
  });

  it('rows say what everyone did before, where networks read it', async () => {
    const rows: number[][] = [];
    const networks: SearchNetworks = {
      focal: ({ rows: n, previousActions }) => {
        rows.push(Array.from(previousActions!));
        return { logits: Float32Array.of(0, 1), values: new Float32Array(n) };
      },
      coPlayers: ({ rows: n, seats }) =>
        Float32Array.from({ length: 2 * n }, (_, i) => (i % 2 === seats[i >> 1] - 1 ? 0 : -100)),
    };
    const search = createSearch({ game, simulations: 1, trees: 1, networkInputs: { previousActions: true } });
    const roots = { rows: 1, states: new Int32Array(2), seats: Int32Array.of(0), generator: createGenerator(1) };
    await search.search({ ...roots, previousActions: Int32Array.of(1, 0, -1) }, networks);
    expect(rows).toEqual([
      [1, 0, -1],
      [1, 0, 1], // the likelier action of its own, then what each co-player always does
    ]);
  });
});
