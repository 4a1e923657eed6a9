import { checkOptions, fail, type Game, type Generator, type NamedArrays } from '@coplay/core';
import { type TensorRecord, tf, zeros } from '@coplay/tensor';
import { z } from 'zod';
import { denseLayer, prefixed, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { encodeGrid, type GridShape, gridShape, writeGrid } from './grid';
import { cellOneHots } from './moves';
import { decodePlanes, rawPlanes } from './planes-decode';
import { gridTrunk, isOneTrunk, ONE_TRUNK, type TrunkOptions, trunkConfig, trunkSchemas } from './trunk';
import type { WorldModel, WorldModelBuilder } from './world-model';

/** Options of {@link planesWorldModel}. */
export interface PlanesWorldModelOptions {
  /**
   * The network that reads the planes, in place of the convolutions: from `planes` [H, W, C] to features of each cell,
   * [H, W, features] flattened. `layersModel()` or `torsoBuilder()`. Default: convolutions
   */
  readonly network?: TorsoBuilder;
  /** Filters of each convolution. Default [32, 32] */
  readonly filters?: readonly number[];
  /** Side of the kernels. Default 3 */
  readonly kernelSize?: number;
  /** Hidden units of the layers that read a pixel. Default 64 */
  readonly hidden?: number;
  /**
   * Weight of each plane's squared error, such as [2, 2, 2, 2, 1, 1, 1]: agents, what stays, things. Default: 1 each
   */
  readonly channelWeights?: readonly number[];
}

const schema = z
  .strictObject({
    ...trunkSchemas,
    hidden: z.int().min(1).default(64),
    channelWeights: z.array(z.number().min(0)).optional(),
  })
  .refine(isOneTrunk, ONE_TRUNK);

/**
 * A plain convolutional model of pixels, to compare with: it reads planes (agents, fixed things, other things, and each
 * agent's action at its cell) and predicts the change of each pixel by squared error, rewards by squared error and who
 * has left by cross-entropy; the last two are sums over the outputs of all cells. Nothing keeps an agent from fading,
 * splitting or jumping.
 *
 * `imagine` gives `planes` [B, HW, A + F + M], raw, `rewards` [B, A] and `terminated` [B, A], a probability. In
 * imagination the planes are always projected to a valid state: an agent is off the map where that is more probable
 * than not, else on the cell where its plane is greatest; a thing is where its plane is above 0.5; fixed things are
 * copied. (With a generator, leaving is drawn.)
 *
 * @throws CoplayError, when it's built, for a game without grid parts and for weights of another number than there are
 *         planes
 */
export function planesWorldModel(options: PlanesWorldModelOptions = {}): WorldModelBuilder {
  const { filters = [32, 32], kernelSize = 3, ...config } = checkOptions('planesWorldModel', schema, options);
  return (game) => buildPlanes(game, { filters, kernelSize, ...config });
}

type PlanesConfig = z.infer<typeof schema> & TrunkOptions;

function buildPlanes(game: Game, config: PlanesConfig): WorldModel {
  const shape = gridShape('planesWorldModel', game);
  const channels = shape.agents + shape.fixed + shape.things;
  const weights = config.channelWeights ?? new Array<number>(channels).fill(1);
  if (weights.length !== channels) {
    const expected = `${channels} weights: ${shape.agents} agents, ${[...shape.parts.fixed, ...shape.parts.things].join(', ')}`;
    fail('planesWorldModel: option channelWeights', expected, `${weights.length}`, 'Give one for each plane.');
  }
  const network = planesNetwork(shape, config);
  return {
    kind: 'planes',
    config: { kind: 'planes', ...trunkConfig(config), hidden: config.hidden, channelWeights: weights },
    game,
    data: 'grid',
    init: network.init,
    imagine: (params, rows) => {
      const { planes, rewards, leaving } = network.apply(params, rows);
      return { planes, rewards, terminated: tf.sigmoid(leaving) };
    },
    loss: (params, rows) => planesLoss(shape, weights, network.apply(params, rows), rows),
    encode: (states, actions) => encodeGrid(shape, states, actions),
    decode: (imagined, rows, generator) => decodePlanes(shape, imagined, rows, generator),
    write: (happened, row, states, offset) => writeGrid(shape, happened, row, states, offset),
    planes: (imagined) => rawPlanes(shape, imagined),
  };
}

/** The network's outputs: `leaving` are logits. */
interface PlanesOutputs {
  readonly planes: tf.Tensor3D;
  readonly rewards: tf.Tensor2D;
  readonly leaving: tf.Tensor2D;
}

function planesNetwork(shape: GridShape, { hidden, ...reading }: PlanesConfig) {
  const { parts, agents: A, actions: K, cells: HW } = shape;
  const seen = A + shape.fixed + shape.things;
  const channels = seen + A * K + 1;
  const trunk = gridTrunk('planesWorldModel', [parts.rows, parts.columns, channels], reading);
  const width = trunk.outputSize / HW;
  const pixel = denseLayer({ inputSize: width, outputSize: hidden, activation: 'relu' });
  const head = denseLayer({ inputSize: hidden, outputSize: seen });
  const own = denseLayer({ inputSize: channels, outputSize: hidden, activation: 'relu' });
  const outcome = denseLayer({ inputSize: hidden, outputSize: 2 * A });
  return {
    /** The last layers begin with zeros: at first nothing changes, and a plane that never changes has no error ever. */
    init: (generator: Generator): NamedArrays => ({
      ...prefixed('trunk', trunk.init(generator.fork())),
      ...prefixed('pixel', pixel.init(generator.fork())),
      'head/kernel': zeros([hidden, seen]),
      'head/bias': zeros([seen]),
      ...prefixed('own', own.init(generator.fork())),
      'outcome/kernel': zeros([hidden, 2 * A]),
      'outcome/bias': zeros([2 * A]),
    }),
    apply: (params: TensorRecord, rows: TensorRecord): PlanesOutputs => {
      const present = planesBefore(shape, rows);
      const B = present.shape[0];
      const inputs = tf.concat([present, actionPlanes(shape, rows), tf.ones([B, HW, 1])], -1);
      const images = tf.reshape(inputs, [B, parts.rows, parts.columns, channels]) as tf.Tensor4D;
      const features = tf.reshape(trunk.apply(within('trunk', params), images), [B * HW, width]) as tf.Tensor2D;
      const pixels = head.apply(within('head', params), pixel.apply(within('pixel', params), features));
      const flat = tf.reshape(inputs, [B * HW, channels]) as tf.Tensor2D;
      const outcomes = outcome.apply(within('outcome', params), own.apply(within('own', params), flat));
      const [rewards, leaving] = tf.split(tf.sum(tf.reshape(outcomes, [B, HW, 2 * A]), 1), 2, -1);
      return {
        planes: tf.add(present, tf.reshape(pixels, [B, HW, seen])) as tf.Tensor3D,
        rewards: rewards as tf.Tensor2D,
        leaving: leaving as tf.Tensor2D,
      };
    },
  };
}

function planesLoss(
  { agents, cells }: GridShape,
  weights: readonly number[],
  { planes, rewards, leaving }: PlanesOutputs,
  rows: TensorRecord,
) {
  const after = planesOf({ agents, cells }, rows['next/cells'], rows['fixed'], rows['next/things']);
  const pixels = tf.mean(tf.mul(tf.square(tf.sub(planes, after)), tf.tensor1d([...weights]))); // []
  const plays = tf.cast(tf.less(rows['cells'], cells), 'float32'); // [B, A]
  const left = tf.cast(tf.equal(rows['next/cells'], cells), 'float32'); // [B, A]
  const surprise = tf.add(tf.sub(tf.relu(leaving), tf.mul(leaving, left)), tf.log1p(tf.exp(tf.neg(tf.abs(leaving)))));
  const metrics: TensorRecord = {
    planes_loss: pixels,
    reward_loss: tf.mean(tf.mul(tf.square(tf.sub(rewards, rows['rewards'])), plays)),
    termination_loss: tf.mean(tf.mul(surprise, plays)),
  };
  const loss = Object.values(metrics).reduce((sum, part) => tf.add(sum, part)) as tf.Scalar;
  return { loss, metrics };
}

function planesBefore(shape: GridShape, rows: TensorRecord): tf.Tensor3D {
  return planesOf(shape, rows['cells'], rows['fixed'], rows['things']);
}

/** [B, HW, A + F + M] */
function planesOf(
  { cells: HW, agents }: Pick<GridShape, 'cells' | 'agents'>,
  cells: tf.Tensor,
  fixed: tf.Tensor,
  things: tf.Tensor,
): tf.Tensor3D {
  const places = tf.reshape(cellOneHots(cells, HW), [-1, agents, HW]); // [B, A, HW]
  const parts = [places, fixed, things].filter((part) => part.shape[1] !== 0);
  return tf.transpose(tf.concat(parts, 1), [0, 2, 1]) as tf.Tensor3D;
}

/** [B, HW, A * K]: each agent's action, in planes of its own, at its cell. */
function actionPlanes({ agents, actions, cells }: GridShape, rows: TensorRecord): tf.Tensor3D {
  const places = tf.expandDims(tf.transpose(cellOneHots(rows['cells'], cells), [0, 2, 1]), -1); // [B, HW, A, 1]
  const own = tf.expandDims(cellOneHots(rows['actions'], actions), 1); // [B, 1, A, K]
  return tf.reshape(tf.mul(places, own), [-1, cells, agents * actions]) as tf.Tensor3D;
}
