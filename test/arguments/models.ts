import { createGenerator } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import * as models from '@coplay/models';
import { ensureBackend, tf, twoHotBins } from '@coplay/tensor';
import { type Doors, door } from './doors';

await ensureBackend();
const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const generator = () => createGenerator(1);
const matrix = () => tf.tensor2d([[0.5, 0.5]]);
const vector = () => tf.tensor1d([0.5, 0.5]);
const specs = () => models.linearSpecs(2, 2);
const layer = () => models.denseLayer({ inputSize: 2, outputSize: 2 });
const params = () => ({
  'a/kernel': tf.ones([2, 2]),
  'a/bias': vector(),
  'a/scale': vector(),
});
const blocks = () => ({ kernel: tf.ones([2, 1, 1]), bias: vector() });
const gaussian = () => ({ mean: matrix(), logVar: matrix() });
const range = () => ({ low: tf.scalar(0), high: tf.scalar(1) });
const policy = () => ({ logProbs: matrix(), entropies: matrix(), advantages: matrix(), weights: matrix() });
const critic = () => ({ logits: tf.ones([1, 5]), returns: vector1(), slowValues: vector1(), weights: vector1() });
const vector1 = () => tf.tensor1d([0.5]);
const returns = () => ({ rewards: matrix(), discounts: matrix(), traces: 0.9, values: matrix() });
const replay = () => ({ rewards: matrix(), isTerminal: matrix(), isLast: matrix(), imagined: matrix() });
const states = () => ({ deter: tf.ones([1, 2, 3]) as tf.Tensor3D, stoch: tf.ones([1, 2, 3, 2]) as tf.Tensor4D });
const selection = () => ({ ends: [2, 2], values: [0, 1] });
const encoder = () => models.inputEncoder(game);
const built = 'takes one record of sizes; what the networks take that are built of it is tried in networks.ts';
const inner = 'takes sizes, and returns what only the code of Dreamer calls';
const networks = 'takes networks and what they read, which only the code of a learner puts together';
const layers = 'is given models of TensorFlow.js';
/** A record whose values are not looked at. */
const record = ['{}', 'a cyclic object'];
const loose = ['undefined', ...record];
const wholeAxes = ['undefined', '-1', '[]'];

/** The public functions of models, with valid arguments. */
export const modelsDoors: Doors = {
  activate: door(() => ['tanh', matrix()]),
  actingRows: networks,
  actorCritic: built,
  arrivalReturns: door(() => [returns()]),
  blockDense: door(() => [blocks(), matrix()]),
  blockDenseSpecs: door(() => [2, 2, 2]),
  blockGru: inner,
  canCentre: door(() => [game]),
  cellsWorldModel: door(() => [{}], ['options']),
  centredEncoder: door(() => [game, encoder()]),
  continueHead: inner,
  conv: door(() => [{}], ['options']),
  convStack: door(() => [{ shape: [3, 3, 1], filters: [2] }]),
  countParams: door(() => [specs()], ['record']),
  coPlayerModel: inner,
  criticLoss: door(() => [critic(), twoHotBins(5), 1], ['nothing', 'nothing', ['undefined', '1.5', '2**33']]),
  cutRows: networks,
  denseLayer: door(() => [{ inputSize: 2, outputSize: 2 }]),
  detached: door(() => [params()], ['record']),
  dreamerActor: inner,
  dreamerDecoder: inner,
  dreamerEncoder: inner,
  dreamerHead: inner,
  dreamerNets: inner,
  dreamerObservations: door(() => [{ vector: [2] }, {}], ['record', 'options']),
  dreamerSizes: door(() => ['nano'], ['options']),
  encodeSequence: networks,
  experienceRows: networks,
  flatSize: door(() => [{ vector: [2] }], ['record']),
  fromBlocks: door(() => [tf.ones([2, 1, 1])]),
  gaussianKl: door(() => [gaussian(), gaussian()]),
  gaussianSample: door(() => [gaussian(), matrix()]),
  gru: door(() => [2, 2]),
  imagineSequence: networks,
  imaginedWeights: door(() => [matrix()]),
  initialise: door(() => [specs(), generator()], ['record']),
  inputEncoder: door(() => [game, {}, {}], ['nothing', loose, loose]),
  jointEncoder: door(() => [encoder(), 2]),
  lastStates: door(() => [states(), 1]),
  layersModel: door(() => [() => layers], ['function']),
  linear: door(() => [params(), 'a', matrix()]),
  linearSpecs: door(() => [2, 2, 1], ['nothing', 'nothing', ['undefined', '-1', '1.5', '2**33']]),
  lowerQuantile: door(() => [matrix(), 0.1]),
  meanReward: door(() => [tf.ones([models.REWARD_BINS])]),
  mlp: door(() => [{}], ['options']),
  moaNet: built,
  normLayer: door(() => [params(), 'a', matrix()]),
  normLayerSpecs: door(() => ['a', 2, 2], ['text']),
  normMlp: door(() => [2, 2, 1]),
  normed: door(() => [matrix(), vector(), -1], ['nothing', 'nothing', wholeAxes]),
  oneHotCode: door(() => [matrix(), 2]),
  planesWorldModel: door(() => [{}], ['options']),
  policyLoss: door(() => [policy(), 1], ['nothing', 'number']),
  prefixed: door(() => ['a', { b: { data: new Float32Array(1), shape: [1] } }], ['text', record]),
  prefixedSpecs: door(() => ['a', specs()], ['text', 'record']),
  readWeights: layers,
  replayReturns: door(() => [replay(), 0.9, 0.9]),
  rmsNorm: door(() => [matrix(), vector(), -1], ['nothing', 'nothing', wholeAxes]),
  rssm: inner,
  selectSubgoals: door(() => ['optimistic', 2, selection()], ['nothing', ['2**33']]),
  sequential: door(() => [[layer()], 2], [['[]', 'longer']]),
  showsSelf: door(() => [game, 'grid'], ['nothing', 'text']),
  standardKl: door(() => [gaussian()]),
  stateVae: built,
  subgoalInference: built,
  toBlocks: door(() => [matrix(), 2]),
  torsoBuilder: door(() => [{}, () => layer()], [record, 'function']),
  trackReturns: door(() => [range(), matrix(), {}], ['nothing', 'nothing', loose]),
  twoHot: door(() => [matrix()]),
  twoHotHead: inner,
  within: door(() => [params(), 'a'], [record, 'text']),
  worldModelLosses: networks,
  writeWeights: layers,
};
