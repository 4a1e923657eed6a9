/**
 * Learners take a whole state, or stay as they were when any entry of the state is damaged; also without parameters
 * yet.
 */
import * as core from '@coplay/core';
import { randomAgent, stagHunt } from '@coplay/envs';
import { cellsWorldModel, mlp } from '@coplay/models';
import * as trainers from '@coplay/trainers';
import { expect, it } from 'vitest';
import { faultsOf, type Restorable } from './mutations';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const seat = { game, id: 'agent_0' } as const;
const network = mlp({ hidden: [2] });
const ppo = { epochs: 1, minibatchSize: 64 };
const moa = { network, minRows: 1, epochs: 1, minibatchSize: 64, capacity: 16, centred: false };
const omg = {
  goalDim: 2,
  hidden: [2],
  stateUnits: 2,
  historyUnits: 2,
  vaeUpdates: 1,
  vaeSteps: 1,
  vaeBatchSize: 4,
  selector: 'fixed',
} as const;
const world = {
  model: cellsWorldModel({ filters: [1], hidden: 2 }),
  batchSize: 4,
  stepsPerUpdate: 1,
  capacity: 16,
  members: 2,
};
const search = { simulations: 2, trees: 1 };
const hop = { network, search, moa, hop: { minRows: 1, minibatches: 1, minibatchSize: 4, capacity: 16 } };

/** Played in the first seat, five steps in two environments. */
function played(agent: core.Agent): Promise<core.Experience> {
  const env = core.vectorEnv(game, { envs: 2, seed: 4 });
  const agents = [agent, randomAgent({ game, id: 'agent_1' })];
  return core.createRollout(env, agents, core.createGenerator(2)).collect(5);
}

const experience = await played(randomAgent(seat));

/** An agent that learns, with any state of its own. */
type Taught = Pick<trainers.LearningAgent, 'learner' | 'save' | 'restore'>;

/** After an update. */
async function taught(agent: Taught): Promise<Taught> {
  const { learner } = agent;
  await learner.initialise(core.createGenerator(3));
  const own = await played(agent as unknown as core.Agent);
  await learner.update({ experience: own, progress: 0, generator: core.createGenerator(4) });
  return agent;
}

/** A model that learns from what others do, after an update. */
async function shown<
  Model extends ReturnType<typeof trainers.createMoa> | trainers.OmgLearner | trainers.WorldModelLearner,
>(model: Model): Promise<Model> {
  await model.initialise(core.createGenerator(3));
  model.push(experience);
  await model.update(core.createGenerator(4));
  model.push(experience);
  return model;
}

const createMoa = () => trainers.createMoa({ ...seat, ...moa });
const createOmg = () => trainers.createOmg({ ...seat, ...omg });
const createWorldModel = () => trainers.createWorldModel({ game, ...world });

const MAKERS: Record<string, () => Taught> = {
  ppo: () => trainers.ppoAgent({ ...seat, network, ppo }),
  'recurrent ppo': () => trainers.ppoAgent({ ...seat, network, ppo, recurrent: 2 }),
  hop: () => trainers.hopAgent({ ...seat, ...hop }),
  'hop with a world model': () => trainers.hopAgent({ ...seat, ...hop, simulator: world }),
  'hop-plus': () => trainers.hopPlusAgent({ ...seat, network, ppo, moa, omg, worldModel: world, imagined: false }),
  'hop-plus with tree search': () => {
    const treeSearch = { trees: 1, simulations: 2, minAccuracy: 0 };
    return trainers.hopPlusAgent({ ...seat, network, ppo, moa, omg, worldModel: world, imagined: false, treeSearch });
  },
  'social influence': () => trainers.socialInfluenceAgent({ ...seat, network, ppo, moa }),
  dreamer: () => trainers.dreamerAgent({ ...seat, size: 'debug', batchSize: 2, sequenceLength: 4, startAfter: 1e3 }),
};

/**
 * A collector may be empty, and what it says of observations may leave out how they are shown. What was not measured
 * yet is null.
 */
const collected = ['collector, a record', 'kind, left out', 'channels, left out', 'accuracy, null', 'mean, negative'];
/** At the beginning there are none of these. */
const begun = [
  'replay, left out',
  'replay, null',
  'last, left out',
  'last, a record',
  'fresh, null',
  'rooms, truncated',
];
const recurrent = ['criticStates, a record', '0, left out'];
const options = { outermost: true, good: [...collected, ...begun, ...recurrent] };

/** What an agent remembers outside its learner: beliefs, snapshots. */
const memoryOf = (agent: Pick<core.Agent, 'save' | 'restore'>): Restorable => ({
  state: () => agent.save!(),
  restore: (saved) => agent.restore!(saved),
});

const veteran = trainers.ppoAgent({ ...seat, network, ppo });
const pool = () => trainers.pastSelves({ id: 'agent_0', of: veteran });

async function joined(agent: ReturnType<typeof pool>): Promise<Restorable> {
  await veteran.learner.initialise(core.createGenerator(3));
  await played(agent as unknown as core.Agent);
  return memoryOf(agent);
}

/** Those with the most parts. */
const WHOLE = ['recurrent ppo', 'hop with a world model', 'hop-plus', 'social influence', 'dreamer'];

/**
 * What learns, another one that has learned nothing, and of the damages inside of its parts one in so many is tried.
 */
const PARTS: Record<string, [made: () => Promise<Restorable>, another: () => Restorable, every: number]> = {
  moa: [() => shown(createMoa()), createMoa, 31],
  omg: [() => shown(createOmg()), createOmg, 31],
  'world model': [() => shown(createWorldModel()), createWorldModel, 13],
  beliefs: [async () => memoryOf(await taught(MAKERS['hop']())), () => memoryOf(MAKERS['hop']()), 1],
  'beliefs of hop-plus': [
    async () => memoryOf(await taught(MAKERS['hop-plus with tree search']())),
    () => memoryOf(MAKERS['hop-plus with tree search']()),
    1,
  ],
  'past selves': [() => joined(pool()), () => memoryOf(pool()), 1],
  ...Object.fromEntries(
    WHOLE.map((name) => {
      const make = MAKERS[name];
      return [name, [async () => (await taught(make())).learner, () => make().learner, 97]];
    }),
  ),
};

it.each(Object.keys(PARTS))('%s', async (name) => {
  const [made, another, every] = PARTS[name];
  expect(await faultsOf(await made(), { ...options, another, every })).toEqual([]);
});

/** A damage of what is restored last, where all else has been restored already. */
const LAST: Record<string, [path: readonly string[], message: RegExp]> = {
  ppo: [['buffer', 'real'], /PPO \(agent_0\): restore: saved\.buffer: .*real/],
  hop: [
    ['coPlayerModels', 'agent_0', 'updates'],
    /HOP \(agent_0\): restore: saved\.coPlayerModels\.agent_0: .*updates/,
  ],
  'hop with a world model': [['worldModel', 'score'], /HOP \(agent_0\): restore: saved\.worldModel: .*score/],
  'hop-plus': [['coPlayerModels', 'agent_0', 'omg', 'updates'], /saved\.coPlayerModels\.agent_0\.omg: .*updates/],
  'social influence': [['moa', 'updates'], /restore: saved\.moa: .*updates/],
};

it.each(Object.keys(LAST))(
  '%s stays as it was where the last part is refused, without parameters too',
  async (name) => {
    const [path, message] = LAST[name];
    const { learner: donor } = await taught(MAKERS[name]());
    const [tried, pure] = [MAKERS[name](), MAKERS[name]()].map(({ learner }) => learner);
    const damaged = without(await donor.state(), path);
    await expect(tried.restore(damaged)).rejects.toThrow(message);
    for (const learner of [tried, pure]) await learner.initialise(core.createGenerator(5));
    expect(await tried.state()).toEqual(await pure.state());
    await expect(tried.restore(damaged)).rejects.toThrow(message);
    expect(await tried.state()).toEqual(await pure.state());
  },
);

function without(state: core.SavedState, [name, ...inner]: readonly string[]): core.SavedState {
  const { [name]: entry, ...rest } = state;
  return inner.length === 0 ? rest : { ...rest, [name]: without(entry as core.SavedState, inner) };
}

it.each([Number.NaN, Number.POSITIVE_INFINITY])('a parameter or slot of %d is refused by its name', async (bad) => {
  const { learner } = await taught(MAKERS['hop']());
  const saved = structuredClone(await learner.state()) as unknown as Record<'params' | 'slots', core.NamedArrays>;
  for (const group of ['params', 'slots'] as const) {
    const [name, { data }] = Object.entries(saved[group])[1];
    const good = data[0];
    data[0] = bad;
    const message = `HOP (agent_0): restore: saved.${group}: expected finite numbers, got ${name}[0] = ${bad}`;
    await expect(learner.restore(saved as unknown as core.SavedState)).rejects.toThrow(message);
    data[0] = good;
  }
});
