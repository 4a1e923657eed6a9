import type { Generator, NamedArrays } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import { convStack, denseLayer, gru, type Layer, prefixed, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { type FieldModel, STAYS } from './observed-fields';
import type { ObservedGame } from './observed-game';
import { REWARD_BINS } from './two-hot';

/** The recurrent layer over past steps. */
interface HistoryOptions {
  /** L, 0 for none */
  readonly history: number;
  readonly historyUnits: number;
}

/**
 * Body and heads. Each image is also read by convolutions, together with what all agents do. They predict its pixels,
 * and give further features to the other heads: those of the pixels that each channel marks, before and after the step,
 * so that what happens to an agent is read off at the place where it is. V viewers are all agents, or one. Outputs:
 * `field/NAME` [B, V, size], `masks` [B, V, K], `rewards` [B, V, bins], `terminated` [B, A], and the body's features,
 * `body` [B, D].
 *
 * @param isContrastive  whether a layer also predicts the body's features of the next step; see `contrast`
 */
export function observationsNetwork(
  game: ObservedGame,
  fields: readonly FieldModel[],
  network: TorsoBuilder,
  options: HistoryOptions,
  isContrastive: boolean,
) {
  const A = game.agents.length;
  const K = game.actions;
  const V = game.viewers;
  const isOwn = game.view === 'own';
  const flat = fields.filter(({ image }) => image === undefined);
  const images = fields.filter(({ image }) => image !== undefined);
  const sizeOfAll = (some: readonly FieldModel[]) => some.reduce((sum, { size }) => sum + size, 0);
  const memory = options.history > 0 ? historyReader(game, fields, options) : undefined;
  const body = network({
    ...Object.fromEntries(images.map(({ name, image }) => [name, [image![0], image![1], V * image![2]]])),
    vector: [V * (sizeOfAll(flat) + K) + A * (1 + K) + (isOwn ? A : 0) + (memory ? options.historyUnits : 0)],
  });
  const pixels = Object.fromEntries(
    images.map(({ name, image, stay, expect }) => [
      name,
      pixelModel(image!, V, A * K, body.outputSize, (present, change) => {
        return expect(tf.add(stay(present), change));
      }),
    ]),
  );
  const features = body.outputSize + sizeOfPlaces(images) * V;
  const head = (inputSize: number, outputSize: number) => denseLayer({ inputSize, outputSize, gain: 0.01 });
  const layers: Record<string, Pick<Layer, 'init'>> = {
    body,
    ...Object.fromEntries(Object.entries(pixels).map(([name, model]) => [`pixels/${name}`, model])),
    ...(memory && { memory }),
  };
  const heads: Record<string, Layer> = {
    ...Object.fromEntries(flat.map(({ name, size }) => [`field/${name}`, head(body.outputSize, V * size)])),
    masks: head(features, V * K),
    rewards: head(features, V * REWARD_BINS),
    terminated: head(features, A),
    // The last one: the parameters of the others are drawn as without it.
    ...(isContrastive && { contrast: denseLayer({ inputSize: body.outputSize, outputSize: body.outputSize }) }),
  };

  /** What the body reads of rows before a step, and its features of them. */
  const encode = (params: TensorRecord, rows: TensorRecord) => {
    const read = new Map(fields.map((field) => [field, field.read(rows[field.name])])); // [B V, size] each
    const masks = tf.cast(rows['masks'], 'float32'); // [B, V, K]
    const played = actionCodes(rows['actions'], A, K); // [B, A K]
    const inputs: TensorRecord = {};
    for (const field of images) inputs[field.name] = jointImage(read.get(field)!, V, field.image!); // [B, H, W, V C]
    inputs['vector'] = tf.concat(
      [
        ...flat.map((field) => tf.reshape(read.get(field)!, [-1, V * field.size])),
        tf.cast(rows['active'], 'float32'), // [B, A]
        tf.reshape(masks, [-1, V * K]),
        played,
        ...(isOwn ? [oneHot(rows['seat'], A)] : []), // [B, A]
        ...(memory ? [memory.read(within('memory', params), rows)] : []), // [B, units]
      ],
      1,
    );
    return { read, masks, played, inputs, seen: body.apply(within('body', params), inputs) }; // [B, D]
  };

  return {
    init: (generator: Generator): NamedArrays => {
      const parts = Object.entries({ ...layers, ...heads });
      return Object.assign({}, ...parts.map(([name, part]) => prefixed(name, part.init(generator.fork()))));
    },
    apply: (params: TensorRecord, rows: TensorRecord): TensorRecord => {
      const { read, masks, played, inputs, seen } = encode(params, rows);
      const seenPixels = Object.entries(pixels).map(([name, model]) => {
        const { changes, places } = model.apply(
          within(`pixels/${name}`, params),
          inputs[name] as tf.Tensor4D,
          played,
          seen,
        );
        return [name, changes, places] as const; // [B V, size], [B, 2 V C F]
      });
      const all = tf.concat([seen, ...seenPixels.map(([, , places]) => places)], 1) as tf.Tensor2D;
      const of = (name: string, from: tf.Tensor2D) => heads[name].apply(within(name, params), from);
      const changes = new Map(seenPixels.map(([name, change]) => [name, change]));
      const outputs = fields.map((field) => {
        const { name, size, stay } = field;
        const change = changes.get(name) ?? tf.reshape(of(`field/${name}`, seen), [-1, size]);
        return [`field/${name}`, tf.reshape(tf.add(stay(read.get(field)!), change), [-1, V, size])] as const;
      });
      const sameMasks = tf.mul(STAYS, tf.sub(tf.mul(2, masks), 1));
      return {
        ...Object.fromEntries(outputs),
        masks: tf.add(sameMasks, tf.reshape(of('masks', all), [-1, V, K])),
        rewards: tf.reshape(of('rewards', all), [-1, V, REWARD_BINS]),
        terminated: of('terminated', all),
        body: seen,
      };
    },
    /**
     * The body's features of the next step, for a contrastive loss: as a linear layer predicts them from its features
     * of this step, which know the joint action, and as the body reads the real next observations.
     *
     * @param seen  [B, D] the body's features of the rows
     * @returns [B, D] each
     */
    contrast: (params: TensorRecord, seen: tf.Tensor2D, rows: TensorRecord) => ({
      predicted: heads['contrast'].apply(within('contrast', params), seen),
      targets: encode(params, nextRows(fields, rows, options.history)).seen,
    }),
  };
}

/** Transitions as rows before the next step, in which no agent has chosen an action yet. */
function nextRows(fields: readonly FieldModel[], rows: TensorRecord, L: number): TensorRecord {
  const next: TensorRecord = {
    masks: rows['next/masks'],
    active: tf.mul(tf.cast(rows['active'], 'float32'), tf.sub(1, tf.cast(rows['next/terminated'], 'float32'))),
    actions: tf.sub(tf.zerosLike(rows['actions']), 1),
    ...(rows['seat'] && { seat: rows['seat'] }),
  };
  for (const { name } of fields) next[name] = rows[`next/${name}`];
  for (const name of L > 0 ? [...fields.map((field) => field.name), 'actions'] : []) {
    const played = tf.expandDims(rows[name], 1); // [B, 1, A, ...]
    const kept = L > 1 ? [tf.slice(rows[`past/${name}`], [0, 1], [-1, L - 1])] : []; // without the oldest step
    next[`past/${name}`] = tf.concat([...kept, played], 1);
  }
  return next;
}

/** [B, A K] one-hot codes of actions [B, A]; zeros for -1 */
function actionCodes(actions: tf.Tensor, A: number, K: number): tf.Tensor2D {
  return tf.reshape(oneHot(actions, K), [-1, A * K]) as tf.Tensor2D;
}

/** [...] to [..., count]; zeros for -1 */
function oneHot(numbers: tf.Tensor, count: number): tf.Tensor {
  const codes = tf.equal(tf.expandDims(tf.cast(numbers, 'int32'), -1), tf.range(0, count, 1, 'int32'));
  return tf.cast(codes, 'float32');
}

/** [B V, H W C] to [B, H, W, V C] */
function jointImage(read: tf.Tensor2D, V: number, [H, W, C]: readonly number[]): tf.Tensor4D {
  return tf.reshape(tf.transpose(tf.reshape(read, [-1, V, H, W, C]), [0, 2, 3, 1, 4]), [-1, H, W, V * C]);
}

/** Features of marked pixels that each viewer's images give, before and after the step. */
function sizeOfPlaces(images: readonly FieldModel[]): number {
  return images.reduce((sum, { image }) => sum + 2 * image![2] * FILTERS, 0);
}

/** Filters of each convolution over an image, and units of the layer that reads a pixel. */
const FILTERS = 32;

/**
 * How the joint image [B, H, W, V C] changes, pixel by pixel, by what is near, what agents do, and the body's features.
 *
 * @param codes  A K, numbers of the joint action's code
 */
function pixelModel(
  [H, W, C]: readonly number[],
  V: number,
  codes: number,
  D: number,
  after: (present: tf.Tensor, change: tf.Tensor) => tf.Tensor,
) {
  const channels = V * C + codes;
  const trunk = convStack({ shape: [H, W, channels], filters: [FILTERS, FILTERS], kernelSize: 3 });
  const pixel = denseLayer({ inputSize: FILTERS + channels, outputSize: FILTERS });
  const global = denseLayer({ inputSize: D, outputSize: FILTERS });
  const change = denseLayer({ inputSize: FILTERS, outputSize: V * C, gain: 0.01 });
  return {
    init: (generator: Generator): NamedArrays => ({
      ...prefixed('trunk', trunk.init(generator.fork())),
      ...prefixed('pixel', pixel.init(generator.fork())),
      ...prefixed('global', global.init(generator.fork())),
      ...prefixed('change', change.init(generator.fork())),
    }),
    apply: (params: TensorRecord, image: tf.Tensor4D, played: tf.Tensor2D, seen: tf.Tensor2D) => {
      const everywhere = tf.mul(tf.reshape(played, [-1, 1, 1, codes]), tf.ones([1, H, W, 1])); // [B, H, W, A K]
      const inputs = tf.concat([image, everywhere], -1) as tf.Tensor4D; // [B, H, W, channels]
      const near = tf.reshape(trunk.apply(within('trunk', params), inputs), [-1, FILTERS]); // [B H W, F]
      const local = tf.concat([near, tf.reshape(inputs, [-1, channels])], 1) as tf.Tensor2D;
      const ofPixel = tf.reshape(pixel.apply(within('pixel', params), local), [-1, H * W, FILTERS]);
      const ofAll = tf.expandDims(global.apply(within('global', params), seen), 1); // [B, 1, F]
      const hidden = tf.reshape(tf.relu(tf.add(ofPixel, ofAll)), [-1, FILTERS]) as tf.Tensor2D; // [B H W, F]
      const changes = tf.reshape(change.apply(within('change', params), hidden), [-1, H * W, V * C]);
      const present = tf.reshape(image, [-1, H * W, V * C]);
      const next = after(present, changes);
      const marks = tf.transpose(tf.concat([present, next], 2), [0, 2, 1]); // [B, 2 V C, H W]
      const share = tf.div(marks, tf.add(1, tf.sum(marks, 2, true)));
      return {
        changes: tf.reshape(tf.transpose(tf.reshape(changes, [-1, H * W, V, C]), [0, 2, 1, 3]), [-1, H * W * C]),
        places: tf.reshape(tf.matMul(share, tf.reshape(hidden, [-1, H * W, FILTERS])), [-1, 2 * V * C * FILTERS]),
      };
    },
  };
}

/** A recurrent layer over the L past steps; it begins anew with the first step of the episode. */
function historyReader(
  game: ObservedGame,
  fields: readonly FieldModel[],
  { history: L, historyUnits }: HistoryOptions,
) {
  const A = game.agents.length;
  const K = game.actions;
  const V = game.viewers;
  const width = V * fields.reduce((sum, { size }) => sum + size, 0) + A * K;
  const layer = gru(width, historyUnits);
  return {
    init: layer.init,
    /** [B, units] after the newest past step */
    read: (params: TensorRecord, rows: TensorRecord): tf.Tensor2D => {
      // [B L, V size] each
      const past = fields.map(({ name, size, read }) => tf.reshape(read(rows[`past/${name}`]), [-1, V * size]));
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
