import { createGenerator, ndarray } from '@coplay/core';
import * as tensor from '@coplay/tensor';
import { type Doors, door } from './doors';

await tensor.ensureBackend();
const { tf } = tensor;
const generator = () => createGenerator(1);
const matrix = () => tf.tensor2d([[0.5, 0.5]]);
const noise = () => tf.tensor1d([0.5]);
const normal = () => ({ mean: matrix(), stddev: matrix() });
const bins = () => tensor.twoHotBins(2);
const process = 'sets or reads what a whole process uses';
const graph = 'its arguments are functions and arrays that are only known by what a call traces';
const step = () => ({ outputs: {} });
const params = () => ({ w: ndarray(new Float32Array(2)) });
/** An optimiser's slots are made outside of graphs; its steps are tried where graphs are. */
const slots = { init: door(() => [params()], ['record']) };
const layers = 'is given models of TensorFlow.js';

/** The public functions of tensor, and what each argument may be. */
export const tensorDoors: Doors = {
  adam: door(() => [{}], ['options'], slots),
  adamW: door(() => [{}], ['options'], slots),
  applyModel: layers,
  applyModelOutputs: layers,
  argmaxRows: door(() => [new Float32Array(4), 2, 2]),
  bernoulliLoss: door(() => [matrix(), matrix()]),
  codesLoss: door(() => [matrix(), matrix(), 1]),
  boundedNormal: door(() => [matrix(), matrix()]),
  categoricalEntropy: door(() => [matrix(), matrix()]),
  categoricalKl: door(() => [matrix(), matrix()]),
  checkThreadChoices: process,
  checkTensor: door(() => ['checkTensor', 'x', matrix()], ['where', 'where']),
  compile: door(() => [step, { name: 'f' }], ['function']),
  compileScan: door(() => [step, { name: 'f' }], ['function']),
  compileScanEach: graph,
  compileStacked: graph,
  compileTogether: graph,
  ensureBackend: process,
  executorInfo: process,
  exportOnnx: graph,
  glorotUniform: door(() => [generator(), [2, 3]], ['nothing', ['longer']]),
  inspectGraph: graph,
  laProp: door(() => [{}], ['options'], slots),
  latentLosses: door(() => [matrix(), matrix(), 1], ['nothing', 'nothing', 'positive']),
  learningRate: door(() => [{ rate: 1 }], [], { '()': door(() => [1], ['positive']) }),
  logProbOf: door(() => [matrix(), tf.tensor1d([0], 'int32')]),
  maskedLogProbs: door(() => [matrix(), matrix()]),
  mergeRows: graph,
  mirrorBins: door(() => [bins()], [['longer']]),
  normalEntropy: door(() => [normal()]),
  normalLogProb: door(() => [normal(), matrix()]),
  normalSample: door(() => [normal(), matrix()]),
  oneHotSample: door(() => [matrix(), noise()]),
  operationTimes: graph,
  orthogonal: door(() => [generator(), [2, 3], 1], ['nothing', ['longer'], ['undefined', '-1', '1.5', '2**33']]),
  readWeights: layers,
  restoreThreadChoices: process,
  rmsProp: door(() => [{}], ['options'], slots),
  sampleCategorical: door(() => [new Float32Array(4), 2, 2, generator()]),
  sgd: door(() => [{}], ['options'], slots),
  stackVariables: graph,
  stopGradient: door(() => [matrix()]),
  straightThrough: door(() => [matrix(), noise()]),
  symexp: door(() => [matrix()]),
  symlog: door(() => [matrix()]),
  threadChoices: process,
  threadInfo: process,
  toOnnx: graph,
  truncatedNormal: door(() => [generator(), [2], 1], ['nothing', ['[]', 'longer'], 'positive']),
  twoHotBins: door(() => [2]),
  twoHotLoss: door(() => [matrix(), noise(), bins()]),
  twoHotMean: door(() => [matrix(), bins()]),
  twoHotWeights: door(() => [noise(), bins()], ['nothing', ['longer']]),
  unimix: door(() => [matrix(), 0.1]),
  unimixLog: door(() => [matrix(), 0.1]),
  useBackend: process,
  useExecutor: process,
  useOnnxWeb: process,
  useThreads: process,
  valueAndGradients: graph,
  variables: graph,
  writeWeights: layers,
  zeros: door(() => [[2, 3]], [['[]', 'longer']]),
};
