import { createGenerator, type NamedArrays, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import * as models from '@coplay/models';
import * as parts from '@coplay/models/layers';
import * as omg from '@coplay/models/omg';
import { ensureBackend, type TensorRecord, tf } from '@coplay/tensor';
import { type Doors, door } from './doors';

await ensureBackend();
const generator = () => createGenerator(1);
const tensorsOf = (arrays: NamedArrays): TensorRecord =>
  Object.fromEntries(Object.entries(arrays).map(([name, { data, shape }]) => [name, tf.tensor(data, [...shape])]));

const shapes = { planes: [3, 3, 1], vector: [2] };
const seen = (): TensorRecord => ({ planes: tf.ones([2, 3, 3, 1]), vector: tf.ones([2, 2]) });
const matrix = () => tf.ones([2, 2]) as tf.Tensor2D;
const column = () => tf.tensor1d([1, 1]);
const mask = () => tf.ones([2, 2]) as tf.Tensor2D;
const firsts = () => tf.ones([1, 2]) as tf.Tensor2D;
const start = () => tf.zeros([1, 2]) as tf.Tensor2D;
const network = models.mlp({ hidden: [2] });
const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const env = vectorEnv(game, { envs: 2 });
const source = () => ({
  ...{ rows: 2, seat: 0, offset: 0, stride: 2, observations: env.observations, masks: env.masks },
  previousActions: env.previousActions,
});

/** What the builders of models return: made once, since they hold nothing that changes. */
const made = {
  denseLayer: parts.denseLayer({ inputSize: 2, outputSize: 2 }),
  convStack: parts.convStack({ shape: [3, 3, 1], filters: [2] }),
  gru: parts.gru(2, 2),
  sequential: parts.sequential([parts.denseLayer({ inputSize: 2, outputSize: 2 })], 2),
  normMlp: parts.normMlp(2, 2, 1),
  mlp: network(shapes),
  conv: models.conv({ filters: [2], dense: 2 })(shapes),
  inputEncoder: models.inputEncoder(game),
  jointEncoder: models.jointEncoder(models.inputEncoder(game), 2),
  centredEncoder: models.centredEncoder(game, models.inputEncoder(game)),
  actorCritic: models.actorCritic({ inputs: shapes, actions: 2, network }),
  recurrent: models.actorCritic({ inputs: shapes, actions: 2, network, recurrent: 2 }),
  moaNet: models.moaNet({ inputs: shapes, actions: 2, goals: 2, network }),
  stateVae: omg.stateVae({ inputs: shapes, actions: 2, goalDim: 2, hidden: [2] }),
  subgoalInference: omg.subgoalInference({
    ...{ inputs: shapes, actions: 2, goalDim: 2, hidden: [2], stateUnits: 2, historyUnits: 2 },
  }),
};

/** By the name of the builder. */
export const networks = Object.fromEntries(Object.entries(made).map(([name, one]) => [name, () => one]));

/** Parameters that lack something are refused by the layer that they are of. */
const layers = ['denseLayer.apply', 'convStack.apply', 'gru.', 'normLayer', 'inputEncoder'];
const one = (give: () => readonly unknown[], ...takes: string[]) => door(give, takes, {}, layers);
const init = door(() => [generator()]);
const layer = (made: parts.Layer) => {
  const params = tensorsOf(made.init(generator()));
  return { init, apply: one(() => [params, matrix()]) };
};
const torso = (made: parts.Torso) => {
  const params = tensorsOf(made.init(generator()));
  return { init, apply: one(() => [params, seen()]) };
};
const encodes = { encode: one(() => [source()]) };
const paramsOf = (name: keyof typeof made) => tensorsOf((made[name] as parts.Layer).init(generator()));
const [flat, deep, moa, vae, inference, memory, images] = (
  ['actorCritic', 'recurrent', 'moaNet', 'stateVae', 'subgoalInference', 'gru', 'convStack'] as const
).map(paramsOf);
const rows = () => ({ inputs: seen() });
const histories = () => ({ inputs: seen(), isFirst: firsts(), state: start() });
const gaussian = () => ({ mean: matrix(), logVar: matrix() });
const mlpParams = tensorsOf(parts.initialise(made.normMlp.specs, generator()));

/** The functions of what they return. */
export const networksDoors: Doors = {
  denseLayer: door(() => [], [], layer(made.denseLayer)),
  convStack: door(() => [], [], { init, apply: one(() => [images, tf.ones([2, 3, 3, 1])]) }),
  gru: door(() => [], [], {
    init,
    step: one(() => [memory, matrix(), matrix()]),
    unroll: one(() => [memory, tf.ones([1, 2, 2]), firsts(), start()]),
  }),
  sequential: door(() => [], [], layer(made.sequential)),
  normMlp: door(() => [], [], { apply: one(() => [mlpParams, matrix()]) }),
  mlp: door(() => [], [], torso(made.mlp)),
  conv: door(() => [], [], torso(made.conv)),
  inputEncoder: door(() => [], [], encodes),
  jointEncoder: door(() => [], [], encodes),
  centredEncoder: door(() => [], [], encodes),
  actorCritic: door(() => [], [], {
    init,
    act: one(() => [flat, seen(), mask(), undefined], 'nothing', 'nothing', 'nothing', 'anything'),
    policy: one(() => [flat, rows(), mask()]),
    value: one(() => [flat, rows()]),
  }),
  recurrent: door(() => [], [], {
    act: one(() => [deep, seen(), mask(), matrix()]),
    policy: one(() => [deep, histories(), tf.ones([1, 2, 2])]),
    value: one(() => [deep, histories()]),
  }),
  moaNet: door(() => [], [], {
    init,
    step: one(() => [moa, seen(), mask(), tf.tensor1d([0, 1], 'int32')]),
    predict: one(() => [moa, { inputs: seen(), goals: tf.tensor1d([0, 1], 'int32'), mask: mask() }]),
  }),
  stateVae: door(() => [], [], {
    init,
    encode: one(() => [vae, seen()]),
    loss: one(() => [vae, rows(), matrix(), column()]),
  }),
  subgoalInference: door(() => [], [], {
    init,
    step: one(() => [inference, seen(), matrix()]),
    posterior: one(() => [inference, histories()]),
    loss: one(() => [inference, histories(), { prior: gaussian(), noise: matrix(), weights: column() }]),
  }),
};
