import * as core from '@coplay/core';
import * as arrays from '@coplay/core/arrays';
import { randomAgent, stagHunt } from '@coplay/envs';
import { z } from 'zod';
import { type Doors, door } from './doors';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const agents = () => game.agents.map((id) => randomAgent({ game, id }));
const generator = () => core.createGenerator(1);
const env = () => core.vectorEnv(game, { envs: 2 });
const rows = 2 * 3 * 2;
const steps = () => ({
  ...arrays.allocateExperience(game, 2, 3),
  values: new Float32Array(rows),
  nextValues: new Float32Array(rows),
});
const states = () => env().states.slice();
const imagined = () => ({
  states: states(),
  previousActions: new Int32Array(4).fill(-1),
  isFirst: Uint8Array.of(1, 1),
});
const restored = (give: () => unknown) => door(() => [give()]);
/** NaN stays NaN. */
const anyNumbers = ['[]', '[NaN]', 'Uint16Array [7]', 'longer'];
const clock = { '()': door(() => [5], ['positive']) };

/** The public functions of core, with valid arguments. */
export const coreDoors: Doors = {
  CoplayError: 'takes what fail gives',
  fail: 'always throws',
  show: 'shows anything',
  allocate: door(() => ['uint8', 3]),
  assertGame: door(() => [game, { episodes: 1 }], ['nothing', 'options'], {}, ['game']),
  box: door(() => [{ shape: [2], low: 0, high: 1 }]),
  bootstrapValues: door(
    () => [steps(), new Float32Array(rows), new Float32Array(), {}],
    ['nothing', 'nothing', ['[]'], 'options'],
  ),
  checkGame: door(() => ['checkGame', game], ['where']),
  checkOptions: door(() => ['checkOptions', z.strictObject({}), {}], ['where', 'anything', 'options']),
  checkShapes: door(() => ['checkShapes', { a: { shape: [2] } }, 'B'], ['where', 'record', ["'x'"]]),
  constant: door(() => [1], ['number'], { '()': door(() => [0.5], ['anything']) }),
  continuation: door(() => [steps()]),
  cosine: door(() => [1, 0], ['number', 'number'], { '()': door(() => [0.5], [['-1', '1.5', '2**33', 'Infinity']]) }),
  createGenerator: door(() => [1], ['seed'], {
    integer: door(() => [5]),
    shuffle: door(
      () => [[1, 2]],
      [
        [
          '[]',
          'longer',
          '[NaN]',
          "['x']",
          '[null]',
          'Uint16Array [7]',
          'BigInt64Array [7n]',
          'a cyclic array',
          'a sparse array',
        ],
      ],
    ),
    split: door(() => [5]),
    restore: restored(() => generator().state()),
  }),
  createRewardScaler: door(() => [{ envs: 2, agents: 2, gamma: 0.9 }], [], {
    scale: door(() => [steps()]),
    restore: restored(() => core.createRewardScaler({ envs: 2, agents: 2, gamma: 0.9 }).state()),
  }),
  createRollout: door(
    () => [env(), agents(), generator(), [null, null]],
    ['nothing', 'nothing', 'nothing', 'nothing?'],
    {
      collect: door(() => [2]),
      restore: restored(() => core.createRollout(env(), agents(), generator()).state()),
    },
  ),
  createRunningMoments: door(() => [1], [['undefined']], {
    update: door(
      () => [
        [1, 2],
        [1, 1],
      ],
      ['nothing', 'nothing?'],
    ),
    normalise: door(() => [[1, 2], {}], [anyNumbers, 'options']),
    restore: restored(() => core.createRunningMoments().state()),
  }),
  createValueNorm: door(() => [{}], ['options'], {
    update: door(
      () => [
        [1, 2],
        [1, 1],
      ],
      ['nothing', 'nothing?'],
    ),
    normalise: door(() => [[1, 2]], [anyNumbers]),
    denormalise: door(() => [[1, 2]], [anyNumbers]),
    restore: restored(() => core.createValueNorm().state()),
  }),
  discountedSum: door(() => [[1, 2], 0.9], ['numbers']),
  evaluate: door(() => [game, agents(), { episodes: 2 }], ['nothing', 'nothing', 'options']),
  externalGame: door(() => [{ ...game, external: { envs: 1, open() {} } }]),
  every: door(() => [5], ['limit'], { ...clock, restore: restored(() => core.every(5).state()) }),
  explainedVariance: door(
    () => [
      [1, 2],
      [1, 2],
      [1, 1],
    ],
    ['nothing', 'nothing', 'nothing?'],
  ),
  gae: door(() => [steps(), { gamma: 0.9, lambda: 0.9 }]),
  gameContract: door(() => [game, { episodes: 1 }], ['anything', 'options']),
  generatorFrom: door(() => [generator().state()]),
  imagine: door(() => [core.rulesSimulator(game), agents(), imagined(), { horizon: 2, generator: generator() }]),
  lambdaReturns: door(() => [steps(), { gamma: 0.9, lambda: 0.9 }]),
  linear: door(() => [1, 0], ['number', 'number'], { '()': door(() => [0.5], ['anything']) }),
  monteCarloReturns: door(() => [steps(), { gamma: 0.9 }]),
  ndarray: door(() => [new Uint8Array(2), [2]], ['nothing', 'nothing?']),
  multiDiscrete: door(() => [[2, 3]], [['longer']]),
  normaliseAdvantages: door(() => [[1, 2], [1, 1], {}], ['nothing', 'nothing?', 'options']),
  otherView: door(() => [game, arrays.allocateObservations(game.observation, 1), 1, 0, 1]),
  parallelEnv: door(
    () => [game, {}],
    ['nothing', 'options'],
    {
      reset: door(() => [{}], ['options']),
      step: door(() => [Object.fromEntries(game.agents.map((id) => [id, 0]))]),
    },
    [],
    (env: core.ParallelEnv) => env.reset(),
  ),
  piecewise: door(
    () => [
      [
        [0, 1],
        [1, 0],
      ],
    ],
    [],
    { '()': door(() => [0.5], [['-1', '1.5', '2**33', 'Infinity']]) },
  ),
  ratio: door(() => [0.5], ['positive'], { ...clock, restore: restored(() => core.ratio(0.5).state()) }),
  rulesSimulator: door(() => [game], [], {
    step: door(() => [states(), new Int32Array(4), generator(), arrays.allocateStepArrays(game, 2)]),
  }),
  seatAgents: door(() => ['seatAgents', game.agents, agents()], ['where', ['longer']]),
  streamSeed: door(() => [1, 'evaluate/env'], ['seed', 'text']),
  splitSeed: door(() => [1, 2], ['seed']),
  until: door(() => [5], ['limit'], clock),
  startsFrom: door(
    () => [
      core.rulesSimulator(game),
      {
        ...arrays.allocateExperience(game, 2, 3),
        states: core.ndarray(new Int32Array(6 * game.stateSize), [2, 3, game.stateSize]),
      },
      Int32Array.of(0),
    ],
    ['nothing', 'nothing', ['longer']],
  ),
  vectorEnv: door(() => [game, { envs: 2 }], [], {
    reset: door(() => [{}], ['options']),
    step: door(() => [new Int32Array(4)]),
    restore: restored(() => env().state()),
  }),
};

/** Those of `@coplay/core/checks`. */
export const checksDoors: Doors = {
  checkAgent: door(() => ['checkAgent', agents()[0]], ['where']),
  actionFault: 'reads an action and a space that were checked',
  checkAct: 'is called by agents with a game that was checked; the tables of agents try it',
  checkAgentInput: 'is called by agents with a game that was checked; the tables of agents try it',
  checkAgentStep: 'is called by agents with a game that was checked; the tables of agents try it',
  checkObservationArrays: 'is called by agents with a game that was checked; the tables of agents try it',
  checkArgument: 'is given its schema by the code that calls it',
  checkEpisodeLength: 'is called with a game that was checked and a count of the code that calls it',
  checkCount: door(() => ['checkCount', 'n', 1], ['where', 'where']),
  checkExperience: door(() => ['checkExperience', steps()], ['where']),
  checkExperienceOf: door(() => ['checkExperienceOf', game, steps()], ['where']),
  checkFieldNames: door(() => ['checkFieldNames', game.observation], ['where', ['{}', 'a cyclic object']]),
  checkExperienceSpec: door(() => ['checkExperienceSpec', game], ['where']),
  checkSimulator: door(() => ['checkSimulator', core.rulesSimulator(game), game], ['where', 'nothing', ['undefined']]),
  kindFault: 'reads a field of a description that is being checked',
  checkObservations: 'is called by rollouts with a game that was checked',
  checkRewards: 'is called after steps of a game that was checked',
  checkFunction: door(() => ['checkFunction', 'f', () => 1], ['where', 'where', 'function']),
  checkGenerator: door(() => ['checkGenerator', generator()], ['where']),
  checkNumber: door(() => ['checkNumber', 'n', 1], ['where', 'where', 'number']),
  checkNumbers: door(() => ['checkNumbers', 'n', [1]], ['where', 'where', 'numbers']),
  isPlainRecord: 'takes anything',
  checkMetrics: door(() => ['checkMetrics', { a: 1 }], ['where', ['{}']]),
  checkRecord: door(() => ['checkRecord', 'n', {}], ['where', 'where', ['{}', 'a cyclic object']]),
  checkText: door(() => ['checkText', 'n', 'a'], ['where', 'where', 'text']),
  checkTypedArray: door(
    () => ['checkTypedArray', 'n', new Uint8Array(1), 'uint8', 1],
    ['where', 'where', 'nothing', 'where', 'where'],
  ),
  repeatedKey: 'is given text that was parsed as JSON',
  escapeMarkup: door(() => ['<a>'], [["''", "'x'"]]),
  functions: 'makes a schema of nothing',
  oneForAllCopies: 'is called once for each name by the packages themselves',
  sharedAmongCopies: 'is called once for each name by the packages themselves',
  reachedGoal: 'is called with the goals of a game that was checked',
  ofPart: 'is called by the code of a whole with its own parts',
  oneAtATime: 'is given nothing',
  yieldToEventLoop: 'is given nothing',
  parseJson: door(() => ['parseJson', '[1]', {}], ['where', 'nothing', 'options']),
  restorePart: 'is called by the code of a whole with its own parts',
  restoreParts: 'is called by the code of a whole with its own parts',
  typedArrays: 'makes a schema of names that the types allow',
  xmlCharacters: door(() => ['<a>'], [["''", "'x'"]]),
};

/** Those of `@coplay/core/arrays`. */
export const arraysDoors: Doors = {
  actionLayout: 'reads the actions of a game that was checked',
  choicesOf: 'reads a space of a game that was checked',
  codeSizeOf: 'reads a space of a game that was checked',
  drawAction: 'draws from a space of a game that was checked',
  isBox: 'reads a space of a game that was checked',
  isSameSpace: 'reads spaces of games that were checked',
  maskSizeOf: 'reads a space of a game that was checked',
  readSpace: 'reads a part of a file that was checked',
  saveSpace: 'reads a space of a game that was checked',
  widthOf: 'reads a space of a game that was checked',
  writeActionCode: 'writes an action of a game that was checked',
  allocateCuts: door(() => [game, 2]),
  allocateExperience: door(() => [game, 2, 3]),
  allocateGrid: door(() => [game.grid, 2, 3]),
  allocateObservations: door(() => [game.observation, 2], ['record']),
  allocateStepArrays: door(() => [game, 2]),
  kindOf: 'reads a field of a game that was checked',
  highOf: 'reads a field of a game that was checked',
  copyObservation: door(() => [game.observation, env().observations, 0, env().observations, 1], ['record']),
  copyRow: door(() => [new Uint8Array(4), 0, new Uint8Array(4), 1, 2], [['longer'], 'nothing', ['longer']]),
  dtypeOf: door(() => [new Uint8Array(1)], [['Uint16Array [7]', 'longer']]),
  isLastStep: 'is asked for each step of experience that its callers have checked',
  inThisRealm: door(() => [new Uint8Array(1)], [['Uint16Array [7]', 'longer']]),
  isArrayOf: door(() => ['uint8', new Uint8Array(1)], ['anything', 'anything']),
  isTypedArray: door(() => [new Uint8Array(1)], ['anything']),
  sizeOf: door(() => [[2, 3]], [['[]', 'longer']]),
};

const columns = () => ({ a: core.ndarray(new Float32Array(4), [4]), b: core.ndarray(new Int32Array(8), [4, 2]) });
const unchecked = 'runs for each step or row, so its callers check';

/** Those of `@coplay/core/rows`. */
export const rowsDoors: Doors = {
  allocateRows: unchecked,
  checkRowSpec: unchecked,
  concatRows: door(() => [[columns()]], [['longer']]),
  drawIndex: unchecked,
  gatherInto: unchecked,
  gatherRows: door(() => [columns(), [0, 1]], ['nothing', ['[]', 'longer']]),
  mapColumns: unchecked,
  mean: unchecked,
  nonZero: unchecked,
  paddedCount: unchecked,
  padRows: unchecked,
  putSeat: unchecked,
  reshapeRows: unchecked,
  rowCount: door(() => ['rowCount', columns()], ['where', 'nothing']),
  rowSpecOf: unchecked,
  seatRows: unchecked,
  sliceRows: unchecked,
  takeRows: unchecked,
};
