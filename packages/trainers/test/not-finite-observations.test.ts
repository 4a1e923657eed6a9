import {
  type Agent,
  type AgentInput,
  createGenerator,
  createRollout,
  type Experience,
  evaluate,
  type Game,
  type Saved,
  vectorEnv,
} from '@coplay/core';
import { matrixGame, randomAgent, recordEpisode, stagHunt } from '@coplay/envs';
import { cellsWorldModel, mlp } from '@coplay/models';
import { ensureBackend } from '@coplay/tensor';
import {
  createMoa,
  createOmg,
  createWorldModel,
  dreamerAgent,
  frozen,
  hopAgent,
  hopPlusAgent,
  isLearning,
  memoryOneAgent,
  type PpoAgent,
  pastSelves,
  ppoAgent,
  selfPlay,
  socialInfluenceAgent,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';

beforeAll(() => ensureBackend());

const rules = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const [id, other] = rules.agents;
const BAD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** The game, whose field `time` shows `value` to the first agent from a step on. */
function showing(game: Game, field: string, value: number, from: number): Game {
  return {
    ...game,
    observe(state, offset, agent, out, row) {
      game.observe(state, offset, agent, out, row);
      if (agent === 0 && game.elapsed(state, offset) >= from) out[field][row] = value;
    },
  };
}

const network = mlp({ hidden: [2] });
const executor = 'eager';
const model = cellsWorldModel({ filters: [2], hidden: 2 });
const models = { network, minRows: 1, minibatchSize: 4, capacity: 16 } as const;
const goals = {
  ...{ goalDim: 2, hidden: [2], stateUnits: 2, historyUnits: 2 },
  ...{ vaeUpdates: 1, vaeSteps: 1, vaeBatchSize: 2 },
};
const sizes = { ppo: { epochs: 1, minibatchSize: 16 } };
const made: Readonly<Record<string, (game: Game) => Agent>> = {
  PPO: (game) => ppoAgent({ game, id, network, executor, ...sizes }),
  'recurrent PPO': (game) => ppoAgent({ game, id, network, executor, recurrent: 2, ...sizes }),
  HOP: (game) =>
    hopAgent({
      ...{ game, id, network, executor, moa: models },
      ...{ search: { simulations: 2, trees: 1 }, hop: { minibatchSize: 4, minibatches: 1, minRows: 1, capacity: 16 } },
    }) as Agent,
  'HOP+': (game) =>
    hopPlusAgent({
      ...{ game, id, network, executor, omg: goals, moa: models },
      worldModel: { model, stepsPerUpdate: 1, batchSize: 4 },
    }) as Agent,
  Dreamer: (game) =>
    dreamerAgent({
      ...{ game, id, executor, size: 'debug', batchSize: 1 },
      ...{ sequenceLength: 2, horizon: 1, updatesPerPhase: 1 },
    }) as Agent,
  'social influence': (game) => socialInfluenceAgent({ game, id, network, executor, moa: models }) as Agent,
};
const names = Object.keys(made);

const seated = (game: Game, agent: Agent): Agent[] => [agent, randomAgent({ game, id: other }) as Agent];
const generator = () => createGenerator(1);

async function begun(agent: Agent): Promise<Agent> {
  if (isLearning(agent)) await agent.learner.initialise(generator());
  return agent;
}

/** What a run of the healthy game recorded, once for each agent. */
const recorded = new Map<string, Promise<Experience>>();
const livedBy = (name: string): Promise<Experience> => {
  const lived =
    recorded.get(name) ??
    begun(made[name](rules)).then((agent) => {
      return createRollout(vectorEnv(rules, { envs: 2 }), seated(rules, agent), generator()).collect(5);
    });
  recorded.set(name, lived);
  return lived;
};

/** The message of an error that names the field, the value and the agent. */
const naming = (value: number, field = 'time') =>
  new RegExp(`observation field "${field}".*got ${value} for agent_0 in `);

/** The input of one row, of which the field holds the value. */
function inputOf(value: number): AgentInput {
  const env = vectorEnv(rules, { envs: 1 });
  const observations = Object.fromEntries(
    Object.entries(env.observations).map(([name, data]) => [name, data.slice(0, data.length / 2)]),
  );
  observations['time'][0] = value;
  return {
    ...{ rows: 1, observations, masks: env.masks.slice(0, rules.actions), active: Uint8Array.of(1) },
    ...{ isFirst: Uint8Array.of(1), previousActions: Int32Array.of(-1, -1) },
  };
}

/**
 * The experience with the value in the first agent's field, in a step of the rollout or in what was seen after a cut.
 */
function poisoned(lived: Experience, value: number, where: 'steps' | 'cuts'): Experience {
  const copy = structuredClone(lived);
  if (where === 'steps') copy.observations['time'][4] = value;
  else copy.cuts.observations['time'][0] = value;
  return copy;
}

describe.each(names)('%s', (name) => {
  it.each(BAD)('names the field that shows %d, and the agent', async (value) => {
    const says = naming(value);
    const game = showing(rules as Game, 'time', value, 1);
    const agent = await begun(made[name](game));
    const agents = seated(game, agent);
    await expect(async () => agent.act(inputOf(value), agent.initialState(1), generator()), 'act').rejects.toThrow(
      says,
    );
    await expect(evaluate(game, agents, { episodes: 1 }), 'evaluate').rejects.toThrow(says);
    await expect(recordEpisode(game, agents), 'recordEpisode').rejects.toThrow(says);
    const run = selfPlay({ game, agents: seated(game, made[name](game)), envs: 2, steps: 2 });
    await expect(run.train({ envSteps: 8 }), 'train').rejects.toThrow(says);
    run.dispose();
  });

  it.each(['steps', 'cuts'] as const)('names the field of experience that it learns from: %s', async (where) => {
    const agent = await begun(made[name](rules));
    if (!isLearning(agent)) throw new Error('every agent here learns');
    const experience = poisoned(await livedBy(name), Number.NaN, where);
    const update = async () => agent.learner.update({ experience, progress: 0, generator: generator() });
    await expect(update).rejects.toThrow(naming(Number.NaN));
  });
});

describe('models of others and of the world', () => {
  const tiny = tinyGame({ reward: (_, action) => action }) as Game;
  const lived = async (game: Game) => {
    const agents = game.agents.map((own) => randomAgent({ game, id: own }) as Agent);
    const experience = await createRollout(vectorEnv(game, { envs: 2 }), agents, generator()).collect(5);
    // Every row, since these models draw theirs.
    experience.observations[game === tiny ? 'cue' : 'time'].fill(Number.NaN);
    return experience;
  };
  const says = /observation field "cue".*got NaN for agent_[01] in /;
  const view = (): AgentInput => ({ ...inputOf(0), observations: { cue: Float32Array.of(1, Number.NaN) } });

  it('name the field: MOA', async () => {
    const moa = createMoa({ game: tiny, id, executor, ...models });
    await moa.initialise(generator());
    await expect(async () => {
      moa.push(await lived(tiny));
      await moa.update(generator());
    }).rejects.toThrow(says);
    await expect(async () => moa.predict(other, { ...view(), masks: Uint8Array.of(1, 1) })).rejects.toThrow(says);
  });

  it('name the field: OMG', async () => {
    const omg = createOmg({ game: tiny, id, executor, selector: 'random', inferenceSteps: 1, batchSize: 2, ...goals });
    await omg.initialise(generator());
    await expect(async () => {
      omg.push(await lived(tiny));
      await omg.update(generator());
    }).rejects.toThrow(says);
    await expect(async () => omg.inferOver(await lived(tiny))).rejects.toThrow(says);
    await expect(async () => omg.infer(view(), new Float32Array(2))).rejects.toThrow(says);
  });

  it('do not mind a field that they do not read: world model', async () => {
    const worldModel = createWorldModel({ game: rules, executor, model, batchSize: 4, stepsPerUpdate: 1 });
    await worldModel.initialise(generator());
    worldModel.push(await lived(rules as Game));
    for (const value of Object.values(await worldModel.update(generator()))) expect(value).toBeTypeOf('number');
    expect(Object.values(await worldModel.update(generator())).every(Number.isFinite)).toBe(true);
  });
});

describe('agents that do not learn', () => {
  it.each<[string, (agent: Agent) => Agent]>([
    ['frozen', (agent) => frozen(agent as PpoAgent)],
    ['past selves', (agent) => pastSelves({ id, of: agent as PpoAgent }) as Agent],
  ])('name the field: %s', async (_, wrap) => {
    const agent = wrap(await begun(made['PPO'](rules)));
    const act = async () => agent.act(inputOf(Number.NaN), agent.initialState(1) as Saved, generator());
    await expect(act).rejects.toThrow(naming(Number.NaN));
  });

  it('name the field where they do not even read it: agents of a fixed policy', async () => {
    const dilemma = matrixGame({ maxSteps: 3 });
    const joint = { ...dilemma.observation['joint'], dtype: 'float32' } as const;
    const game = showing({ ...dilemma, observation: { joint } } as Game, 'joint', Number.NaN, 1);
    const seat = (own: string) => memoryOneAgent({ game: dilemma, id: own, parameters: new Float64Array(5) }) as Agent;
    await expect(evaluate(game, game.agents.map(seat), { episodes: 1 })).rejects.toThrow(naming(Number.NaN, 'joint'));
  });
});
