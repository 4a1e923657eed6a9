/** Search with models of observations: of an agent's own view, and of joint observations where agents see the state. */
import { type Agent, createGenerator, createRollout, type Game, type Metrics, vectorEnv } from '@coplay/core';
import { limitedView, matrixGame, randomAgent, snowdrift, stagHunt } from '@coplay/envs';
import { mlp, observationsWorldModel } from '@coplay/models';
import { createSearch } from '@coplay/planning';
import { useBackend } from '@coplay/tensor';
import {
  createWorldModel,
  type HopPlusModules,
  hopAgent,
  hopPlusAgent,
  type LearningAgent,
  selfPlay,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('wasm');
});

const network = mlp({ hidden: [8] });
const ownView = observationsWorldModel({ view: 'own', network });
const worldModel = { model: ownView, stepsPerUpdate: 1, batchSize: 16 };

/**
 * Two agents each carry a load along a line of places 0 to 4, alone in seeing where theirs is. `left` moves it to the
 * left; `right` moves it to the right if the other agent also chooses right, and costs 0.1. At 0 it is sold for 0.4, at
 * 4 for 2, and the agent leaves.
 */
function carriers(): Game<'int32'> {
  return {
    name: 'carriers',
    agents: ['a', 'b'],
    actions: 2,
    actionNames: ['left', 'right'],
    observation: { place: { shape: [5], dtype: 'uint8', kind: 'one-hot' } },
    stateType: 'int32',
    stateSize: 3, // steps, places
    maxSteps: 4,
    infos: [],
    options: {},
    reset: (state, offset, generator) => state.set([0, 1 + generator.integer(3), 1 + generator.integer(3)], offset),
    step(state, offset, actions, at, _generator, result, row) {
      state[offset]++;
      const areBothRight = actions[at] === 1 && actions[at + 1] === 1;
      for (let i = 0; i < 2; i++) {
        const place = state[offset + 1 + i];
        const plays = place > 0 && place < 4;
        const next = !plays ? place : actions[at + i] === 0 ? place - 1 : areBothRight ? place + 1 : place;
        state[offset + 1 + i] = next;
        const paid = next === 0 ? 0.4 : next === 4 ? 2 : 0;
        result.rewards[row * 2 + i] = plays ? paid - (actions[at + i] === 1 ? 0.1 : 0) : 0;
        result.terminated[row * 2 + i] = next === 0 || next === 4 ? 1 : 0;
        result.truncated[row * 2 + i] = next > 0 && next < 4 && state[offset] >= 4 ? 1 : 0;
      }
    },
    legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + 2),
    observe(state, offset, agent, out, row) {
      for (let i = 0; i < 5; i++) out['place'][row * 5 + i] = state[offset + 1 + agent] === i ? 1 : 0;
    },
    isActive: (state, offset, agent) => state[offset + 1 + agent] % 4 !== 0,
    elapsed: (state, offset) => state[offset],
  };
}

const GAMMA = 0.95;

/** The largest discounted return after an action, by trying all sequences; the other agent repeats its own action. */
function returnOf(place: number, elapsed: number, action: number, other: number): number {
  const next = action === 0 ? place - 1 : place + other;
  const reward = (next === 0 ? 0.4 : next === 4 ? 2 : 0) - (action === 1 ? 0.1 : 0);
  if (next % 4 === 0 || elapsed + 1 === 4) return reward;
  const later = [0, 1].map((following) => returnOf(next, elapsed + 1, following, other));
  return reward + GAMMA * Math.max(...later);
}

it('searches well with a trained model of the own view: as trying all sequences of actions does', async () => {
  const game = carriers();
  const model = observationsWorldModel({ view: 'own', network: mlp({ hidden: [32], activation: 'relu' }) });
  const learner = createWorldModel({ game, model, batchSize: 64, learningRate: 1e-2 });
  const generator = createGenerator(1);
  await learner.initialise(generator);
  const agents = game.agents.map((id) => randomAgent({ game, id }));
  const rollout = createRollout(vectorEnv(game, { envs: 16, seed: 1 }), agents, generator);
  for (let update = 0; update < 12; update++) {
    learner.push(await rollout.collect(16));
    await learner.update(generator);
  }
  expect(learner.accuracy).toBeGreaterThan(0.5);

  const { game: seen, see } = learner.model;
  const simulator = learner.simulator({ sample: false });
  const search = createSearch({
    ...{ game: seen, simulator, simulations: 100, trees: 1, gamma: GAMMA, exploration: 4 },
    ...{ truncation: 'terminal', temperature: 0 },
  });
  const cases = [0, 1].flatMap((seat) =>
    [1, 2, 3].flatMap((place) =>
      [0, 1, 2, 3].flatMap((elapsed) => [0, 1].map((other) => ({ seat, place, elapsed, other }))),
    ),
  );
  const states = new Float32Array(cases.length * seen.stateSize);
  cases.forEach(({ seat, place, elapsed }, row) => {
    const code = { place: Uint8Array.from({ length: 5 }, (_, i) => (i === place ? 1 : 0)) };
    const step = { rows: 1, observations: code, masks: Uint8Array.of(1, 1), isFirst: Uint8Array.of(1) };
    const all = { previousActions: Int32Array.of(-1, -1), active: Uint8Array.of(1, 1) };
    states.set(see!(seat, { ...step, ...all }, new Float32Array(seen.stateSize)), row * seen.stateSize);
    states[row * seen.stateSize] = elapsed;
  });
  const { actions } = await search.search(
    {
      ...{ rows: cases.length, states, generator: createGenerator(1) },
      seats: Int32Array.from(cases, ({ seat }) => seat),
      players: Int32Array.from(cases, ({ other }) => other),
    },
    {
      focal: ({ rows }) => ({ logits: new Float32Array(rows * 2), values: new Float32Array(rows) }),
      coPlayers: ({ rows, players }) => {
        return Float32Array.from({ length: rows * 2 }, (_, i) => (i % 2 === players[i >> 1] ? 0 : -100));
      },
    },
  );
  const best = cases.map(({ place, elapsed, other }) => {
    return returnOf(place, elapsed, 0, other) > returnOf(place, elapsed, 1, other) ? 0 : 1;
  });
  expect(cases.map((one, row) => ({ ...one, action: actions[row] }))).toEqual(
    cases.map((one, row) => ({ ...one, action: best[row] })),
  );
  expect(best).toContain(0);
  expect(best).toContain(1);
  learner.dispose();
});

const search = { trees: 2, simulations: 6 };
const hop = (game: Game, id: string) =>
  hopAgent({ game, id, network, simulator: worldModel, search, minAccuracy: 0, moa: { network, minRows: 8 } });
const hopPlus = (game: Game, id: string, more: HopPlusModules = {}) =>
  hopPlusAgent({
    ...{ game, id, network, worldModel, imagined: false, moa: { network, minRows: 8 }, omg: false },
    ...{ treeSearch: { ...search, minAccuracy: 0 }, ...more },
  });

describe('the actions of an agent that searches', () => {
  /** Experience of some steps after the states were changed; the other agents play by chance. */
  async function answers(game: Game, agent: LearningAgent, steps: number, change: (states: Int32Array) => void) {
    const env = vectorEnv(game, { envs: 4, seed: 1 });
    const { states, ...others } = env.state();
    const changed = states.slice() as Int32Array;
    change(changed);
    env.restore({ ...others, states: changed });
    const players = game.agents.map((id) => (id === agent.id ? (agent as Agent) : randomAgent({ game, id })));
    const played = await createRollout(env, players, createGenerator(2)).collect(steps);
    const own = Int32Array.from({ length: 4 * steps }, (_, row) => row * game.agents.length);
    const of = (data: ArrayLike<number>) => {
      const width = data.length / played.active.length;
      return [...own].flatMap((row) => Array.from(data).slice(row * width, (row + 1) * width));
    };
    const { searchPolicy, searchValues } = played.extras;
    return { actions: of(played.actions), policy: of(searchPolicy.data), values: of(searchValues.data) };
  }

  for (const [name, make] of Object.entries({ HOP: hop, 'HOP+': hopPlus })) {
    it(`depend on what it sees, not on a co-player's private field: ${name}`, async () => {
      const game = carriers();
      const agent = make(game, 'a') as LearningAgent;
      await agent.learner.initialise(createGenerator(1));
      const withPlaces = (own: number, other: number) =>
        answers(game, agent, 1, (states) => {
          for (let e = 0; e < 4; e++) states.set([own, other], e * 3 + 1);
        });
      const first = await withPlaces(2, 1);
      expect(await withPlaces(2, 3)).toEqual(first);
      expect(first.policy.some((p) => p > 0 && p < 1)).toBe(true);
      expect((await withPlaces(3, 1)).values).not.toEqual(first.values);
      agent.learner.dispose();
    });

    it(`depend on the part of the map that it sees: ${name}`, async () => {
      const game = limitedView(stagHunt({ size: 5, agents: 2, stags: 1, hares: 1, maxSteps: 6 }), 1);
      const agent = make(game, 'agent_0') as LearningAgent;
      await agent.learner.initialise(createGenerator(1));
      const found = [];
      for (const layout of ['1....\n.....\n..S..\n.....\n.h..2', '1....\n.....\n...S.\n.....\n2...h']) {
        const env = vectorEnv(game, { envs: 2, seed: 1 });
        env.reset({ envs: [0, 1], layout });
        const players = [agent as Agent, randomAgent({ game, id: 'agent_1' })];
        const { actions, extras } = await createRollout(env, players, createGenerator(2)).collect(1);
        found.push([actions[0], actions[2], ...Array.from(extras['searchPolicy'].data).slice(0, game.actions)]);
      }
      expect(found[1]).toEqual(found[0]);
      agent.learner.dispose();
    });
  }
});

describe('training with a search in a model of observations', () => {
  const games: Record<string, [() => Game, 'own' | 'joint', 'HOP' | 'HOP+']> = {
    'own views of private numbers: HOP': [carriers, 'own', 'HOP'],
    'own views of a map: HOP+': [
      () => limitedView(stagHunt({ size: 3, agents: 3, stags: 1, hares: 2, maxSteps: 4 }), 1),
      ...(['own', 'HOP+'] as const),
    ],
    'joint observations of a grid: HOP': [
      () => snowdrift({ size: 3, agents: 2, drifts: 2, maxSteps: 5 }),
      ...(['joint', 'HOP'] as const),
    ],
    'joint observations of a matrix game: HOP+': [() => matrixGame({ maxSteps: 4 }), 'joint', 'HOP+'],
  };
  for (const [name, [make, view, algorithm]] of Object.entries(games)) {
    it(`runs with ${name}`, async () => {
      const game = make();
      const [id] = game.agents;
      const model = observationsWorldModel({ view, network, history: view === 'own' ? 2 : 0 });
      const own = { model, stepsPerUpdate: 1, batchSize: 8 };
      const common = { game, id, network, executor: 'eager', moa: { network, minRows: 4, minibatchSize: 16 } } as const;
      const search = { trees: 1, simulations: 2 };
      const imagined = { horizon: 2, startUpdates: 0, minAccuracy: 0, moaAccuracy: 0.01 };
      const agent: LearningAgent =
        algorithm === 'HOP'
          ? hopAgent({
              ...common,
              simulator: own,
              minAccuracy: 0,
              search,
              hop: { minRows: 4, minibatches: 1, minibatchSize: 16 },
            })
          : hopPlusAgent({ ...common, worldModel: own, imagined, omg: false, treeSearch: search });
      const log: Metrics[] = [];
      const write = ({ metrics }: { metrics: Metrics }) => void log.push(metrics);
      const run = selfPlay({
        ...{ game, envs: 2, steps: 6, seed: 1, log: [{ start: () => {}, write, close: () => {} }] },
        agents: game.agents.map((other) => (other === id ? agent : randomAgent({ game, id: other }))),
      });
      await run.train({ envSteps: 24 });
      run.dispose();
      const metrics = log.at(-1)!;
      expect(Number.isFinite(metrics[`${id}/world_model/loss`])).toBe(true);
      if (algorithm === 'HOP') expect(metrics[`${id}/hop/simulations`]).toBeGreaterThan(0);
      else {
        expect(metrics[`${id}/search/share`]).toBe(1);
        expect(Number.isFinite(metrics[`${id}/imagined/reward_mean`])).toBe(true);
      }
    });
  }
});

it('refuses searches and imagination that a view does not allow, and names them', () => {
  const hidden = carriers();
  const joint = { model: observationsWorldModel({ network }) };
  const seesAll = /a game whose agents see the whole state, got carriers\..*observationsWorldModel\({ view: 'own' }\)/;
  expect(() => hopAgent({ game: hidden, id: 'a', simulator: joint })).toThrow(seesAll);
  expect(() => hopPlusAgent({ game: hidden, id: 'a', worldModel: joint, treeSearch: {} })).toThrow(seesAll);
  const made = (more: object) => () => hopPlusAgent({ game: hidden, id: 'a', network, worldModel, ...more });
  expect(made({ moa: false })).toThrow(
    /option moa: expected models of the co-players with a world model of the agent's/,
  );
  expect(made({ critic: 'joint' })).toThrow(/option critic: expected 'own' with a world model.*got "joint"/);
  expect(made({ reward: 'prosocial' })).toThrow(/option reward: expected 'own' with a world model/);
  const reading = snowdrift({ size: 3, agents: 2, drifts: 2 });
  const goals =
    /goals that actions show, with a world model of an agent's own view, got goals read from the co-player's planes/;
  expect(() => hopPlusAgent({ game: reading, id: 'agent_0', worldModel })).toThrow(goals);
  // MOA learns from the observer's view also where nothing imagines or searches.
  expect(() => hopPlusAgent({ game: reading, id: 'agent_0', worldModel, imagined: false })).toThrow(goals);
  hopPlusAgent({ game: reading, id: 'agent_0', worldModel, imagined: false, moa: { goals: 'none' } });
  hopPlusAgent({ game: reading, id: 'agent_0', worldModel, imagined: false, moa: false });
  expect(() => hopAgent({ game: reading, id: 'agent_0', simulator: worldModel })).toThrow(goals);
  const seat: Game = { ...hidden, observation: { seat: { shape: [1], dtype: 'float32' } } };
  expect(() => createWorldModel({ game: seat, model: ownView })).toThrow(/other names than seat, with view: 'own'/);
  expect(() => observationsWorldModel({ view: 'all' as 'own' })).toThrow(/view/);
});
