import {
  type Game,
  gameContract,
  type ParallelEnv,
  parallelEnv,
  splitSeed,
  type VectorEnv,
  vectorEnv,
} from '@coplay/core';
import {
  cartPole,
  catchGame,
  gymEscalation,
  gymHarvest,
  gymHunt,
  levelForaging,
  limitedView,
  matrixGame,
  overcooked,
  permuteSeats,
  remakeGame,
  simpleSpread,
  snowdrift,
  stagHunt,
  timeLimit,
  withPreviousActions,
} from '@coplay/envs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const games: Game[] = [
  matrixGame({ maxSteps: 6 }),
  cartPole({ maxSteps: 15 }),
  catchGame(),
  gymHunt({ maxSteps: 12 }),
  gymHarvest({ maxSteps: 12 }),
  gymEscalation({ rows: 2, columns: 2, maxSteps: 12 }),
  stagHunt({ size: 6, maxSteps: 12, preyMoves: 0.5 }),
  stagHunt({ size: 1, agents: 1, stags: 0, hares: 0, maxSteps: 3 }),
  snowdrift({ size: 6, maxSteps: 12, obstaclePieces: 2 }),
  snowdrift({ size: 2, agents: 2, drifts: 2, maxSteps: 20 }),
  overcooked({ layout: 'coordination-ring', maxSteps: 12 }),
  levelForaging({ size: 5, agents: 3, maxSteps: 12, sight: 1 }),
  permuteSeats(simpleSpread({ agents: 2, maxSteps: 12 })),
  permuteSeats(limitedView(snowdrift({ size: 3, agents: 3, drifts: 2, maxSteps: 12 }), 1)),
  permuteSeats(withPreviousActions(limitedView(timeLimit(stagHunt({ size: 4 }), 10), 1))),
  permuteSeats(withPreviousActions(stagHunt({ size: 2, agents: 1, stags: 0, hares: 2, maxSteps: 5 }))),
];
const named = games.map((game) => [`${game.name} ${JSON.stringify(game.options).slice(0, 60)}`, game] as const);

it.each(named)('%s is made again from its description', (_, game) => {
  const { name, options, agents, actions, observation, stateSize } = game;
  const again = remakeGame(JSON.parse(JSON.stringify({ name, options })));
  expect(again).toMatchObject({ name, options, agents, actions, observation, stateSize });
});

/** Some legal action for every agent of one environment of a batch. */
function legalActions({ game, masks }: VectorEnv, env: number, t: number): number[] {
  return game.agents.map((_, agent) => {
    const row = env * game.agents.length + agent;
    const legal = game.actionNames.flatMap((_, k) => (masks[row * game.actions + k] === 1 ? [k] : []));
    return legal[(7 * t + 3 * agent + env) % legal.length];
  });
}

/** Compares what an environment of a batch shows with what a single one returned. */
function expectSame(
  batch: VectorEnv,
  env: number,
  observations: ReturnType<ParallelEnv['reset']>['observations'],
): void {
  const { game } = batch;
  for (const [id, { mask, ...fields }] of Object.entries(observations)) {
    const row = env * game.agents.length + game.agents.indexOf(id);
    expect(batch.masks.subarray(row * game.actions, (row + 1) * game.actions)).toEqual(mask);
    for (const [name, values] of Object.entries(fields)) {
      const seen = batch.observations[name].subarray(row * values.length, (row + 1) * values.length);
      expect(Array.from(seen), name).toEqual(Array.from(values));
    }
  }
}

describe('every game', () => {
  it.each(named)('%s keeps the contract', (_, game) => {
    expect(gameContract(game, { episodes: 4, seed: 9, allocation: false })).toEqual([]);
  });

  it.each(named)('%s plays in a batch as alone, over several episodes', (_, game) => {
    const batch = vectorEnv(game, { envs: 3, seed: 21 });
    const singles = [0, 1, 2].map((i) => parallelEnv(game, { seed: splitSeed(21, i) }));
    singles.forEach((env, i) => {
      expectSame(batch, i, env.reset().observations);
    });
    let episodes = 0;
    for (let t = 0; t < 40; t++) {
      const actions = singles.map((_, i) => legalActions(batch, i, t));
      batch.step(Int32Array.from(actions.flat()));
      singles.forEach((env, i) => {
        const step = env.step(Object.fromEntries(env.agents.map((id) => [id, actions[i][game.agents.indexOf(id)]])));
        for (const [id, reward] of Object.entries(step.rewards)) {
          expect(batch.result.rewards[i * game.agents.length + game.agents.indexOf(id)]).toBe(reward);
        }
        const isOver = env.agents.length === 0;
        expect(batch.ended[i] === 1).toBe(isOver);
        if (isOver) episodes++;
        expectSame(batch, i, isOver ? env.reset().observations : step.observations);
      });
    }
    expect(episodes).toBeGreaterThan(3);
  });
});

describe('games of any size', () => {
  const board = {
    rows: fc.integer({ min: 1, max: 4 }),
    columns: fc.integer({ min: 3, max: 5 }),
    maxSteps: fc.constant(8),
  };
  const quick = { episodes: 1, allocation: false };
  const plants = (rows: number, columns: number, share: number) => Math.floor(share * (rows * columns - 3));
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  it('gymHunt', () => {
    fc.assert(
      fc.property(
        fc.record({ ...board, share, stagFollows: fc.boolean(), runsAwayAfterMaul: fc.boolean() }),
        (settings) => {
          const { share, ...options } = settings;
          const game = gymHunt({ ...options, plants: plants(options.rows, options.columns, share) });
          expect(gameContract(game, quick)).toEqual([]);
        },
      ),
      { numRuns: 12, seed: 1 },
    );
  });

  it('gymHarvest', () => {
    fc.assert(
      fc.property(fc.record({ ...board, share, chanceToMature: share, chanceToDie: share }), (settings) => {
        const { share, ...options } = settings;
        const rows = options.rows + 1;
        const game = gymHarvest({ ...options, rows, plants: Math.max(1, plants(rows, options.columns, share)) });
        expect(gameContract(game, quick)).toEqual([]);
      }),
      { numRuns: 12, seed: 2 },
    );
  });

  it('matrixGame: what it pays is in the table, and mirrored players earn mirrored payoffs', () => {
    const payoff = fc.integer({ min: -9, max: 9 });
    const tables = fc
      .integer({ min: 1, max: 4 })
      .chain((K) => fc.array(fc.array(payoff, { minLength: K, maxLength: K }), { minLength: K, maxLength: K }));
    fc.assert(
      fc.property(tables, fc.nat(), fc.nat(), (payoffs, a, b) => {
        const env = parallelEnv(matrixGame({ payoffs }));
        const first = a % payoffs.length;
        const second = b % payoffs.length;
        env.reset();
        const { rewards } = env.step({ agent_0: first, agent_1: second });
        expect(rewards).toEqual({ agent_0: payoffs[first][second], agent_1: payoffs[second][first] });
        const mirrored = env.step({ agent_0: second, agent_1: first }).rewards;
        expect(mirrored).toEqual({ agent_0: rewards['agent_1'], agent_1: rewards['agent_0'] });
      }),
      { numRuns: 50, seed: 3 },
    );
  });
});
