/** World models and HOP+ in games that aren't played on a grid. */
import {
  type Agent,
  createGenerator,
  createRollout,
  type Game,
  imagine,
  type Metrics,
  rulesSimulator,
  startsFrom,
  vectorEnv,
} from '@coplay/core';
import { limitedView, matrixGame, randomAgent, stagHunt } from '@coplay/envs';
import { mlp, observationsWorldModel } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { createWorldModel, hopAgent, hopPlusAgent, type LearningAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

/**
 * Three agents hold numbers; action 1 adds 1 to the own number, action 2 doubles it, 0 keeps it. An agent is paid its
 * number, and leaves at 4 or more. All see all numbers, the own one first.
 */
function counters(): Game<'float32'> {
  const A = 3;
  return {
    name: 'counters',
    agents: ['a', 'b', 'c'],
    actions: 3,
    actionNames: ['keep', 'add', 'double'],
    observation: { numbers: { shape: [A], dtype: 'float32', kind: 'vector' } },
    stateType: 'float32',
    stateSize: A + 1,
    maxSteps: 8,
    infos: [],
    options: {},
    reset(state, offset, generator) {
      state[offset] = 0;
      for (let i = 0; i < A; i++) state[offset + 1 + i] = generator.integer(3);
    },
    step(state, offset, actions, at, _generator, result, row) {
      state[offset]++;
      for (let i = 0; i < A; i++) {
        const number = state[offset + 1 + i];
        const plays = number < 4;
        if (plays && actions[at + i] === 1) state[offset + 1 + i] = number + 1;
        if (plays && actions[at + i] === 2) state[offset + 1 + i] = 2 * number;
        const over = state[offset + 1 + i] >= 4;
        result.rewards[row * A + i] = plays ? state[offset + 1 + i] : 0;
        result.terminated[row * A + i] = over ? 1 : 0;
        result.truncated[row * A + i] = !over && state[offset] >= 8 ? 1 : 0;
      }
    },
    legal(state, offset, agent, mask, at) {
      const number = state[offset + 1 + agent];
      mask.set(number < 4 ? [1, 1, number > 0 ? 1 : 0] : [1, 0, 0], at); // nothing can be doubled
    },
    observe(state, offset, agent, out, row) {
      for (let i = 0; i < A; i++) out['numbers'][row * A + i] = state[offset + 1 + ((agent + i) % A)];
    },
    isActive: (state, offset, agent) => state[offset + 1 + agent] < 4 && state[offset] < 8,
    elapsed: (state, offset) => state[offset],
  };
}

/** One agent sees a random bit, and earns 1 for naming the bit of the step before (none in the first). */
function echo(): Game<'int32'> {
  return {
    name: 'echo',
    agents: ['a'],
    actions: 2,
    actionNames: ['zero', 'one'],
    observation: {
      bit: { shape: [2], dtype: 'uint8', kind: 'one-hot' },
      repeated: { shape: [3], dtype: 'uint8', kind: 'one-hot' },
    },
    stateType: 'int32',
    stateSize: 4, // steps, the bit, the one before, the one before that: each 0, 1, or -1 for none
    maxSteps: 8,
    infos: [],
    options: {},
    reset(state, offset, generator) {
      state.set([0, generator.integer(2), -1, -1], offset);
    },
    step(state, offset, _actions, _at, generator, result, row) {
      state.set([state[offset] + 1, generator.integer(2), state[offset + 1], state[offset + 2]], offset);
      result.rewards[row] = 0;
      result.terminated[row] = 0;
      result.truncated[row] = state[offset] >= 8 ? 1 : 0;
    },
    legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + 2),
    observe(state, offset, _agent, out, row) {
      out['bit'].set([0, 0], row * 2);
      out['repeated'].set([0, 0, 0], row * 3);
      out['bit'][row * 2 + state[offset + 1]] = 1;
      const past = state[offset + 3]; // what was seen two steps ago
      out['repeated'][row * 3 + (past < 0 ? 2 : past)] = 1;
    },
    isActive: (state, offset) => state[offset] < 8,
    elapsed: (state, offset) => state[offset],
  };
}

beforeAll(async () => {
  await useBackend('wasm'); // another file may have left the slowest one
});

/** Takes the last legal action: doubles its number where it can, else adds 1, else keeps it. */
function doubler(id: string): Agent<null> {
  return {
    id,
    name: 'doubler',
    initialState: () => null,
    act: ({ rows, masks }) => ({
      actions: Int32Array.from({ length: rows }, (_, row) => masks.subarray(row * 3, row * 3 + 3).lastIndexOf(1)),
      state: null,
    }),
  };
}

const learning = { tags: ['learning'] };

const small = mlp({ hidden: [128, 128], activation: 'relu' });

async function trained(game: Game, model: ReturnType<typeof observationsWorldModel>, updates: number) {
  const learner = createWorldModel({ game, model, batchSize: 128 });
  const generator = createGenerator(1);
  await learner.initialise(generator.split(0));
  const agents = game.agents.map((id) => randomAgent({ game, id }));
  const rollout = createRollout(vectorEnv(game, { envs: 16, seed: 1 }), agents, generator.split(1));
  for (let update = 0; update < updates; update++) {
    learner.push(await rollout.collect(16));
    await learner.update(generator);
  }
  return { learner, experience: await rollout.collect(16) };
}

describe('a learned model of a game without a grid', () => {
  it('is a model of observations by default, and plays like the rules once it has learned', learning, async () => {
    const game = counters();
    const other = createWorldModel({ game });
    expect(other.model.kind).toBe('observations');
    other.dispose();
    const { learner, experience } = await trained(game, observationsWorldModel({ network: small }), 60);
    const agents = game.agents.map(doubler);
    expect(learner.accuracy).toBeGreaterThan(0.9);
    const rows = Int32Array.from({ length: 256 }, (_, row) => row).filter((row) => {
      return [0, 1, 2].some((i) => experience.active[row * 3 + i] === 1);
    });
    const [imagined, real] = await Promise.all(
      [learner.simulator(), rulesSimulator(game)].map((simulator) =>
        imagine(simulator, agents, startsFrom(simulator, experience, rows), {
          horizon: 3,
          generator: createGenerator(5),
        }),
      ),
    );
    const near = imagined.rewards.filter((reward, i) => Math.abs(reward - real.rewards[i]) < 0.25);
    expect(near.length / real.rewards.length).toBeGreaterThan(0.9);
    const same = imagined.lengths.filter((length, row) => length === real.lengths[row]).length;
    expect(same / real.lengths.length).toBeGreaterThan(0.95);
    learner.dispose();
  });

  it('keeps its state over a checkpoint', { tags: ['slow'] }, async () => {
    const game = counters();
    const model = observationsWorldModel({ network: small, history: 2 });
    const { learner, experience } = await trained(game, model, 2);
    const copy = createWorldModel({ game, model, batchSize: 128 });
    await copy.initialise(createGenerator(9));
    await copy.restore(await learner.state());
    const rows = learner.transitions(experience);
    expect(await copy.predict(rows)).toEqual(await learner.predict(rows));
    expect(await copy.update(createGenerator(3))).toEqual(await learner.update(createGenerator(3)));
    learner.dispose();
    copy.dispose();
  });

  it('needs its history where one observation is not enough', learning, async () => {
    const game = echo();
    const errors = [];
    for (const history of [0, 2]) {
      const model = observationsWorldModel({ network: small, history, historyUnits: 16 });
      const { learner, experience } = await trained(game, model, 40);
      const rows = learner.transitions(experience);
      const { happened } = await learner.predict(rows);
      const wrong = happened['next/repeated'].data.filter((value, i) => value !== rows['next/repeated'].data[i]);
      errors.push(wrong.length / 2 / rows['rewards'].shape[0]); // two entries of a wrong code differ
      learner.dispose();
    }
    expect(errors[0]).toBeGreaterThan(0.3); // the bit of the step before isn't seen any more: a coin
    expect(errors[1]).toBeLessThan(0.05);
  });
});

describe('startsFrom', () => {
  it('reads the states of a grid game from observations, where the experience has none', async () => {
    const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2 });
    const rollout = createRollout(
      vectorEnv(game, { envs: 4, seed: 1 }),
      game.agents.map((id) => randomAgent({ game, id })),
      createGenerator(1),
    );
    const { states, ...seen } = await rollout.collect(6);
    const steps = Int32Array.of(0, 3, 9);
    const rules = rulesSimulator(game);
    expect(startsFrom(rules, seen, steps)).toEqual(startsFrom(rules, { ...seen, states: states! }, steps));
  });
});

describe('HOP+ in a game without a grid', () => {
  const games: Record<string, () => Game> = {
    'a matrix game': () => matrixGame({ kind: 'stag-hunt', maxSteps: 5 }),
    'a game of vectors': counters,
    'a limited view': () => limitedView(stagHunt({ size: 3, agents: 2, stags: 1, hares: 2, maxSteps: 6 }), 1),
  };

  for (const [name, make] of Object.entries(games)) {
    for (const worldModel of [
      'rules',
      { model: observationsWorldModel({ network: mlp({ hidden: [8] }) }), stepsPerUpdate: 1 },
    ] as const) {
      const simulator = typeof worldModel === 'string' ? 'the rules' : 'a learned model';
      it(`imagines in ${name} with ${simulator}`, { tags: ['slow'] }, async () => {
        const game = make();
        const imagined = { horizon: 4, startUpdates: 0, minAccuracy: 0, moaAccuracy: 0.01 };
        const agents = game.agents.map((id) => {
          return hopPlusAgent({
            ...{ game, id, worldModel, imagined, executor: 'eager', network: mlp({ hidden: [8] }) },
            moa: { minRows: 16 },
            omg: name === 'a matrix game' && { vaeUpdates: 1, goalDim: 4 },
          });
        });
        const log: Metrics[] = [];
        const sink = {
          start: () => {},
          write: ({ metrics }: { metrics: Metrics }) => void log.push(metrics),
          close: () => {},
        };
        const run = selfPlay({ game, agents, envs: 4, steps: 8, seed: 1, log: [sink] });
        await run.train({ envSteps: 64 });
        expect(log.at(-1)![`${game.agents[0]}/imagined/horizon`]).toBe(4);
        expect(Number.isFinite(log.at(-1)![`${game.agents[0]}/imagined/reward_mean`])).toBe(true);
        run.dispose();
      });
    }
  }
});

describe('planning in a game without a grid', () => {
  const tiny = { executor: 'eager', network: mlp({ hidden: [8] }) } as const;
  const search = { trees: 1, simulations: 4 };

  async function trainedReturn(make: (game: Game, id: string) => LearningAgent): Promise<number> {
    const game = matrixGame({ kind: 'stag-hunt', maxSteps: 4 });
    const agents = game.agents.map((id) => make(game, id));
    const run = selfPlay({ game, agents, envs: 2, steps: 4, seed: 1, log: [] });
    await run.train({ envSteps: 16 });
    const { mean } = await run.evaluate({ episodes: 2 });
    run.dispose();
    return mean;
  }

  it('searches from the state where agents see all of it', { tags: ['slow'] }, async () => {
    expect(await trainedReturn((game, id) => hopAgent({ game, id, ...tiny, search }))).toBeGreaterThan(0);
    const rules = { worldModel: 'rules', moa: { minRows: 8 }, omg: false, treeSearch: search } as const;
    expect(await trainedReturn((game, id) => hopPlusAgent({ game, id, ...tiny, ...rules }))).toBeGreaterThan(0);
  });

  it('is refused where part of the state may be hidden', () => {
    const hidden = counters();
    const seesAll = /a game whose agents see the whole state, got counters.*observesState.*view: 'own'/;
    expect(() => hopAgent({ game: hidden, id: 'a' })).toThrow(seesAll);
    expect(() => hopPlusAgent({ game: hidden, id: 'a', treeSearch: {}, worldModel: 'rules' })).toThrow(seesAll);
  });
});

describe('what an agent does', () => {
  it('depends on what it sees, not on a hidden part of the state', async () => {
    const game = echo();
    const agent = hopPlusAgent({ game, id: 'a', worldModel: 'rules', omg: false, executor: 'eager' });
    await agent.learner.initialise(createGenerator(1));
    const answers = [];
    for (const hidden of [0, 1]) {
      const env = vectorEnv(game, { envs: 4, seed: 1 });
      const { states, ...others } = env.state();
      // The bit of the step before is kept in the state, and nobody sees it any more.
      env.restore({ ...others, states: states.map((value, i) => (i % 4 === 2 ? hidden : value)) as Int32Array });
      answers.push(await createRollout(env, [agent], createGenerator(2)).step());
    }
    expect(answers[0]).toEqual(answers[1]);
    agent.learner.dispose();
  });
});
