import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as buffers from '@coplay/buffers';
import { type Agent, createGenerator, createRollout, ndarray, vectorEnv } from '@coplay/core';
import { matrixGame, randomAgent, stagHunt } from '@coplay/envs';
import { cellsWorldModel, mlp } from '@coplay/models';
import { ensureBackend, tf } from '@coplay/tensor';
import { twoHotBins } from '@coplay/tensor/distributions';
import * as trainers from '@coplay/trainers';
import { encodeSafetensors, flattenState, latestCheckpoint, saveCheckpoint } from '@coplay/trainers/checkpoint';
import { type Doors, door } from './doors';
import { firstInput, firstStep } from './inputs';

await ensureBackend();
const folder = mkdtempSync(join(tmpdir(), 'coplay-arguments-'));
const path = (name: string) => join(folder, name);

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const dilemma = matrixGame({ maxSteps: 3 });
const [id, other] = game.agents;
const generator = () => createGenerator(1);
const executor = 'eager';
const network = mlp({ hidden: [2] });
const common = { game, id, network, executor } as const;

const smallModel = cellsWorldModel({ filters: [2], hidden: 2 });
const models = { network, minRows: 1, minibatchSize: 4, capacity: 16 } as const;
const ppo = () => ({ ...common, ppo: { epochs: 1, minibatchSize: 16 } });
const hop = () => ({
  ...common,
  search: { simulations: 1, trees: 1 },
  moa: models,
  hop: { minibatchSize: 4, minibatches: 1, minRows: 1, capacity: 16 },
});
const omgSizes = {
  goalDim: 2,
  hidden: [2],
  stateUnits: 2,
  historyUnits: 2,
  vaeUpdates: 1,
  vaeSteps: 1,
  vaeBatchSize: 2,
};
const hopPlus = () => ({
  ...common,
  omg: omgSizes,
  worldModel: { model: smallModel, stepsPerUpdate: 1, batchSize: 4 },
  moa: models,
});
const dreamer = () =>
  ({ game, id, executor, size: 'debug', batchSize: 1, sequenceLength: 2, horizon: 1, updatesPerPhase: 1 }) as const;
const withoutId = ({ id: own, ...options }: { readonly id: string }) => ({ ...options, ids: [own] });
const influence = () => ({ ...common, moa: models });
const moa = () => ({ ...common, ...models });
const omg = () => ({ game, id, executor, selector: 'random', inferenceSteps: 1, batchSize: 2, ...omgSizes }) as const;
const worldModel = () => ({ game, executor, model: smallModel, batchSize: 4, stepsPerUpdate: 1 }) as const;

const matrix = () => tf.tensor2d([[0.5, 0.5]]);
const range = () => ({ low: tf.scalar(0), high: tf.scalar(1) });
const policy = () => ({ logProbs: matrix(), entropies: matrix(), advantages: matrix(), weights: matrix() });
const critic = () => ({ logits: tf.ones([1, 5]), returns: vector1(), slowValues: vector1(), weights: vector1() });
const vector1 = () => tf.tensor1d([0.5]);
const returns = () => ({ rewards: matrix(), discounts: matrix(), traces: 0.9, values: matrix() });
const replay = () => ({ rewards: matrix(), isTerminal: matrix(), isLast: matrix(), imagined: matrix() });
const states = () => ({ deter: tf.ones([1, 2, 3]) as tf.Tensor3D, stoch: tf.ones([1, 2, 3, 2]) as tf.Tensor4D });
const loose = ['undefined', '{}', 'a cyclic object'];

type LearningAgent = Agent & { readonly learner: trainers.Learner };
const prepare = ({ learner }: LearningAgent) => learner.initialise(generator());
const ready = async <T extends LearningAgent>(agent: T): Promise<T> => {
  await prepare(agent);
  return agent;
};
const begin = (learner: { initialise(generator: ReturnType<typeof createGenerator>): Promise<void> }) =>
  learner.initialise(generator());

const random = (seat: string) => randomAgent({ game, id: seat }) as Agent;
const livedBy = (agent: Agent) => {
  return createRollout(vectorEnv(game, { envs: 2 }), [agent, random(other)], generator()).collect(4);
};
const trained = await ready(trainers.ppoAgent(ppo()));
const planning = await ready(trainers.hopAgent(hop()));
const lived = await livedBy(trained);
const influenced = await livedBy(await ready(trainers.socialInfluenceAgent(influence())));
const planned = await livedBy(planning);
const minded = await livedBy(await ready(trainers.hopPlusAgent(hopPlus())));
const dreamt = await livedBy(await ready(trainers.dreamerAgent(dreamer())));
const dataOf = (experience: typeof lived) => () => [{ experience, progress: 0, generator: generator() }];
const cutValues = () => new Float32Array(lived.cuts.env.length * 2);
const values = () => new Float32Array(lived.rewards.length);

const input = () => firstInput(game);
/** Anything that a checkpoint can hold. */
const saved = [
  'null',
  'NaN',
  'Infinity',
  '-1',
  '1.5',
  '2**33',
  "''",
  "'x'",
  '[]',
  '{}',
  '[NaN]',
  "['x']",
  '[null]',
  'Uint16Array [7]',
  'true',
];
const begun = door(() => [generator()]);
const rows = door(() => [1], [['2**33']]);
const acts = (state: () => unknown, ...takes: string[]) => ({
  initialState: rows,
  act: door(() => [input(), state(), generator()], ['nothing', ...takes]),
});
const learns = (experience: typeof lived) => ({
  'learner.initialise': begun,
  'learner.update': door(dataOf(experience)),
});
const acting = async (agent: trainers.HopAgent) => {
  await prepare(agent);
  await agent.act(input(), agent.initialState(1), generator());
};
const played = async (agent: trainers.DreamerAgent) => {
  await prepare(agent);
  await agent.learner.update({ experience: dreamt, progress: 0, generator: generator() });
};
/** The functions that the option size is handed on to. */
const sizes = ['dreamerNets', 'dreamerSizes'];
const nothing = () => new Float32Array();
const made = (options: () => unknown, methods = {}, ...as: string[]) =>
  door(() => [options()], [], methods, as, prepare);

const logits = () => new Float64Array(5);
const column = () => tf.tensor1d([0.5, 0.5]);
const surrogate = () => ({ logProbs: column(), oldLogProbs: column(), advantages: column(), weights: column() });
const arrays = () => ({ a: ndarray(new Float32Array(4), [4]) });
await saveCheckpoint(path('checkpoints'), 1, { a: 1 });
const { checkpoint } = await latestCheckpoint(path('checkpoints'));
const transitions = trainers.createWorldModel(worldModel()).transitions(lived);
const moaRows = buffers.moaRows(lived, 1, { goals: game.goals });
const view = () => ({ ...input(), rows: 1 });
const runOptions = () => ({ game, agents: [trainers.ppoAgent(ppo()), random(other)], envs: 2, steps: 2 });

const kept = trainers.selfPlay({ ...runOptions(), directory: path('loaded') });
await kept.save();
kept.dispose();
const packed = await trainers.packAgents(path('loaded'));

/** An agent without chance or memory, for matrix games. */
const cooperates = (seat: string): Agent => ({
  id: seat,
  name: 'cooperates',
  initialState: () => null,
  act: ({ rows: count }, state) => ({ actions: new Int32Array(count), state }),
});

/** The public functions of trainers, with valid arguments. */
export const trainersDoors: Doors = {
  NonFiniteError: 'is made by learners',
  PpoLearner: 'is made by ppoAgent',
  anneal: door(
    () => [{ from: 1, to: 0 }, 0.5],
    [
      ['-1', '1.5', '2**33'],
      ['1.5', '2**33'],
    ],
  ),
  curriculum: door(() => [() => game], [], { setProgress: door(() => [0.5]) }),
  crossPlay: door(() => [{ game, policies: { random }, episodes: 1 }]),
  exploitability: door(() => [{ game: dilemma, agents: dilemma.agents.map(cooperates) }]),
  createMoa: door(
    () => [moa()],
    [],
    {
      initialise: begun,
      push: door(() => [lived]),
      update: begun,
      pretrain: door(() => [lived, { generator: generator(), epochs: 1 }], ['record']),
      predict: door(() => [other, view(), Int32Array.of(-1)], ['nothing', 'nothing', ['undefined']]),
      step: door(() => [other, view(), Int32Array.of(-1)], ['nothing', 'nothing', ['undefined']]),
      predictRows: door(() => [other, { ...moaRows }]),
      agent: door(() => [other, () => 0], ['nothing', ['undefined', 'a function']]),
      accuracy: door(() => [other]),
      goalCounts: door(() => [other]),
      prior: door(() => [other]),
      parameters: door(() => [other]),
    },
    [],
    begin,
  ),
  createOmg: door(
    () => [omg()],
    [],
    {
      initialise: begun,
      push: door(() => [lived, values()], ['nothing', ['undefined']]),
      update: begun,
      pretrain: door(() => [lived, { vaeSteps: 1 }, generator()], ['nothing', ['-{}', '-vaeSteps: undefined']]),
      infer: door(() => [view(), new Float32Array(2)]),
      inferOver: door(() => [lived]),
      latentsOf: door(() => [lived]),
      subgoalsOf: door(() => [minded, { epsilon: 0, generator: generator() }]),
    },
    [],
    begin,
  ),
  createWorldModel: door(
    () => [worldModel()],
    [],
    {
      initialise: begun,
      push: door(() => [lived]),
      update: begun,
      pretrain: door(() => [lived, { steps: 1, generator: generator() }]),
      predict: door(() => [{ ...transitions }]),
      transitions: door(() => [lived]),
      simulator: door(() => [{}], ['options']),
    },
    [],
    begin,
  ),
  dreamerAgent: door(
    () => [dreamer()],
    [],
    {
      ...acts(() => trainers.dreamerAgent(dreamer()).initialState(1)),
      ...learns(dreamt),
      'learner.train': door(() => [1, generator()]),
      'learner.trainWorldModel': begun,
      'learner.trainBehaviour': door(() => [generator(), undefined], ['nothing', ['undefined']]),
      'learner.openLoop': door(() => [generator(), {}], ['nothing', 'options']),
    },
    sizes,
    played,
  ),
  exportOnnx: door(() => [trained, path('a.onnx'), {}], ['nothing', 'path', 'options']),
  findNonFinite: door(() => [arrays()], ['record']),
  frozen: door(() => [trained, {}], ['nothing', 'options'], acts(nothing)),
  hopAgent: door(
    () => [hop()],
    [],
    {
      ...acts(() => trainers.hopAgent(hop()).initialState(1)),
      ...learns(planned),
      observe: door(() => [firstStep(game)]),
      'learner.watch': door(() => [trainers.hopAgent(hop()).search]),
      'learner.coPlayerModelsOf': door(() => [0]),
    },
    [],
    acting,
  ),
  hopPlusAgent: made(hopPlus, {
    ...acts(() => new Float32Array(2)),
    ...learns(minded),
    'learner.coPlayerModelsOf': door(() => [0]),
  }),
  interruptSignal: door(() => [() => undefined], [['undefined', 'a function']]),
  isLearning: door(() => [random(id)], ['anything']),
  gridGoals: door(() => [game, {}], ['nothing', 'options']),
  iteratedGame: door(() => [dilemma, 0.9]),
  iteratedGradients: door(() => [trainers.iteratedGame(dilemma, 0.9), logits(), logits()]),
  loadAgents: door(() => [path('loaded'), {}], ['path', 'options'], {}, ['loadRun']),
  loadRun: door(() => [path('loaded'), {}], ['path', 'options']),
  unpackAgents: door(() => [packed, { game }], [], {}, ['decodeSafetensors']),
  lola: door(() => [{ game: dilemma }], [], { train: door(() => [1]) }),
  memoryOneAgent: door(() => [{ game: dilemma, id: dilemma.agents[0], parameters: logits() }], [], {
    initialState: rows,
  }),
  packAgents: door(() => [path('loaded'), {}], ['path', 'options'], {}, ['loadRun']),
  pastSelves: door(() => [{ id, of: trained }], [], {
    ...acts(() => trainers.pastSelves({ id, of: trained }).initialState(1)),
  }),
  planner: door(
    () => [planning, {}],
    ['nothing', 'options'],
    acts(() => planning.initialState(1)),
    ['createSearch'], // whose options they are
  ),
  ppoAgent: made(ppo, {
    ...acts(nothing),
    ...learns(lived),
    'learner.values': door(() => [lived]),
    'learner.policyAndValues': door(() => [input(), 0, {}], ['nothing', 'nothing', loose]),
  }),
  prosocialRewards: door(() => [lived, 0.9]),
  selfPlay: door(
    () => [runOptions()],
    [],
    {
      train: door(() => [{ envSteps: 4 }]),
      evaluate: door(() => [{ episodes: 1 }], ['options']),
    },
    [],
    (run: trainers.SelfPlay) => run.state(), // which draws the first parameters
  ),
  sharedGoals: door(() => [{ share: 0.5 }], ['options']),
  sharedDreamerAgents: door(() => [{ game, ids: [id], executor, size: 'debug' }], [], {}, sizes),
  sharedHopAgents: door(() => [withoutId(hop())]),
  sharedHopPlusAgents: door(() => [withoutId(hopPlus())]),
  sharedPpoAgents: door(() => [{ game, ids: [id], network, executor }]),
  socialInfluenceAgent: made(influence, { ...acts(nothing), ...learns(influenced) }),
  toOnnx: door(() => [trained, {}], ['nothing', 'options']),
  withInsight: door(() => [random(id)]),
};

/** Those of `@coplay/trainers/checkpoint`. */
export const checkpointDoors: Doors = {
  createRunDirectory: door(() => [path('run'), { config: {}, versions: {}, resume: true }], ['path']),
  decodeSafetensors: door(() => [Buffer.concat(encodeSafetensors(arrays()))], [['longer']]),
  describeCheckpoint: door(() => [checkpoint, 1], ['nothing', ['undefined', '-1', '1.5', '2**33']]),
  encodeSafetensors: door(() => [arrays(), {}], ['record', 'options']),
  flattenState: door(() => [{ a: 1 }], [saved]),
  latestCheckpoint: door(() => [path('checkpoints'), {}], ['path', 'options']),
  loadCheckpoint: door(() => [checkpoint?.path, {}], ['path', 'options']),
  resumeFits: door(() => [{}, {}], [['{}', 'a cyclic object'], 'record']),
  runtimeVersions: 'takes nothing',
  saveCheckpoint: door(() => [path('saved'), 1, { a: 1 }, {}], ['path', ['2**33'], 'record', 'options']),
  unflattenState: door(() => [flattenState({ a: 1 })]),
};

/** Those of `@coplay/trainers/losses`. */
export const lossesDoors: Doors = {
  arrivalReturns: door(() => [returns()]),
  criticLoss: door(() => [critic(), twoHotBins(5), 1], ['nothing', 'nothing', ['undefined', '1.5', '2**33']]),
  detached: door(() => [{ a: matrix() }], ['record']),
  imagineSequence: 'takes networks and what they read, which only the code of a learner puts together',
  imaginedWeights: door(() => [matrix()]),
  lastStates: door(() => [states(), 1]),
  policyLoss: door(() => [policy(), 1], ['nothing', 'number']),
  replayReturns: door(() => [replay(), 0.9, 0.9]),
  trackReturns: door(() => [range(), matrix(), {}], ['nothing', 'nothing', loose]),
  actionInfluence: door(() => [Float32Array.of(0.5, 0.5, 0.5, 0.5), Float32Array.of(0.5, 0.5), Int32Array.of(0)]),
  clippedSurrogate: door(() => [surrogate(), 0.2], ['nothing', ['1.5', '2**33']]),
  policyDiagnostics: door(() => [surrogate(), 0.2], ['nothing', ['1.5', '2**33']]),
  ppoTargets: door(() => [
    lived,
    values(),
    cutValues(),
    { gamma: 0.9, lambda: 0.9, returns: 'gae', truncation: 'bootstrap' },
  ]),
  valueLoss: door(() => [
    { values: column(), oldValues: column(), returns: column(), weights: column() },
    { clip: 0.2, huberDelta: false },
  ]),
  weightedMean: door(() => [column(), column()]),
};
