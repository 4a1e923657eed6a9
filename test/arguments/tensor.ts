import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import * as tensor from '@coplay/tensor';
import * as distributions from '@coplay/tensor/distributions';
import { type Doors, door } from './doors';

await tensor.ensureBackend();
const { tf } = tensor;
const generator = () => createGenerator(1);
const matrix = () => tf.tensor2d([[0.5, 0.5]]);
const noise = () => tf.tensor1d([0.5]);
const normal = () => ({ mean: matrix(), stddev: matrix() });
const bins = () => distributions.twoHotBins(2);
const process = 'sets or reads what a whole process uses';
const graph = 'its arguments are functions and arrays that are only known by what a call traces';
const params = () => ({ w: ndarray(new Float32Array(2)) });
const weights = () => ({ w: tf.tensor1d([1, 2]) });
/** What an optimiser gives and takes. */
const steps = (optimiser: tensor.Optimiser) => ({
  init: door(() => [params()], ['record']),
  update: door(
    () => [weights(), tensorsOf(optimiser.init(params())), weights(), 0.1],
    ['nothing', 'nothing', 'nothing', ['-1', '1.5', '2**33']],
  ),
});
const tensorsOf = (arrays: NamedArrays) =>
  Object.fromEntries(Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data, [...shape])]));
const twice = (_: unknown, { x }: tensor.TensorRecord) => ({ outputs: { y: tf.mul(x, 2) } });
const doubled = (_: unknown, { each }: { each: tensor.TensorRecord }) => ({ outputs: { y: tf.mul(each['x'], 2) } });
/** Without inputs, and with records of them, the step itself is called, which says what it needs. */
const called = (name: string) => ({
  '()': door(
    () => [{ x: ndarray(new Float32Array(2)) }, {}],
    [
      ['-{}', '-x: {}'],
      ['undefined', '{}'],
    ],
    {},
    [name],
  ),
});
/** Variables of two members, as `compileStacked` takes them. */
const own = () => tensor.variables(params());
const stacked = () => ({ params: tensor.stackVariables([own(), own()]) });
const shifted = (state: { params: tensor.TensorRecord }, { x }: tensor.TensorRecord) => {
  return { outputs: { y: tf.add(x, state.params['w']) } };
};
const shiftedSteps = (state: { params: tensor.TensorRecord }, { each }: { each: tensor.TensorRecord }) => {
  return { outputs: { y: tf.add(each['x'], state.params['w']) } };
};
const layers = 'is given models of TensorFlow.js';

/** The public functions of tensor, with valid arguments. */
export const tensorDoors: Doors = {
  adam: door(() => [{}], ['options'], steps(tensor.adam())),
  adamW: door(() => [{}], ['options'], steps(tensor.adamW())),
  applyModel: layers,
  applyModelOutputs: layers,
  checkTensor: door(() => ['checkTensor', 'x', matrix()], ['where', 'where']),
  compile: door(() => [twice, { name: 'f', executor: 'eager' }], ['function'], called('function f')),
  compileScan: door(() => [doubled, { name: 'f', executor: 'eager' }], ['function'], {
    '()': door(
      () => [{ each: { x: ndarray(new Float32Array(2)) }, shared: {} }, {}],
      [
        ['-{}', '-each.x: {}', '-each: {}'],
        ['undefined', '{}'],
      ],
      {},
      ['function f'],
    ),
  }),
  compileScanEach: door(
    () => [shiftedSteps, { name: 'f', executor: 'eager', states: [{ params: own() }] }],
    ['function'],
    {
      '0': door(
        () => [{ each: { x: ndarray(new Float32Array(4), [2, 2]) }, shared: {} }, {}],
        [
          ['-{}', '-each.x: {}', '-each: {}'],
          ['undefined', '{}'],
        ],
        {},
        ['function f'],
      ),
    },
  ),
  compileStacked: door(() => [shifted, { name: 'f', executor: 'eager', state: stacked() }], ['function'], {
    '()': door(
      () => [{ x: ndarray(new Float32Array(4), [2, 2]) }, {}],
      [
        ['-{}', '-x: {}'],
        ['undefined', '{}'],
      ],
      {},
      ['function f'],
    ),
  }),
  compileTogether: door(() => [shifted, { name: 'f', executor: 'eager', state: stacked() }], ['function'], {
    '0': door(
      () => [{ x: ndarray(new Float32Array(2)) }, {}],
      [
        ['-{}', '-x: {}'],
        ['undefined', '{}'],
      ],
      {},
      ['function f'],
    ),
  }),
  ensureBackend: process,
  executorInfo: process,
  glorotUniform: door(() => [generator(), [2, 3]], ['nothing', ['longer']]),
  inspectGraph: graph,
  laProp: door(() => [{}], ['options'], steps(tensor.laProp())),
  learningRate: door(() => [{ rate: 1 }], [], { '()': door(() => [1], ['positive']) }),
  mergeRows: door(() => [tensor.compile(twice, { name: 'f', executor: 'eager' })], ['function'], {
    '()': door(
      () => [{ x: ndarray(new Float32Array(2)) }, {}],
      [
        ['-{}', '-x: {}'],
        ['undefined', '{}'],
      ],
      {},
      ['mergeRows', 'function f'],
    ),
  }),
  operationTimes: graph,
  orthogonal: door(() => [generator(), [2, 3], 1], ['nothing', ['longer'], ['undefined', '-1', '1.5', '2**33']]),
  readWeights: layers,
  rmsProp: door(() => [{}], ['options'], steps(tensor.rmsProp())),
  sgd: door(() => [{ momentum: 0.5 }], ['options'], steps(tensor.sgd({ momentum: 0.5 }))),
  stackVariables: door(() => [[own(), own()], 'flat'], ['nothing', ['undefined']]),
  stopGradient: door(() => [matrix()]),
  truncatedNormal: door(() => [generator(), [2], 1], ['nothing', ['[]', 'longer'], 'positive']),
  useBackend: process,
  useExecutor: process,
  useOnnxWeb: process,
  valueAndGradients: graph,
  variables: graph,
  writeWeights: layers,
  zeros: door(() => [[2, 3]], [['[]', 'longer']]),
};

/** Those of `@coplay/tensor/distributions`. */
export const distributionsDoors: Doors = {
  argmaxRows: door(() => [new Float32Array(4), 2, 2]),
  bernoulliLoss: door(() => [matrix(), matrix()]),
  codesLoss: door(() => [matrix(), matrix(), 1]),
  boundedNormal: door(() => [matrix(), matrix()]),
  categoricalEntropy: door(() => [matrix(), matrix()]),
  categoricalKl: door(() => [matrix(), matrix()]),
  latentLosses: door(() => [matrix(), matrix(), 1], ['nothing', 'nothing', 'positive']),
  logProbOf: door(() => [matrix(), tf.tensor1d([0], 'int32')]),
  maskedLogProbs: door(() => [matrix(), matrix()]),
  mirrorBins: door(() => [bins()], [['longer']]),
  normalEntropy: door(() => [normal()]),
  normalLogProb: door(() => [normal(), matrix()]),
  normalSample: door(() => [normal(), matrix()]),
  oneHotSample: door(() => [matrix(), noise()]),
  sampleCategorical: door(() => [new Float32Array(4), 2, 2, generator()]),
  squashedEntropy: door(() => [normal()]),
  squashedLogProb: door(() => [normal(), matrix()]),
  straightThrough: door(() => [matrix(), noise()]),
  symexp: door(() => [matrix()]),
  symlog: door(() => [matrix()]),
  twoHotBins: door(() => [2]),
  twoHotLoss: door(() => [matrix(), noise(), bins()]),
  twoHotMean: door(() => [matrix(), bins()]),
  twoHotWeights: door(() => [noise(), bins()], ['nothing', ['longer']]),
  unimix: door(() => [matrix(), 0.1]),
  unimixLog: door(() => [matrix(), 0.1]),
};

/** Those of `@coplay/tensor/onnx`. */
export const onnxDoors: Doors = {
  exportOnnx: graph,
  toOnnx: graph,
};

/** Those of `@coplay/tensor/threads`. */
export const threadsDoors: Doors = {
  checkThreadChoices: process,
  restoreThreadChoices: process,
  threadChoices: process,
  threadInfo: process,
  useThreads: process,
};
