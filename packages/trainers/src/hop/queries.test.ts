import { createGenerator, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import type { CoPlayerRows } from '@coplay/planning';
import { useBackend } from '@coplay/tensor';
import { beforeAll, expect, it } from 'vitest';
import { HopLearner } from './learner';
import { networkQueries } from './queries';
import { hopSetup } from './setup';

beforeAll(async () => {
  await useBackend('wasm');
});

it.each(['auto', 'eager'] as const)(
  'co-players evaluated together have the same predictions as each alone: %s',
  async (executor) => {
    const game = stagHunt({ size: 3, agents: 3, stags: 1, hares: 1 });
    const network = mlp({ hidden: [8] });
    const moa = { network, share: false, previousActions: true };
    const learner = new HopLearner(hopSetup('test', ['agent_0'], { game, network, moa, executor }));
    await learner.initialise(createGenerator(1));
    const rows = 7;
    const states = vectorEnv(game, { envs: rows, seed: 2 }).states as Int32Array;
    const actions = (row: number) => [row % 6, (row + 1) % 6, (row + 2) % 6];
    /** Some of the rows, of seats 2, 1, 2, 1, ... */
    const some = (places: readonly number[]): CoPlayerRows => {
      const S = game.stateSize;
      const seats = Int32Array.from(places, (row) => 2 - (row % 2));
      return {
        ...{ rows: places.length, seats, players: seats },
        states: Int32Array.from(places.flatMap((row) => [...states.subarray(row * S, (row + 1) * S)])),
        goals: Int32Array.from(places, (row) => row % 2),
        previousActions: Int32Array.from(places.flatMap(actions)),
      };
    };
    const { coPlayers } = networkQueries(learner, 0);
    const all = [...new Array(rows).keys()];
    const together = await coPlayers(some(all));
    const K = game.actions;
    for (const row of all) {
      const alone = await coPlayers(some([row]));
      const own = together.subarray(row * K, (row + 1) * K);
      own.forEach((value, k) => void expect(value).toBeCloseTo(alone[k], 5));
    }
    learner.dispose();
  },
);
