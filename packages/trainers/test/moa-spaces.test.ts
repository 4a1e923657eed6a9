import {
  type ActionSpaces,
  type Agent,
  type AnyGame,
  box,
  createGenerator,
  createRollout,
  type Experience,
  multiDiscrete,
  type Saved,
  vectorEnv,
} from '@coplay/core';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { createMoa, type MoaOptions } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { mixedGame } from '../../core/test/mixed-game';

beforeAll(async () => {
  await useBackend('wasm');
});

/** Two agents see a number x from -1 to 1, drawn anew in each of five steps. */
function watchers(actions: ActionSpaces): AnyGame<'float64'> {
  return {
    name: 'watchers',
    agents: ['watcher', 'actor'],
    actions,
    actionNames: ['first', 'second'],
    observation: { x: { shape: [1], dtype: 'float32', kind: 'vector' } },
    ...{ stateType: 'float64', stateSize: 2, maxSteps: 5, infos: [], options: {} },
    reset: (state, offset, generator) => {
      state[offset] = 2 * generator.uniform() - 1;
      state[offset + 1] = 0;
    },
    step: (state, offset, _actions, _at, generator, { rewards, terminated, truncated }, row) => {
      state[offset] = 2 * generator.uniform() - 1;
      state[offset + 1]++;
      for (const i of [0, 1]) {
        rewards[2 * row + i] = 0;
        terminated[2 * row + i] = 0;
        truncated[2 * row + i] = state[offset + 1] >= 5 ? 1 : 0;
      }
    },
    legal: (_state, _offset, _agent, mask, at) => {
      for (let k = 0; k < 5; k++) mask[at + k] = 1;
    },
    observe: (state, offset, _agent, out, row) => {
      out['x'][row] = state[offset];
    },
    isActive: () => true,
    elapsed: (state, offset) => state[offset + 1],
  };
}

type Rule = (x: number, generator: { normal(): number; uniform(): number }) => readonly number[];

/** An agent that acts by what it sees. */
function byRule(game: AnyGame, id: string, rule: Rule): Agent<Saved, ActionSpaces> {
  return {
    ...{ id, name: 'rule', initialState: () => null as unknown as Saved },
    act: async ({ rows, observations }, state, generator) => {
      const values = Array.from({ length: rows }, (_, row) => rule(observations['x'][row], generator)).flat();
      const isBox = (game.actions as { kind: string }).kind === 'box';
      return { actions: isBox ? Float32Array.from(values) : Int32Array.from(values), state };
    },
  };
}

async function played(game: AnyGame, rule: Rule, envs: number, seed: number): Promise<Experience<ActionSpaces>> {
  const agents = game.agents.map((id) => byRule(game, id, rule));
  return createRollout(vectorEnv(game, { envs, seed }), agents, createGenerator(seed)).collect(10);
}

const network = mlp({ hidden: [32] });
const numbers = { network, learningRate: 5e-3, minibatchSize: 256, minRows: 1 } as const;
const make = (game: AnyGame, options: Partial<MoaOptions<ActionSpaces>> = {}) =>
  createMoa<ActionSpaces>({ game, id: 'watcher', ...numbers, ...options });

/** A first number about 10 x with the deviation 2, and a second one, without bounds, about -x with 0.1. */
const reals = watchers(box({ shape: [2], low: [-40, -Infinity], high: [40, Infinity] }));
const noisy: Rule = (x, generator) => [10 * x + 2 * generator.normal(), -x + 0.1 * generator.normal()];

/** The first option is 1 with the chance 3/4 where x > 0, else 1/4; the second one is 2. */
const choices = watchers(multiDiscrete([2, 3]));
const leaning: Rule = (x, generator) => [generator.uniform() < (x > 0 ? 0.75 : 0.25) ? 1 : 0, 2];

describe('a model of a co-player over a box', () => {
  it('comes to know its means and deviations: the log-likelihood and error that the best prediction has', {
    tags: ['learning'],
  }, async () => {
    const moa = make(reals);
    await moa.initialise(createGenerator(1));
    await moa.pretrain(await played(reals, noisy, 200, 1), {
      epochs: 60,
      generator: createGenerator(2),
      finalLearningRate: 1e-4,
    });
    moa.push(await played(reals, noisy, 200, 3));
    const metrics = await moa.update(createGenerator(4)); // it measures first
    const best = -[2, 0.1].reduce((sum, std) => sum + Math.log(std * Math.sqrt(2 * Math.PI * Math.E)), 0);
    expect(Math.abs(metrics['moa/log_likelihood'] - best)).toBeLessThan(0.1);
    const error = (Math.sqrt(2 / Math.PI) * (2 + 0.1)) / 2; // the mean of |normal| is sqrt(2 / pi) deviations
    expect(Math.abs(metrics['moa/absolute_error'] - error)).toBeLessThan(0.05);
    expect(metrics['moa/log_likelihood/actor']).toBe(metrics['moa/log_likelihood']);
    expect(metrics['moa/accuracy']).toBeUndefined();
    const view = {
      ...{ rows: 2, masks: new Uint8Array(0), observations: { x: Float32Array.of(-0.5, 0.8) } },
    };
    const prediction = await moa.predict('actor', view);
    [-5, 0.5, Math.log(2), Math.log(0.1), 8, -0.8, Math.log(2), Math.log(0.1)].forEach((value, i) => {
      expect(Math.abs(prediction[i] - value), `${i}`).toBeLessThan(Math.abs(value) > 3 ? 0.6 : 0.15);
    });
    moa.dispose();
  });

  it('begins in the middle of the bounds, as wide as half the box, and draws actions within them', async () => {
    const moa = make(reals);
    await moa.initialise(createGenerator(1));
    const rows = 500;
    const view = { rows, masks: new Uint8Array(0), observations: { x: new Float32Array(rows) } };
    const [first, second, ...logStds] = await moa.predict('actor', { ...view });
    expect(Math.abs(first)).toBeLessThan(2);
    expect(Math.abs(second)).toBeLessThan(0.1);
    expect(logStds[0]).toBeCloseTo(Math.log(40), 1);
    expect(logStds[1]).toBeCloseTo(0, 1);
    const agent = moa.agent('actor');
    const flags = { active: new Uint8Array(rows).fill(1), isFirst: new Uint8Array(rows).fill(1) };
    const input = { ...view, ...flags, previousActions: new Float32Array(rows * 4).fill(Number.NaN) };
    const { actions } = await agent.act(input, agent.initialState(rows), createGenerator(2));
    const firsts = actions.filter((_, i) => i % 2 === 0);
    expect(Math.max(...firsts.map(Math.abs))).toBe(40); // a third of a normal distribution lies beyond one deviation
    expect(Math.abs(firsts.filter((value) => Math.abs(value) === 40).length / rows - 0.317)).toBeLessThan(0.08);
    moa.dispose();
  });

  it('goes on to the bit from a saved state, and refuses actions that the space lacks', async () => {
    const learn = async (moa: ReturnType<typeof make>, seed: number) => {
      moa.push(await played(reals, noisy, 4, seed));
      await moa.update(createGenerator(seed));
    };
    const whole = make(reals, { previousActions: true, recurrent: 4 });
    await whole.initialise(createGenerator(1));
    await learn(whole, 1);
    const saved = await whole.state();
    const second = make(reals, { previousActions: true, recurrent: 4 });
    await second.initialise(createGenerator(5));
    await second.restore(saved);
    for (const moa of [whole, second]) await learn(moa, 2);
    expect(await second.state()).toEqual(await whole.state());
    const rings = (await second.state())['buffer'] as unknown as {
      rings: { actor: { rows: { actions: { data: Float32Array } } } };
    };
    expect(Object.keys(rings.rings.actor)).toContain('rows');
    rings.rings.actor.rows.actions.data[0] = 41;
    await expect(second.restore({ ...saved, buffer: rings as never })).rejects.toThrow(
      /a number from -40 to 40 as value 0, got 41/,
    );
    for (const moa of [whole, second]) moa.dispose();
  });
});

describe('a model of a co-player with several choices', () => {
  it('comes to know the chances of each', { tags: ['learning'] }, async () => {
    const moa = make(choices);
    await moa.initialise(createGenerator(1));
    const metrics = await moa.pretrain(await played(choices, leaning, 200, 1), {
      epochs: 40,
      generator: createGenerator(2),
      finalLearningRate: 1e-4,
    });
    const entropy = -0.75 * Math.log(0.75) - 0.25 * Math.log(0.25);
    expect(Math.abs((metrics.at(-1) as Record<string, number>)['moa/loss'] - entropy)).toBeLessThan(0.05);
    moa.push(await played(choices, leaning, 200, 3));
    expect(Math.abs((await moa.update(createGenerator(4)))['moa/accuracy'] - 0.75)).toBeLessThan(0.06);
    moa.dispose();
  });

  it('never predicts an option that is illegal', async () => {
    const moa = make(choices);
    await moa.initialise(createGenerator(1));
    const view = { rows: 1, observations: { x: Float32Array.of(0) } };
    const prediction = await moa.predict('actor', { ...view, masks: Uint8Array.of(1, 0, 1, 0, 1) });
    const chances = Array.from(prediction, Math.exp);
    expect([chances[0], chances[1], chances[3]]).toEqual([1, 0, 0]);
    expect(chances[2] + chances[4]).toBeCloseTo(1, 5);
    moa.dispose();
  });
});

describe('createMoa', () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      'co-players with different actions',
      () => createMoa({ game: mixedGame(), id: 'arm' }),
      /expected agents with the same actions as walker, got clerk\. Give all co-players one space/,
    ],
    [
      'goals of a box',
      () => make(withGoals(reals), { goals: 'hindsight' }),
      /option goals: expected none for watchers, whose actions are not one number/,
    ],
  ])('refuses %s', (_, call, message) => {
    expect(call).toThrow(message);
  });

  it('is a plain model where goals can not be recognised', () => {
    expect(make(withGoals(reals)).goals).toBe(0);
  });
});

function withGoals(game: AnyGame): AnyGame {
  return { ...game, goals: { names: ['a'], reached: () => -1, isOpen: () => true } };
}
