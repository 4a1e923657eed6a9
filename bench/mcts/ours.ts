import { createGenerator, ndarray, rulesSimulator, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { createSearch, observeRows, type SearchRoots } from '@coplay/planning';
import { type BenchNetworks, GOALS, inputsOf } from './networks';
import { questions } from './questions';
import { Stopwatch } from './stopwatch';

/**
 * The task of all contestants: MSH 8x8 without obstacles, 4 agents x 5 trees in each of E environments at its start.
 */
export const GAME = stagHunt({ size: 8, agents: 4, stags: 1, hares: 4, obstaclePieces: 0 });
export const TREES = 5;

/** One way to search. */
export interface Mode {
  readonly name: string;
  /** Rows in a simulation: of the agent itself, or of three co-players too. */
  readonly rows: 1 | 4;
  readonly share: boolean;
  /** Whether the networks' parameters are constants; else variables. */
  readonly isFixed: boolean;
}

/** All of them; the peers correspond to the first. */
export const MODES: readonly Mode[] = [
  { name: 'one row', rows: 1, share: false, isFixed: true },
  { name: 'one row, shared', rows: 1, share: true, isFixed: true },
  { name: 'one row, in training', rows: 1, share: false, isFixed: false },
  { name: 'four rows', rows: 4, share: false, isFixed: true },
  { name: 'four rows, shared', rows: 4, share: true, isFixed: true },
];

/** A search's own counters. */
export interface Search {
  /** Searches from every root. */
  run(): Promise<void>;
  /** Microseconds of a simulation by part, of the last run: networks, observations, rules, and the rest. */
  split(): Readonly<Record<string, number>>;
  /**
   * Share of the states asked about that went to a network in the last run, and rows per simulation, padding included.
   */
  shares(): Readonly<Record<string, number>>;
  /** Only the networks' work in a search: as many calls, of as many rows. */
  runNetworks(): Promise<void>;
}

/** Makes a search for E environments. */
export function ourSearch({ rows, share }: Mode, made: BenchNetworks, envs: number, simulations: number): Search {
  const watch = new Stopwatch();
  const rules = rulesSimulator(GAME);
  const simulator: typeof rules = {
    game: GAME,
    step(states, actions, generator, result) {
      const start = performance.now();
      void rules.step(states, actions, generator, result); // synchronous for the rules
      watch.add('rules', start);
    },
  };
  const search = createSearch({ game: GAME, simulator, simulations, trees: TREES, cacheAnswers: share });
  const roots = rootsOf(envs);
  const trees = roots.rows * TREES;
  const { focal, coPlayers } = questions(GAME, made, trees, share, watch);
  const networks = rows === 1 ? { focal } : { focal, coPlayers };
  const one = repeated(roots, TREES).inputs;
  const three = repeated(roots, 3 * TREES);
  const others = { ...three.inputs, ...three.goals };
  let split: Readonly<Record<string, number>> = {};
  let shares: Readonly<Record<string, number>> = {};
  return {
    async run() {
      search.forget();
      watch.reset();
      const before = search.counts;
      const start = performance.now();
      await search.search(roots, networks);
      const per = (milliseconds: number) => (milliseconds * 1000) / (trees * simulations);
      const { rules: steps, observe, network } = watch.times;
      const rest = performance.now() - start - steps - observe - network;
      split = { network: per(network), observe: per(observe), rules: per(steps), 'select, backup, draws': per(rest) };
      const { focalEvaluated, focalRequests, coPlayerEvaluated, coPlayerRequests } = search.counts;
      shares = {
        'focal rows': (focalEvaluated - before.focalEvaluated) / (focalRequests - before.focalRequests),
        ...(rows === 4 && {
          'co-player rows':
            (coPlayerEvaluated - before.coPlayerEvaluated) / (coPlayerRequests - before.coPlayerRequests),
        }),
        'rows per simulation': watch.rows / (trees * simulations),
      };
    },
    split: () => split,
    shares: () => shares,
    async runNetworks() {
      const calls = [() => made.focal(one), ...(rows === 4 ? [() => made.coPlayers(others)] : [])];
      for (let i = 0; i < simulations; i++) await Promise.all(calls.map((call) => call()));
    },
  };
}

/** Every agent of every environment at the start of its first episode. */
function rootsOf(envs: number): SearchRoots {
  const A = GAME.agents.length;
  const env = vectorEnv(GAME, { envs, seed: 1 });
  const rows = envs * A;
  const all = new Int32Array(rows * GAME.stateSize);
  for (let row = 0; row < rows; row++) {
    const from = Math.floor(row / A) * GAME.stateSize;
    all.set((env.states as Int32Array).subarray(from, from + GAME.stateSize), row * GAME.stateSize);
  }
  const beliefs = new Float64Array(rows * A * GOALS).fill(0.5);
  return {
    rows,
    states: all,
    seats: Int32Array.from({ length: rows }, (_, i) => i % A),
    beliefs,
    generator: createGenerator(1),
  };
}

/** Inputs of a network for each root `times` times, with room for the goals of co-players. */
function repeated({ rows, states, seats }: SearchRoots, times: number) {
  const count = rows * times;
  const all = new Int32Array(count * GAME.stateSize);
  for (let i = 0; i < times; i++) all.set(states as Int32Array, i * states.length);
  const asked = { rows: count, states: all, seats: Int32Array.from({ length: count }, (_, i) => seats[i % rows]) };
  const { observations, masks } = observeRows(GAME, asked);
  const goals = { goals: ndarray(new Int32Array(count)), mask: ndarray(masks, [count, GAME.actions]) };
  return { inputs: inputsOf(GAME, observations, count), goals };
}
