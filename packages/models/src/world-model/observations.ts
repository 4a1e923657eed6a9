import {
  checkGame,
  checkOptions,
  type Game,
  type Generator,
  type NamedArrays,
  ndarray,
  type ObservationField,
} from '@coplay/core';
import { highOf, kindOf, sizeOf } from '@coplay/core/arrays';
import { checkFunction, checkObservations } from '@coplay/core/checks';
import { drawIndex } from '@coplay/core/rows';
import { type TensorRecord, tf } from '@coplay/tensor';
import { bernoulliLoss, symexp, symlog } from '@coplay/tensor/distributions';
import { z } from 'zod';
import { convStack, denseLayer, gru, type Layer, prefixed, within } from '../layers';
import { mlp, type TorsoBuilder } from '../torso';
import { type ObservedGame, observedGame, rowsOfStates, statesOfRows, writeObserved } from './observed-game';
import { meanReward, REWARD_BINS, twoHot } from './two-hot';
import type { WorldModel, WorldModelBuilder } from './world-model';

/** Options of {@link observationsWorldModel}. */
export interface ObservationsWorldModelOptions {
  /**
   * The body of the network. It reads images `[H, W, A C]` by field name, and everything else in `vector`. Default
   * `mlp({ hidden: [256, 256], activation: 'relu' })`
   */
  readonly network?: TorsoBuilder;
  /**
   * L, earlier steps that a recurrent layer reads, for games in which one joint observation isn't enough; 0 or more.
   * Default 0
   */
  readonly history?: number;
  /** Units of that recurrent layer, at least 1. Default 64 */
  readonly historyUnits?: number;
  /**
   * The largest error of a number that counts as predicted, and the standard deviation in its loss, above 0: of a
   * `vector` as symlog, of an `image` as a share of its largest value. Default 0.05
   */
  readonly tolerance?: number;
}

const schema = z.strictObject({
  network: z.custom<TorsoBuilder>((value) => typeof value === 'function', 'a builder such as mlp()').optional(),
  history: z.int().min(0).max(64).default(0),
  historyUnits: z.int().min(1).default(64),
  tolerance: z.number().positive().default(0.05),
});

/** The logit by which a zero or one is expected to stay as it is before anything is learned: a chance of 0.98. */
const STAYS = 4;
/** In imagination, chances of a zero or one closer than this to 0 or 1 are taken for 0 or 1. */
const CERTAIN = 0.05;

/**
 * A world model of any game: from the observations, legal actions and actions of all agents to their next observations,
 * legal actions, rewards and who has ended. It needs nothing but the shapes, dtypes and kinds of the observation's
 * fields. Its simulator plays a game whose states are the joint observations.
 *
 * A network predicts the change of each field: `planes` and legal actions by a logit each, `one-hot` codes (with "none"
 * as one more class) and `indices` by logits of the classes, `vector` as symlog and `image` as value / high by a normal
 * distribution whose standard deviation is `tolerance`; rewards as two-hot distributions over 81 bins from -53.6 to
 * 53.6 (Hafner et al. 2023), and who ends by a logit. The loss is the sum of their negative log-likelihoods (of a
 * normal distribution without its constant), a mean over rows and agents. In imagination they are drawn independently;
 * numbers and rewards are the expected ones.
 *
 * @throws CoplayError for unknown options
 */
export function observationsWorldModel(options: ObservationsWorldModelOptions = {}): WorldModelBuilder {
  const config = checkOptions('observationsWorldModel', schema, options);
  return (game) => buildObservations(game, config);
}

function buildObservations(source: Game, options: z.infer<typeof schema>): WorldModel {
  const { network = mlp({ hidden: [256, 256], activation: 'relu' }), ...config } = options;
  checkGame('observationsWorldModel', source);
  checkFunction('observationsWorldModel', 'option network', network);
  const game = observedGame(source, config.history);
  const fields = Object.entries(game.observation).map(([name, field]) => fieldModel(name, field, config.tolerance));
  const net = observationsNetwork(game, fields, network, config);
  const A = game.agents.length;
  return {
    kind: 'observations',
    config: { kind: 'observations', ...config, network: network.config },
    ...{ game, source, history: config.history },
    data: 'observations',
    init: net.init,
    imagine: (params, rows) => {
      const outputs = net.apply(params, rows);
      const imagined = fields.map((field) => [`field/${field.name}`, field.expect(outputs[`field/${field.name}`])]);
      return {
        ...(Object.fromEntries(imagined) as TensorRecord),
        masks: tf.sigmoid(outputs['masks']),
        rewards: meanReward(tf.softmax(outputs['rewards'])),
        terminated: tf.sigmoid(outputs['terminated']),
      };
    },
    loss: (params, rows) => observationsLoss(fields, net.apply(params, rows), rows),
    encode: (states, actions) => rowsOfStates(game, states, actions),
    decode: (imagined, rows, generator) => decodeObservations(game, fields, imagined, rows, generator),
    write: (happened, row, states, offset) => writeObserved(game, happened, row, states, offset),
    statesOf: (rows) => statesOfRows(game, rows),
    agrees: (name, predicted, truth) => {
      const field = game.observation[name.replace(/^next\//, '')];
      return field === undefined ? predicted === truth : isClose(field, predicted, truth, config.tolerance);
    },
    check: (rows) => {
      const observations = Object.fromEntries(fields.map(({ name }) => [name, rows[name].data]));
      const check = { spec: game.observation, observations, rows: rows['active'].data.length, assumed: true };
      const nameOf = (row: number) => `${game.agents[row % A]}, transition ${Math.floor(row / A)}`;
      checkObservations('observationsWorldModel', check, nameOf);
    },
  };
}

function isClose(field: ObservationField, predicted: number, truth: number, tolerance: number): boolean {
  const kind = kindOf(field);
  if (kind === 'image') return Math.abs(predicted - truth) <= tolerance * highOf(field);
  const log = (x: number) => Math.sign(x) * Math.log1p(Math.abs(x));
  return kind === 'vector' ? Math.abs(log(predicted) - log(truth)) <= tolerance : predicted === truth;
}

/** How a field is read, predicted and drawn. */
interface FieldModel {
  readonly name: string;
  /** Numbers of one agent, as a network reads and predicts them. */
  readonly size: number;
  /** Of an image or planes [H, W, C]; undefined for fields that are read flat. */
  readonly image: readonly number[] | undefined;
  /** Numbers of the field [..., ...shape] as a network reads them, [N, size]. */
  read(x: tf.Tensor): tf.Tensor2D;
  /** Added to the network's outputs: a prediction that nothing changes. [N, size] to [N, size] */
  stay(read: tf.Tensor): tf.Tensor;
  /** [..., size] probabilities or expected numbers, from outputs */
  expect(output: tf.Tensor): tf.Tensor;
  /** [N] of outputs and the truth as it's read, both [N, size] */
  loss(output: tf.Tensor2D, read: tf.Tensor2D): tf.Tensor1D;
  /**
   * Numbers of one agent, from `size` expected ones at `from`, to `count` numbers at `to`; most probable ones without a
   * generator.
   */
  draw(
    expected: ArrayLike<number>,
    from: number,
    out: { [index: number]: number },
    to: number,
    generator?: Generator,
  ): void;
}

function fieldModel(name: string, field: ObservationField, tolerance: number): FieldModel {
  const kind = kindOf(field);
  if (kind === 'planes') return planesField(name, field);
  if (kind === 'one-hot' || kind === 'indices') return codesField(name, field);
  return numbersField(name, field, tolerance);
}

/** Zeros and ones, each by a logit. */
function planesField(name: string, { shape }: ObservationField): FieldModel {
  const size = sizeOf(shape);
  return {
    ...{ name, size, image: shape.length === 3 ? shape : undefined },
    read: (x) => tf.reshape(tf.cast(x, 'float32'), [-1, size]) as tf.Tensor2D,
    stay: (read) => tf.mul(STAYS, tf.sub(tf.mul(2, read), 1)),
    expect: (output) => tf.sigmoid(output),
    loss: (output, read) => tf.sum(bernoulliLoss(output, read), 1) as tf.Tensor1D,
    draw: (expected, from, out, to, generator) => {
      for (let i = 0; i < size; i++) out[to + i] = drawFlag(expected[from + i], generator);
    },
  };
}

function drawFlag(chance: number, generator: Generator | undefined): number {
  const isDrawn = generator && chance > CERTAIN && chance < 1 - CERTAIN;
  return chance > (isDrawn ? generator.uniform() : 0.5) ? 1 : 0;
}

/** Codes of some classes, each by logits: `indices`, or `one-hot` codes with "none" as the last class. */
function codesField(name: string, field: ObservationField): FieldModel {
  const isIndex = kindOf(field) === 'indices';
  const given = field.classes ?? field.shape.at(-1) ?? 1;
  const classes = isIndex ? given : given + 1;
  const codes = isIndex ? sizeOf(field.shape) : sizeOf(field.shape) / given;
  const size = codes * classes;
  const flat = (x: tf.Tensor) => tf.reshape(x, [-1, size]) as tf.Tensor2D;
  const apart = (x: tf.Tensor) => tf.reshape(x, [-1, classes]) as tf.Tensor2D;
  return {
    ...{ name, size, image: undefined },
    read: (x) => {
      if (isIndex) {
        const index = tf.reshape(tf.cast(x, 'int32'), [-1, 1]);
        return flat(tf.cast(tf.equal(index, tf.range(0, classes, 1, 'int32')), 'float32'));
      }
      const code = tf.reshape(tf.cast(x, 'float32'), [-1, given]);
      return flat(tf.concat([code, tf.sub(1, tf.sum(code, 1, true))], 1));
    },
    stay: (read) => tf.mul(STAYS, read),
    expect: (output) => tf.reshape(tf.softmax(apart(output)), output.shape),
    loss: (output, read) => {
      const surprise = tf.neg(tf.sum(tf.mul(tf.logSoftmax(apart(output)), apart(read)), 1));
      return tf.sum(tf.reshape(surprise, [-1, codes]), 1) as tf.Tensor1D;
    },
    draw: (expected, from, out, to, generator) => {
      for (let code = 0; code < codes; code++) {
        const chosen = drawClass(expected, from + code * classes, classes, generator);
        if (isIndex) out[to + code] = chosen;
        else for (let i = 0; i < given; i++) out[to + code * given + i] = i === chosen ? 1 : 0;
      }
    },
  };
}

function drawClass(chances: ArrayLike<number>, from: number, classes: number, generator?: Generator): number {
  const own = Float64Array.from({ length: classes }, (_, i) => chances[from + i]);
  const best = own.indexOf(Math.max(...own));
  return generator && own[best] < 1 - CERTAIN ? drawIndex(own, generator) : best;
}

/** Numbers of a `vector` as symlog, or of an `image` as value / high; whole numbers are rounded. */
function numbersField(name: string, field: ObservationField, tolerance: number): FieldModel {
  const size = sizeOf(field.shape);
  const isImage = kindOf(field) === 'image';
  const high = isImage ? highOf(field) : 1;
  const isFloat = field.dtype === 'float32' || field.dtype === 'float64';
  const [least, most] = isImage ? [0, high] : (RANGES[field.dtype] ?? [-Infinity, Infinity]);
  return {
    ...{ name, size, image: isImage ? field.shape : undefined },
    read: (x) => {
      const flat = tf.reshape(tf.cast(x, 'float32'), [-1, size]);
      return (isImage ? tf.div(flat, high) : symlog(flat)) as tf.Tensor2D;
    },
    stay: (read) => read,
    expect: (output) => (isImage ? tf.mul(output, high) : symexp(output)),
    loss: (output, read) => {
      return tf.mul(0.5 / tolerance ** 2, tf.sum(tf.square(tf.sub(output, read)), 1)) as tf.Tensor1D;
    },
    draw: (expected, from, out, to) => {
      for (let i = 0; i < size; i++) {
        const value = Math.min(most, Math.max(least, expected[from + i]));
        out[to + i] = isFloat ? value : Math.round(value);
      }
    },
  };
}

/** The values of whole numbers. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
};

/**
 * Body and heads. Each image is also read by convolutions, together with what all agents do. They predict its pixels,
 * and give further features to the other heads: those of the pixels that each channel marks, before and after the step,
 * so that what happens to an agent is read off at the place where it is. Outputs: `field/NAME` [B, A, size], `masks`
 * [B, A, K], `rewards` [B, A, bins], `terminated` [B, A].
 */
function observationsNetwork(
  game: ObservedGame,
  fields: readonly FieldModel[],
  network: TorsoBuilder,
  options: z.infer<typeof schema>,
) {
  const A = game.agents.length;
  const K = game.actions;
  const flat = fields.filter(({ image }) => image === undefined);
  const images = fields.filter(({ image }) => image !== undefined);
  const sizeOfAll = (some: readonly FieldModel[]) => some.reduce((sum, { size }) => sum + size, 0);
  const memory = options.history > 0 ? historyReader(game, fields, options) : undefined;
  const body = network({
    ...Object.fromEntries(images.map(({ name, image }) => [name, [image![0], image![1], A * image![2]]])),
    vector: [A * (sizeOfAll(flat) + 1 + 2 * K) + (memory ? options.historyUnits : 0)],
  });
  const pixels = Object.fromEntries(
    images.map(({ name, image, stay, expect }) => [
      name,
      pixelModel(image!, A, K, body.outputSize, (present, change) => {
        return expect(tf.add(stay(present), change));
      }),
    ]),
  );
  const features = body.outputSize + sizeOfPlaces(images) * A;
  const head = (inputSize: number, outputSize: number) => denseLayer({ inputSize, outputSize, gain: 0.01 });
  const layers: Record<string, Pick<Layer, 'init'>> = { body, ...pixels, ...(memory && { memory }) };
  const heads: Record<string, Layer> = {
    ...Object.fromEntries(flat.map(({ name, size }) => [`field/${name}`, head(body.outputSize, A * size)])),
    masks: head(features, A * K),
    rewards: head(features, A * REWARD_BINS),
    terminated: head(features, A),
  };

  return {
    init: (generator: Generator): NamedArrays => {
      const parts = Object.entries({ ...layers, ...heads });
      return Object.assign({}, ...parts.map(([name, part]) => prefixed(name, part.init(generator.fork()))));
    },
    apply: (params: TensorRecord, rows: TensorRecord): TensorRecord => {
      const read = new Map(fields.map((field) => [field, field.read(rows[field.name])])); // [B A, size] each
      const masks = tf.cast(rows['masks'], 'float32'); // [B, A, K]
      const played = actionCodes(rows['actions'], A, K); // [B, A K]
      const inputs: TensorRecord = {};
      for (const field of images) inputs[field.name] = jointImage(read.get(field)!, A, field.image!); // [B, H, W, A C]
      inputs['vector'] = tf.concat(
        [
          ...flat.map((field) => tf.reshape(read.get(field)!, [-1, A * field.size])),
          tf.cast(rows['active'], 'float32'), // [B, A]
          tf.reshape(masks, [-1, A * K]),
          played,
          ...(memory ? [memory.read(within(params, 'memory'), rows)] : []), // [B, units]
        ],
        1,
      );
      const seen = body.apply(within(params, 'body'), inputs); // [B, D]
      const seenPixels = Object.entries(pixels).map(([name, model]) => {
        const { changes, places } = model.apply(within(params, name), inputs[name] as tf.Tensor4D, played, seen);
        return [name, changes, places] as const; // [B A, size], [B, 2 A C F]
      });
      const all = tf.concat([seen, ...seenPixels.map(([, , places]) => places)], 1) as tf.Tensor2D;
      const of = (name: string, from: tf.Tensor2D) => heads[name].apply(within(params, name), from);
      const changes = new Map(seenPixels.map(([name, change]) => [name, change]));
      const outputs = fields.map((field) => {
        const { name, size, stay } = field;
        const change = changes.get(name) ?? tf.reshape(of(`field/${name}`, seen), [-1, size]);
        return [`field/${name}`, tf.reshape(tf.add(stay(read.get(field)!), change), [-1, A, size])] as const;
      });
      const sameMasks = tf.mul(STAYS, tf.sub(tf.mul(2, masks), 1));
      return {
        ...Object.fromEntries(outputs),
        masks: tf.add(sameMasks, tf.reshape(of('masks', all), [-1, A, K])),
        rewards: tf.reshape(of('rewards', all), [-1, A, REWARD_BINS]),
        terminated: of('terminated', all),
      };
    },
  };
}

/** [B, A K] one-hot codes of actions [B, A]; zeros for -1 */
function actionCodes(actions: tf.Tensor, A: number, K: number): tf.Tensor2D {
  const codes = tf.equal(tf.expandDims(tf.cast(actions, 'int32'), -1), tf.range(0, K, 1, 'int32'));
  return tf.reshape(tf.cast(codes, 'float32'), [-1, A * K]) as tf.Tensor2D;
}

/** [B A, H W C] to [B, H, W, A C] */
function jointImage(read: tf.Tensor2D, A: number, [H, W, C]: readonly number[]): tf.Tensor4D {
  return tf.reshape(tf.transpose(tf.reshape(read, [-1, A, H, W, C]), [0, 2, 3, 1, 4]), [-1, H, W, A * C]);
}

/** Features of marked pixels that each agent's images give, before and after the step. */
function sizeOfPlaces(images: readonly FieldModel[]): number {
  return images.reduce((sum, { image }) => sum + 2 * image![2] * FILTERS, 0);
}

/** Filters of each convolution over an image, and units of the layer that reads a pixel. */
const FILTERS = 32;

/**
 * How the joint image [B, H, W, A C] changes, pixel by pixel, by what is near, what agents do, and the body's features.
 */
function pixelModel(
  [H, W, C]: readonly number[],
  A: number,
  K: number,
  D: number,
  after: (present: tf.Tensor, change: tf.Tensor) => tf.Tensor,
) {
  const channels = A * C + A * K;
  const trunk = convStack({ shape: [H, W, channels], filters: [FILTERS, FILTERS], kernelSize: 3 });
  const pixel = denseLayer({ inputSize: FILTERS + channels, outputSize: FILTERS });
  const global = denseLayer({ inputSize: D, outputSize: FILTERS });
  const change = denseLayer({ inputSize: FILTERS, outputSize: A * C, gain: 0.01 });
  return {
    init: (generator: Generator): NamedArrays => ({
      ...prefixed('trunk', trunk.init(generator.fork())),
      ...prefixed('pixel', pixel.init(generator.fork())),
      ...prefixed('global', global.init(generator.fork())),
      ...prefixed('change', change.init(generator.fork())),
    }),
    apply: (params: TensorRecord, image: tf.Tensor4D, played: tf.Tensor2D, seen: tf.Tensor2D) => {
      const everywhere = tf.mul(tf.reshape(played, [-1, 1, 1, A * K]), tf.ones([1, H, W, 1])); // [B, H, W, A K]
      const inputs = tf.concat([image, everywhere], -1) as tf.Tensor4D; // [B, H, W, channels]
      const near = tf.reshape(trunk.apply(within(params, 'trunk'), inputs), [-1, FILTERS]); // [B H W, F]
      const local = tf.concat([near, tf.reshape(inputs, [-1, channels])], 1) as tf.Tensor2D;
      const ofPixel = tf.reshape(pixel.apply(within(params, 'pixel'), local), [-1, H * W, FILTERS]);
      const ofAll = tf.expandDims(global.apply(within(params, 'global'), seen), 1); // [B, 1, F]
      const hidden = tf.reshape(tf.relu(tf.add(ofPixel, ofAll)), [-1, FILTERS]) as tf.Tensor2D; // [B H W, F]
      const changes = tf.reshape(change.apply(within(params, 'change'), hidden), [-1, H * W, A * C]);
      const present = tf.reshape(image, [-1, H * W, A * C]);
      const next = after(present, changes);
      const marks = tf.transpose(tf.concat([present, next], 2), [0, 2, 1]); // [B, 2 A C, H W]
      const share = tf.div(marks, tf.add(1, tf.sum(marks, 2, true)));
      return {
        changes: tf.reshape(tf.transpose(tf.reshape(changes, [-1, H * W, A, C]), [0, 2, 1, 3]), [-1, H * W * C]),
        places: tf.reshape(tf.matMul(share, tf.reshape(hidden, [-1, H * W, FILTERS])), [-1, 2 * A * C * FILTERS]),
      };
    },
  };
}

/** A recurrent layer over the L past steps; it begins anew with the first step of the episode. */
function historyReader(
  game: ObservedGame,
  fields: readonly FieldModel[],
  { history: L, historyUnits }: z.infer<typeof schema>,
) {
  const A = game.agents.length;
  const K = game.actions;
  const width = A * (fields.reduce((sum, { size }) => sum + size, 0) + K);
  const layer = gru(width, historyUnits);
  return {
    init: layer.init,
    /** [B, units] after the newest past step */
    read: (params: TensorRecord, rows: TensorRecord): tf.Tensor2D => {
      // [B L, A size] each
      const past = fields.map(({ name, size, read }) => tf.reshape(read(rows[`past/${name}`]), [-1, A * size]));
      const actions = rows['past/actions']; // [B, L, A]
      const steps = tf.concat([...past, actionCodes(actions, A, K)], 1);
      const isPlayed = tf.cast(tf.greater(tf.max(actions, -1), -1), 'float32'); // [B, L]
      const none = tf.zerosLike(tf.slice(isPlayed, [0, 0], [-1, 1])); // [B, 1]
      const playedBefore = L > 1 ? tf.concat([none, tf.slice(isPlayed, [0, 0], [-1, L - 1])], 1) : none;
      const isFirst = tf.sub(1, playedBefore) as tf.Tensor2D; // [B, L]
      const start = tf.mul(none, tf.zeros([1, historyUnits])) as tf.Tensor2D; // [B, units]
      const states = layer.unroll(params, tf.reshape(steps, [-1, L, width]), isFirst, start); // [B, L, units]
      return tf.reshape(tf.slice(states, [0, L - 1, 0], [-1, 1, -1]), [-1, historyUnits]) as tf.Tensor2D;
    },
  };
}

function observationsLoss(fields: readonly FieldModel[], outputs: TensorRecord, rows: TensorRecord) {
  const metrics: TensorRecord = {};
  const losses = fields.map(({ name, size, read, loss }) => {
    return tf.mean(loss(tf.reshape(outputs[`field/${name}`], [-1, size]) as tf.Tensor2D, read(rows[`next/${name}`])));
  });
  metrics['observation_loss'] = losses.reduce((sum, part) => tf.add(sum, part) as tf.Scalar) as tf.Scalar;
  const plays = tf.cast(rows['active'], 'float32'); // [B, A]
  const players = tf.maximum(tf.sum(plays), 1);
  const amongPlayers = (values: tf.Tensor) => tf.div(tf.sum(tf.mul(values, plays)), players);
  metrics['mask_loss'] = tf.mean(tf.sum(bernoulliLoss(outputs['masks'], tf.cast(rows['next/masks'], 'float32')), -1));
  const surprise = tf.neg(tf.sum(tf.mul(tf.logSoftmax(outputs['rewards']), twoHot(rows['rewards'])), -1)); // [B, A]
  metrics['reward_loss'] = amongPlayers(surprise);
  const ended = tf.cast(rows['next/terminated'], 'float32'); // [B, A]
  metrics['termination_loss'] = amongPlayers(bernoulliLoss(outputs['terminated'], ended));
  const loss = Object.values(metrics).reduce((sum, part) => tf.add(sum, part)) as tf.Scalar;
  return { loss, metrics };
}

/** What happens in a step. An agent that has left sees what it saw; one that plays on keeps a legal action. */
function decodeObservations(
  game: ObservedGame,
  fields: readonly FieldModel[],
  imagined: NamedArrays,
  rows: NamedArrays,
  generator?: Generator,
): NamedArrays {
  const A = game.agents.length;
  const K = game.actions;
  const active = rows['active'].data;
  const count = active.length / A;
  const happened: NamedArrays = {};
  for (const { name, size, draw } of fields) {
    const { data, shape } = rows[name];
    const next = data.slice();
    const width = data.length / active.length;
    for (let i = 0; i < active.length; i++) {
      draw(imagined[`field/${name}`].data as Float32Array, i * size, next, i * width, generator);
    }
    happened[`next/${name}`] = { data: next, shape };
  }
  const terminated = new Uint8Array(active.length);
  const rewards = new Float32Array(active.length);
  const masks = new Uint8Array(active.length * K);
  for (let i = 0; i < active.length; i++) {
    terminated[i] = active[i] === 0 ? 1 : drawFlag(imagined['terminated'].data[i] as number, generator);
    rewards[i] = active[i] === 0 ? 0 : (imagined['rewards'].data[i] as number);
    chooseLegal(imagined['masks'].data as Float32Array, i * K, K, masks);
  }
  return {
    ...happened,
    'next/masks': ndarray(masks, [count, A, K]),
    rewards: ndarray(rewards, [count, A]),
    terminated: ndarray(terminated, [count, A]),
    ...(game.history > 0 && { actions: rows['actions'] }),
  };
}

/** Actions that are more probably legal than not; the most probable one, if there is none. */
function chooseLegal(chances: Float32Array, from: number, K: number, masks: Uint8Array): void {
  const own = chances.subarray(from, from + K);
  own.forEach((chance, k) => {
    masks[from + k] = chance > 0.5 ? 1 : 0;
  });
  masks[from + own.indexOf(Math.max(...own))] = 1;
}
