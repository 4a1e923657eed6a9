import { createGenerator } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import * as models from '@coplay/models';
import * as parts from '@coplay/models/layers';
import { ensureBackend, tf } from '@coplay/tensor';
import { type Doors, door } from './doors';

await ensureBackend();
const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const generator = () => createGenerator(1);
const matrix = () => tf.tensor2d([[0.5, 0.5]]);
const vector = () => tf.tensor1d([0.5, 0.5]);
const specs = () => parts.linearSpecs(2, 2);
const layer = () => parts.denseLayer({ inputSize: 2, outputSize: 2 });
const params = () => ({
  'a/kernel': tf.ones([2, 2]),
  'a/bias': vector(),
  'a/scale': vector(),
});
const blocks = () => ({ kernel: tf.ones([2, 1, 1]), bias: vector() });
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
  actingRows: networks,
  actorCritic: built,
  canCentre: door(() => [game]),
  cellsWorldModel: door(() => [{}], ['options'], { '()': door(() => [game]) }),
  centredEncoder: door(() => [game, encoder()]),
  conv: door(() => [{}], ['options'], { '()': door(() => [{ planes: [3, 3, 1] }]) }),
  cutRows: networks,
  experienceRows: networks,
  inputEncoder: door(() => [game, {}, {}], ['nothing', loose, loose]),
  jointEncoder: door(() => [encoder(), 2]),
  layersModel: door(() => [() => layers], ['function']),
  mlp: door(() => [{}], ['options'], { '()': door(() => [{ planes: [3, 3, 1] }]) }),
  moaNet: built,
  observationsWorldModel: door(() => [{}], ['options'], { '()': door(() => [game]) }),
  planesWorldModel: door(() => [{}], ['options'], { '()': door(() => [game]) }),
  showsSelf: door(() => [game, 'grid'], ['nothing', 'text']),
  torsoBuilderId: door(() => [models.mlp()], ['function']),
};

/** The public functions of `@coplay/models/layers`. */
export const layersDoors: Doors = {
  activate: door(() => ['tanh', matrix()]),
  blockDense: door(() => [blocks(), matrix()]),
  blockDenseSpecs: door(() => [2, 2, 2]),
  convStack: door(() => [{ shape: [3, 3, 1], filters: [2] }]),
  countParams: door(() => [specs()], ['record']),
  denseLayer: door(() => [{ inputSize: 2, outputSize: 2 }]),
  flatSize: door(() => [{ vector: [2] }], ['record']),
  gru: door(() => [2, 2]),
  initialise: door(() => [specs(), generator()], ['record']),
  linear: door(() => [params(), 'a', matrix()]),
  linearSpecs: door(() => [2, 2, 1], ['nothing', 'nothing', ['undefined', '-1', '1.5', '2**33']]),
  normLayer: door(() => [params(), 'a', matrix()]),
  normLayerSpecs: door(() => ['a', 2, 2], ['text']),
  normMlp: door(() => [2, 2, 1]),
  prefixed: door(() => ['a', { b: { data: new Float32Array(1), shape: [1] } }], ['text', record]),
  prefixedSpecs: door(() => ['a', specs()], ['text', 'record']),
  rmsNorm: door(() => [matrix(), vector(), -1], ['nothing', 'nothing', wholeAxes]),
  sequential: door(() => [[layer()], 2], [['[]', 'longer']]),
  torsoBuilder: door(() => [{}, () => layer()], [record, 'function'], { '()': door(() => [{ vector: [2] }]) }),
  within: door(() => ['a', params()], ['text', record]),
};

/** Those of `@coplay/models/dreamer`. */
export const dreamerDoors: Doors = {
  blockGru: inner,
  continueHead: inner,
  coPlayerModel: inner,
  dreamerActor: inner,
  dreamerDecoder: inner,
  dreamerEncoder: inner,
  dreamerHead: inner,
  dreamerNets: inner,
  dreamerObservations: door(() => [{ vector: [2] }, {}], ['record', 'options']),
  dreamerSizes: door(() => ['nano'], ['options']),
  encodeSequence: networks,
  oneHotCode: door(() => [matrix(), 2]),
  rssm: inner,
  twoHotHead: inner,
  worldModelLosses: networks,
};

/** Those of `@coplay/models/omg`. */
export const omgDoors: Doors = {
  selectSubgoals: door(() => ['optimistic', 2, selection()], ['nothing', ['2**33']]),
  stateVae: built,
  subgoalInference: built,
};
