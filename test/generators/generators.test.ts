import {
  agentRows,
  createOutcomeStore,
  createPpoBuffer,
  createReplayBuffer,
  createSequenceReplay,
  createTransitionStore,
  gridTransitions,
  moaRows,
} from '@coplay/buffers';
import {
  type Agent,
  box,
  createGenerator,
  createRollout,
  type Experience,
  type Generator,
  imagine,
  type NamedArrays,
  ndarray,
  rulesSimulator,
  vectorEnv,
} from '@coplay/core';
import { allocateStepArrays, drawAction } from '@coplay/core/arrays';
import { linearProbe } from '@coplay/diagnostics';
import { mixed, nearestStag, randomAgent, stagHunt, switcher } from '@coplay/envs';
import * as models from '@coplay/models';
import { dreamerNets as netsOfDreamer } from '@coplay/models/dreamer';
import * as layers from '@coplay/models/layers';
import { stateVae, subgoalInference } from '@coplay/models/omg';
import { createSearch } from '@coplay/planning';
import { glorotUniform, orthogonal, truncatedNormal, useBackend } from '@coplay/tensor';
import { sampleCategorical } from '@coplay/tensor/distributions';
import * as trainers from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { takersOfGenerators } from './arguments';

/** What is done with the generator; what comes back must differ from call to call, unless it's undefined. */
type Case = (generator: Generator) => unknown;

const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2, maxSteps: 8 });
const [id, other] = game.agents;
const network = models.mlp({ hidden: [8] });
const executor = 'eager';
const inputs = { planes: [4, 4, 3] };
const smallWorldModel = models.cellsWorldModel({ filters: [4], hidden: 8 });
const smallConv = models.conv({ filters: [2], dense: 4 });
const uniform = (rows: number) => new Float32Array(rows * game.actions);

const random = () => game.agents.map((one) => randomAgent({ game, id: one }) as Agent);
const envOf = (seed: number) => vectorEnv(game, { envs: 8, seed });
/** Steps of an agent in the first seat. */
const lived = (agent: Agent = random()[0]): Promise<Experience> =>
  createRollout(envOf(1), [agent, random()[1]], createGenerator(1)).collect(16);

/** An agent's answers to the same question, again and again. */
function answers(make: () => Agent | Promise<Agent>): Case {
  let agent: Agent | undefined;
  return async (generator) => {
    agent ??= await make();
    const env = envOf(2);
    const input = { ...env, rows: 8, active: new Uint8Array(8).fill(1), masks: takeSeat(env.masks, game.actions) };
    const observations = Object.fromEntries(
      Object.entries(env.observations).map(([name, data]) => [name, takeSeat(data, data.length / 16)]),
    );
    const { actions } = await agent.act({ ...input, observations }, agent.initialState(8), generator);
    return [...actions];
  };
}

/** The first of two seats. */
function takeSeat<T extends { length: number; subarray(from: number, to: number): ArrayLike<number> }>(
  data: T,
  size: number,
): T {
  const taken = Array.from({ length: 8 }, (_, row) => [
    ...Array.from(data.subarray(2 * row * size, (2 * row + 1) * size)),
  ]);
  return new (data.constructor as new (values: number[]) => T)(taken.flat());
}

type LearningAgent = Agent & { readonly learner: trainers.Learner };

async function ready<T extends LearningAgent>(agent: T): Promise<T> {
  await agent.learner.initialise(createGenerator(3));
  return agent;
}

const makers = {
  ppo: () => trainers.ppoAgent({ game, id, network, executor }),
  hop: () => {
    const moa = { network, minRows: 1, minibatchSize: 32, capacity: 128 };
    const hop = { minibatchSize: 16, minibatches: 2, minRows: 8, capacity: 256 };
    return trainers.hopAgent({ game, id, network, executor, search: { simulations: 4, trees: 2 }, moa, hop });
  },
  hopPlus: (more: trainers.HopPlusModules = {}) => {
    const omg = {
      goalDim: 2,
      hidden: [8],
      stateUnits: 4,
      historyUnits: 6,
      vaeUpdates: 1,
      vaeSteps: 2,
      vaeBatchSize: 8,
    };
    return trainers.hopPlusAgent({
      game,
      id,
      network,
      executor,
      omg,
      worldModel: { model: smallWorldModel, stepsPerUpdate: 2, batchSize: 16 },
      moa: { network, minRows: 1 },
      ...more,
    });
  },
  influence: () => trainers.socialInfluenceAgent({ game, id, network, executor, moa: { network, minRows: 1 } }),
  dreamer: () => {
    const size = { size: 'debug', batchSize: 2, sequenceLength: 4, horizon: 3, updatesPerPhase: 1 } as const;
    return trainers.dreamerAgent({ game, id, executor, ...size });
  },
};
const moa = () => trainers.createMoa({ game, id, network, minRows: 1, executor });
const worldModel = () =>
  trainers.createWorldModel({ game, model: smallWorldModel, members: 2, batchSize: 16, stepsPerUpdate: 2, executor });
const omg = (vaeUpdates = 1) => {
  const sizes = {
    goalDim: 4,
    hidden: [8],
    historyUnits: 4,
    stateUnits: 4,
    vaeUpdates,
    vaeSteps: 2,
    vaeBatchSize: 8,
  };
  return trainers.createOmg({ game, id, executor, selector: 'random', inferenceSteps: 2, batchSize: 4, ...sizes });
};

/** What a fresh learner begins with. */
function starts(make: () => { initialise(generator: Generator): Promise<void>; state(): unknown }): Case {
  return async (generator) => {
    const learner = make();
    await learner.initialise(generator);
    return learner.state();
  };
}

/**
 * Updates of one learner on the same experience: it isn't the same learner afterwards, so what comes back says nothing.
 */
function updates(make: () => LearningAgent): Case {
  let prepared: Promise<{ agent: LearningAgent; experience: Experience }> | undefined;
  const prepare = async () => {
    const agent = await ready(make());
    return { agent, experience: await lived(agent) };
  };
  return async (generator) => {
    prepared ??= prepare();
    const { agent, experience } = await prepared;
    await agent.learner.update({ experience, progress: 0, generator });
  };
}

interface Model {
  initialise(generator: Generator): Promise<void>;
}

/** One model that has been begun, and what is done with it. */
function withModel<T extends Model>(
  make: () => T,
  act: (model: T, generator: Generator, seen: Experience) => unknown,
): Case {
  let prepared: Promise<[T, Experience]> | undefined;
  const prepare = async (): Promise<[T, Experience]> => {
    const model = make();
    await model.initialise(createGenerator(3));
    return [model, await lived()];
  };
  return async (generator) => {
    prepared ??= prepare();
    const [model, seen] = await prepared;
    return act(model, generator, seen);
  };
}

const rows = (count: number): NamedArrays => ({ x: ndarray(Float32Array.from({ length: count }, (_, i) => i)) });

/** Does it once, later returns the same. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const ppoBuffer = once(async () => {
  const buffer = createPpoBuffer({ agents: [id] });
  buffer.push(id, agentRows(await lived(), 0));
  return buffer;
});
const replay = once(() => {
  const buffer = createReplayBuffer({ capacity: 100 });
  buffer.push(rows(50));
  return buffer;
});
const sequences = once(() => {
  const buffer = createSequenceReplay({ capacity: 100, length: 4 });
  buffer.push(rows(50));
  return buffer;
});
const dreamer = once(async () => {
  const { learner } = await ready(makers.dreamer());
  await learner.update({
    experience: await lived(random()[0]),
    progress: 0,
    generator: createGenerator(5),
  });
  return learner;
});

const cases: Record<string, Record<string, Case>> = {
  'buffers: PpoBuffer.minibatches': {
    'all of them': async (g) => [...(await ppoBuffer()).minibatches(g, { size: 16 })],
  },
  'buffers: PpoBuffer.plan': { plan: async (g) => (await ppoBuffer()).plan(g, { size: 16 }) },
  'buffers: ReplayBuffer.sample': { sample: (g) => replay().sample(g, { batch: 8, length: 2 }) },
  'buffers: ReplayBuffer.draw': { draw: (g) => replay().draw(g, 8, 2) },
  'buffers: SequenceReplay.sample': { 'more than are fresh': (g) => sequences().sample(g, 32) },
  'buffers: SequenceReplay.look': { look: (g) => sequences().look(g, 8) },
  'buffers: OutcomeStore.sample': {
    sample: async (g) => {
      const store = createOutcomeStore();
      store.push(gridTransitions(game, await lived()));
      return store.sample(g, 16);
    },
  },
  'buffers: TransitionStore.push': {
    'several members': (g) => {
      const store = createTransitionStore({ capacity: 50, members: 3 });
      store.push(rows(50), g);
      return store.state();
    },
  },
  'buffers: TransitionStore.sample': {
    sample: (g) => {
      const store = createTransitionStore({ capacity: 50 });
      store.push(rows(50));
      return store.sample(g, 16);
    },
  },
  'core: Agent.act': {
    random: answers(() => random()[0]),
    mixed: answers(() => mixed({ game, id, p: 0.5 }) as Agent),
    switcher: answers(
      () => switcher({ game, id, first: random()[0], second: nearestStag({ game, id }), episodes: 9 }) as Agent,
    ),
    'model of another': answers(async () => {
      const model = moa();
      await model.initialise(createGenerator(1));
      return { ...model.agent(other), id } as Agent;
    }),
    planner: answers(async () => trainers.planner(await ready(makers.hop())) as unknown as Agent),
    frozen: answers(async () => trainers.frozen(await ready(makers.ppo())) as unknown as Agent),
    'past self': answers(async () => trainers.pastSelves({ id, of: await ready(makers.ppo()) }) as unknown as Agent),
    'with insight': answers(async () => trainers.withInsight((await ready(makers.ppo())) as unknown as Agent)),
  },
  'core: drawAction': {
    'a box': (generator) => {
      const action = new Float32Array(2);
      drawAction(box({ shape: [2], low: -1, high: 1 }), [], 0, generator, action, 0);
      return action;
    },
  },
  'core: Game.reset': {
    'stag hunt': (g) => {
      const state = new Int32Array(game.stateSize);
      game.reset(state, 0, g);
      return state;
    },
  },
  'core: Game.step': {
    'prey that moves': (g) => {
      const moving = stagHunt({ size: 6, agents: 2, stags: 2, hares: 4, preyMoves: 0.5 });
      const { states } = vectorEnv(moving, { envs: 1, seed: 1 });
      const stay = moving.actionNames.indexOf('stay');
      moving.step(states as Int32Array, 0, Int32Array.of(stay, stay), 0, g, allocateStepArrays(moving, 1), 0);
      return states;
    },
  },
  'core: imagine': {
    rules: async (generator) => {
      const { states, previousActions, isFirst } = envOf(1);
      const imagined = await imagine(
        rulesSimulator(game),
        random(),
        { states, previousActions, isFirst },
        { horizon: 3, generator },
      );
      return imagined.actions;
    },
  },
  'core: createRollout': {
    rollout: async (g) => (await createRollout(envOf(1), random(), g).collect(4)).actions,
  },
  'core: Simulator.step': {
    'of a world model': withModel(worldModel, async (model, g) => {
      const { states } = envOf(1);
      await model.simulator().step(states, new Int32Array(16), g, allocateStepArrays(game, 8));
      return undefined; // a model that knows nothing yet may leave everything where it is
    }),
  },
  'diagnostics: linearProbe': {
    probe: (g) => {
      const labels = Array.from({ length: 40 }, (_, i) => i % 2);
      const groups = labels.map((_, i) => i);
      linearProbe(
        { features: Float32Array.from(labels, (x, i) => x + Math.sin(i)), labels, groups },
        { classes: 2 },
        g,
      );
    },
  },
  'models: ActorCritic.init': {
    feedforward: (g) => models.actorCritic({ inputs, actions: 3, network }).init(g),
    recurrent: (g) => models.actorCritic({ inputs, actions: 3, network, recurrent: 4 }).init(g),
  },
  'models: ConvStack.init': { stack: (g) => layers.convStack({ shape: [4, 4, 3], filters: [2, 2] }).init(g) },
  'models: Gru.init': { gru: (g) => layers.gru(3, 4).init(g) },
  'models: Layer.init': {
    dense: (g) => layers.denseLayer({ inputSize: 3, outputSize: 4 }).init(g),
    sequential: (g) => layers.sequential([layers.denseLayer({ inputSize: 3, outputSize: 4 })], 3).init(g),
  },
  'models: initialise': {
    initialise: (g) => layers.initialise(dreamerNets().rssm.specs, g),
  },
  'models: MoaNet.init': { net: (g) => models.moaNet({ inputs, actions: 3, network }).init(g) },
  'models: SubgoalInference.init': {
    inference: (g) => subgoalInference({ inputs, actions: 3, goalDim: 2 }).init(g),
  },
  'models: StateVae.init': { vae: (g) => stateVae({ inputs, actions: 3, goalDim: 2 }).init(g) },
  'models: DreamerDecoder.init': { decoder: (g) => dreamerNets().decoder.init(g) },
  'models: DreamerEncoder.init': { encoder: (g) => dreamerNets().encoder.init(g) },
  'models: DreamerNets.init': { nets: (g) => dreamerNets().init(g) },
  'models: Rssm.init': { rssm: (g) => dreamerNets().rssm.init(g) },
  'models: Torso.init': {
    mlp: (g) => network(inputs).init(g),
    conv: (g) => smallConv(inputs).init(g),
  },
  'models: WorldModel.init': {
    cells: (g) => models.cellsWorldModel()(game).init(g),
    planes: (g) => models.planesWorldModel()(game).init(g),
  },
  'models: WorldModel.decode': {
    cells: withModel(worldModel, async (model, g, seen) => {
      const before = gridTransitions(game, seen);
      const { imagined } = await model.predict(before);
      return smallWorldModel(game).decode(imagined, before, g);
    }),
  },
  'planning: TreeSearch.search': {
    'one generator': (generator) => searched(generator),
    'one for each root': (generator) => searched(Array.from({ length: 8 }, () => generator)),
    'without simulations': (generator) => searched(generator, 0),
  },
  'tensor: sampleCategorical': {
    sample: (g) => sampleCategorical(new Float32Array(64).fill(Math.log(0.25)), 16, 4, g),
  },
  'tensor: glorotUniform': { weights: (g) => glorotUniform(g, [2, 3]) },
  'tensor: orthogonal': { weights: (g) => orthogonal(g, [2, 3]) },
  'tensor: truncatedNormal': { weights: (g) => truncatedNormal(g, [2, 3], 1) },
  'trainers: DreamerAgent.act': { act: answers(() => ready(makers.dreamer()) as unknown as Promise<Agent>) },
  'trainers: DreamerLearner.initialise': { start: starts(() => makers.dreamer().learner) },
  'trainers: DreamerLearner.update': { update: updates(() => makers.dreamer() as unknown as LearningAgent) },
  'trainers: DreamerLearner.train': { train: async (g) => void (await (await dreamer()).train(1, g)) },
  'trainers: DreamerLearner.trainWorldModel': { train: async (g) => void (await (await dreamer()).trainWorldModel(g)) },
  'trainers: DreamerLearner.trainBehaviour': { train: async (g) => void (await (await dreamer()).trainBehaviour(g)) },
  'trainers: DreamerLearner.openLoop': {
    look: async (g) => (await (await dreamer()).openLoop(g, { context: 2 })).predicted,
  },
  'trainers: HopAgent.act': { act: answers(() => ready(makers.hop()) as unknown as Promise<Agent>) },
  'trainers: HopLearner.initialise': { start: starts(() => makers.hop().learner) },
  'trainers: HopLearner.update': { update: updates(() => makers.hop() as unknown as LearningAgent) },
  'trainers: HopPlusAgent.act': {
    act: answers(() => ready(makers.hopPlus()) as unknown as Promise<Agent>),
    'with tree search': answers(() => {
      const treeSearch = { trees: 2, simulations: 4 };
      return ready(makers.hopPlus({ worldModel: 'rules', treeSearch })) as unknown as Promise<Agent>;
    }),
  },
  'trainers: Exploration.start': {
    'the goals of explorers': async (generator) => {
      const agents = [(await ready(makers.ppo())) as unknown as Agent, random()[1]];
      const explorers = trainers.sharedGoals({ share: 1, group: 1 }).start({ game, agents, envs: 8, generator });
      explorers.setProgress(0);
      return (await createRollout(envOf(1), explorers.agents, createGenerator(1)).collect(8)).actions;
    },
  },
  'trainers: HopPlusLearner.initialise': { start: starts(() => makers.hopPlus().learner) },
  'trainers: HopPlusLearner.update': {
    update: updates(() => makers.hopPlus() as unknown as LearningAgent),
    'without rows': updatesWithoutRows(() => makers.hopPlus() as unknown as LearningAgent),
  },
  'trainers: MoaLearner.initialise': { start: starts(moa) },
  'trainers: MoaLearner.update': {
    update: async (g) => {
      const model = moa();
      await model.initialise(createGenerator(3));
      model.push(await lived());
      await model.update(g);
      return model.state();
    },
  },
  'trainers: MoaLearner.pretrain': {
    pretrain: withModel(moa, async (model, generator, seen) => {
      await model.pretrain({ [other]: moaRows(seen, 1) }, { generator, epochs: 1 });
    }),
  },
  'trainers: OmgLearner.initialise': { start: starts(() => omg()) },
  'trainers: OmgLearner.update': {
    update: withModel(
      () => omg(),
      async (model, g, seen) => {
        model.push(seen);
        await model.update(g);
      },
    ),
  },
  'trainers: OmgLearner.pretrain': {
    pretrain: withModel(
      () => omg(),
      async (model, g, seen) => void (await model.pretrain(seen, { vaeSteps: 2 }, g)),
    ),
  },
  'trainers: OmgLearner.subgoalsOf': {
    'selected or inferred': withModel(
      () => omg(0),
      async (model, generator, seen) => {
        const data = new Float32Array(seen.envs * seen.steps * 2 * 4).fill(-9);
        const extras = { subgoals: ndarray(data, [seen.envs, seen.steps, 2, 4]) };
        return (await model.subgoalsOf({ ...seen, extras }, { epsilon: 0.5, generator })).subgoals;
      },
    ),
  },
  'trainers: PpoAgent.act': { act: answers(() => ready(makers.ppo()) as unknown as Promise<Agent>) },
  'trainers: PpoLearner.initialise': { start: starts(() => makers.ppo().learner) },
  'trainers: PpoLearner.update': { update: updates(() => makers.ppo() as unknown as LearningAgent) },
  'trainers: SocialInfluenceAgent.act': { act: answers(() => ready(makers.influence()) as unknown as Promise<Agent>) },
  'trainers: SocialInfluenceLearner.initialise': { start: starts(() => makers.influence().learner) },
  'trainers: SocialInfluenceLearner.update': { update: updates(() => makers.influence() as unknown as LearningAgent) },
  'trainers: WorldModelLearner.initialise': { start: starts(worldModel) },
  'trainers: WorldModelLearner.update': {
    update: withModel(worldModel, async (model, g, seen) => {
      model.push(seen);
      await model.update(g);
    }),
  },
  'trainers: WorldModelLearner.pretrain': {
    pretrain: withModel(
      worldModel,
      async (model, generator, seen) => void (await model.pretrain(seen, { generator, steps: 2 })),
    ),
  },
};

/** Functions that only check that it is a generator. */
const CHECKS = ['core: checkAct'];

/** Interfaces whose functions are above, by what implements them. */
const IMPLEMENTED = [
  'core: AnyGame.reset',
  'core: AnyGame.step',
  'python: PythonGame.reset',
  'python: PythonGame.step',
  'trainers: HopPlayer.act',
  'trainers: LearningAgent.act',
  'trainers: Learner.initialise',
  'trainers: Learner.update',
];

function dreamerNets() {
  return netsOfDreamer({
    observations: { position: { kind: 'vector', size: 4 } },
    actions: { kind: 'discrete', count: 2 },
    size: 'debug',
  });
}

async function searched(generator: Generator | Generator[], simulations = 8) {
  const search = createSearch({ game, simulations, trees: 2, rootNoise: { alpha: 1, fraction: 0.5 } });
  const roots = { rows: 8, states: envOf(1).states, seats: new Int32Array(8), generator };
  const networks = {
    focal: ({ rows }: { rows: number }) => ({ logits: uniform(rows), values: new Float32Array(rows) }),
    coPlayers: ({ rows }: { rows: number }) => uniform(rows),
  };
  const { policy, actions } = await search.search(roots, networks);
  return [policy, actions];
}

/** An update in which nobody played, so that PPO draws nothing. */
function updatesWithoutRows(make: () => LearningAgent): Case {
  return async (generator) => {
    const agent = await ready(make());
    const experience = await lived(agent);
    experience.active.fill(0);
    await agent.learner.update({ experience, progress: 0, generator });
  };
}

beforeAll(async () => {
  await useBackend('wasm');
});

describe('a generator that is given', () => {
  it('is known of every exported function that takes one', { tags: ['slow'] }, () => {
    expect([...new Set(takersOfGenerators())].sort()).toEqual(
      [...Object.keys(cases), ...CHECKS, ...IMPLEMENTED].sort(),
    );
  });

  const all = Object.entries(cases).flatMap(([taker, own]) =>
    Object.entries(own).map(([name, call]) => [`${taker}, ${name}`, call] as const),
  );
  it.each(all)('is advanced, so that the next call draws other numbers: %s', async (_, call) => {
    const generator = createGenerator(11);
    const results: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const before = generator.state();
      results.push(await call(generator));
      expect(generator.state()).not.toEqual(before);
    }
    if (results[0] === undefined) return;
    expect(results[1]).not.toEqual(results[0]);
    expect(results[2]).not.toEqual(results[1]);
  });
});
