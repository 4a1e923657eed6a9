import { type ActionSpaces, box, type NamedArrays } from '@coplay/core';
import { pendulum, randomAgent } from '@coplay/envs';
import { useBackend } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { type DreamerAgent, dreamerAgent, selfPlay, sharedDreamerAgents } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { mixedGame } from '../../core/test/mixed-game';

const game = mixedGame();
const settings = { size: 'debug', batchSize: 2, sequenceLength: 4, horizon: 3 } as const;

beforeAll(async () => {
  await useBackend('wasm');
  useThreads(1); // no trials
});

const learners = (executor: 'auto' | 'eager' = 'auto') =>
  game.agents.map((id) => dreamerAgent({ game, id, ...settings, executor }));

const make = (agents: readonly DreamerAgent<ActionSpaces>[]) =>
  selfPlay({ game, agents, envs: 2, steps: 5, seed: 3, onRollout: ({ actions }) => void rollouts.push(actions) });

/** Actions [E, T, A, W] of all rollouts since they were last forgotten. */
const rollouts: ArrayLike<number>[] = [];

interface Saved {
  readonly replay: { readonly buffer: { readonly rows: NamedArrays } };
}

/** The replay's rows, stream after stream. */
async function recorded({ learner }: DreamerAgent<ActionSpaces>): Promise<NamedArrays> {
  return ((await learner.state()) as unknown as Saved).replay.buffer.rows;
}

describe('Dreamer in a game with a space for each agent', () => {
  it('keeps what led to each record: numbers from -1 to 1, and choices', async () => {
    rollouts.length = 0;
    const agents = learners();
    const run = make(agents);
    await run.train({ envSteps: 10 }); // an episode in each of two environments
    const [actions] = rollouts;
    const at = (env: number, t: number, seat: number, i: number) => actions[((env * 5 + t) * 3 + seat) * 2 + i];
    const [walker, arm, clerk] = await Promise.all(agents.map(recorded));
    const rowsOf = ({ data }: NamedArrays[string], width: number, stream: number, capacity: number, count: number) =>
      Array.from({ length: count }, (_, r) => {
        const start = (stream * capacity + r) * width;
        return [...data.subarray(start, start + width)].map(Number);
      });
    for (const stream of [0, 1]) {
      const kept = (rows: NamedArrays, width: number, count: number) =>
        rowsOf(rows['previousActions'], width, stream, rows['previousActions'].shape[0] / 2, count);
      // The walker leaves with step 3; its record of leaving is the last one.
      expect(kept(walker, 1, 4)).toEqual([[-1], ...[0, 1, 2].map((t) => [at(stream, t, 0, 0)])]);
      expect(kept(clerk, 2, 6)).toEqual([
        [-1, -1],
        ...[0, 1, 2, 3, 4].map((t) => [at(stream, t, 2, 0), at(stream, t, 2, 1)]),
      ]);
      // Both values of the arm are played from -1 to 1: by the bounds of one, for want of bounds of the other.
      const arms = kept(arm, 2, 6);
      expect(arms[0]).toEqual([0, 0]);
      for (const t of [0, 1, 2, 3, 4]) {
        for (const i of [0, 1]) {
          expect(Math.abs(at(stream, t, 1, i))).toBeLessThanOrEqual(1);
          expect(arms[t + 1][i]).toBeCloseTo(at(stream, t, 1, i), 6);
        }
      }
    }
    expect(clerk['legal'].shape.slice(1)).toEqual([5]);
    expect(walker['legal'] ?? arm['legal']).toBeUndefined();
    run.dispose();
  });

  it('never chooses an option that is illegal', { tags: ['slow'] }, async () => {
    rollouts.length = 0;
    const run = make(learners());
    await run.train({ envSteps: 200 });
    let illegal = 0;
    let others = 0;
    for (const actions of rollouts) {
      for (let env = 0; env < 2; env++) {
        for (let t = 0; t < 5; t++) {
          const first = actions[((env * 5 + t) * 3 + 2) * 2 + 1] === 0; // illegal in even steps
          if (first) t % 2 === 0 ? illegal++ : others++;
        }
      }
    }
    expect(illegal).toBe(0);
    expect(others).toBeGreaterThan(0);
    run.dispose();
  });

  it('learns compiled what it learns operation by operation', { tags: ['slow'] }, async () => {
    const trained = async (executor: 'auto' | 'eager') => {
      const agents = learners(executor);
      const run = make(agents);
      await run.train({ envSteps: 20 });
      const params = await Promise.all(agents.map(({ learner }) => learner.parameters()));
      expect(agents.map(({ learner }) => learner.updates)).toEqual([1, 1, 1]);
      run.dispose();
      return params;
    };
    const [compiled, eager] = [await trained('auto'), await trained('eager')];
    compiled.forEach((params, seat) => {
      for (const [name, { data }] of Object.entries(params)) {
        const worst = Math.max(...Array.from(data, (x, i) => Math.abs(x - eager[seat][name].data[i])));
        expect(worst, `${name} of ${game.agents[seat]}`).toBeLessThan(1e-4);
      }
    });
  });

  it('goes on to the bit from a saved state', { tags: ['slow'] }, async () => {
    const seats = () => [...learners().slice(0, 2), randomAgent({ game, id: 'clerk' })] as DreamerAgent<ActionSpaces>[];
    const whole = make(seats());
    await whole.train({ envSteps: 40 });
    const first = make(seats());
    await first.train({ envSteps: 20 });
    const second = make(seats());
    await second.restore(await first.state());
    await second.train({ envSteps: 40 });
    const [expected, got] = [await whole.state(), await second.state()];
    for (const part of ['env', 'rollout', 'learners']) expect(got[part], part).toEqual(expected[part]);
    for (const run of [whole, first, second]) run.dispose();
  });

  it('refuses a replay whose numbers lie beyond -1 and 1', async () => {
    const agent = learners()[1];
    const run = make([learners()[0], agent, learners()[2]]);
    await run.train({ envSteps: 10 });
    const saved = await agent.learner.state();
    (saved as unknown as Saved).replay.buffer.rows['previousActions'].data[3] = 2;
    await expect(agent.learner.restore(saved)).rejects.toThrow(
      /expected a replay with actions from -1 to 1, got 2 in previousActions/,
    );
    run.dispose();
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'masks of a box',
      () => dreamerAgent({ game, id: 'arm', masks: true }),
      /option masks: expected discrete actions to learn masks of, got a box in mixed-game/,
    ],
    [
      'a model of co-players with other actions',
      () => dreamerAgent({ game, id: 'walker', coPlayers: 'moa' }),
      /expected discrete actions, their number the same for every agent, for coPlayers 'moa'/,
    ],
    [
      'shared weights of agents with other actions',
      () => sharedDreamerAgents({ game }),
      /option ids: expected agents with the same actions as walker, got arm/,
    ],
  ])('refuses %s', (_, call, message) => {
    expect(call).toThrow(message);
  });
});

describe('Dreamer over a box', () => {
  it('learns which number pays', { tags: ['learning'] }, async () => {
    // Two steps, each with the reward -(a - 4)^2 for an action from -1 to 5: for the actor's number u, a is 2 + 3 u.
    const aim = {
      ...pendulum({ maxSteps: 2 }),
      name: 'aim',
      actions: box({ shape: [1], low: -1, high: 5 }),
      step: ((state, offset, actions, at, _generator, { rewards, terminated, truncated }, row) => {
        rewards[row] = -((actions[at] - 4) ** 2);
        state[offset + 2]++;
        terminated[row] = 0;
        truncated[row] = state[offset + 2] >= 2 ? 1 : 0;
      }) as ReturnType<typeof pendulum>['step'],
    };
    const agent = dreamerAgent({
      ...{ game: aim, id: 'agent_0', size: { preset: 'debug', units: 16, bins: 41 }, batchSize: 8, sequenceLength: 8 },
      ...{ horizon: 3, trainRatio: 64, discountHorizon: 3, learningRate: 3e-3, warmUp: 10 },
    });
    const run = selfPlay({ game: aim, agents: [agent], envs: 4, steps: 8, seed: 1 });
    const before = await run.evaluate({ episodes: 200 });
    await run.train({ envSteps: 3000 });
    const after = await run.evaluate({ episodes: 200 });
    // At first u has the mean 0 and the deviation 0.89, and is clipped: twice -(4 + 9 Var u), of which Var u is about
    // 0.5, is -17. At best it has the deviation 0.1: twice -9 x 0.01.
    expect(before.mean).toBeLessThan(-12);
    expect(after.mean).toBeGreaterThan(-3);
    run.dispose();
  });
});
