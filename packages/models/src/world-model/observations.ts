import {
  checkGame,
  checkOptions,
  fail,
  type Game,
  type Generator,
  type NamedArrays,
  type NDArray,
  ndarray,
  type ObservationField,
} from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkFieldNames, checkFunction, checkObservations } from '@coplay/core/checks';
import { type TensorRecord, tf } from '@coplay/tensor';
import { bernoulliLoss } from '@coplay/tensor/distributions';
import { z } from 'zod';
import { mlp, type TorsoBuilder } from '../torso';
import { infoNce } from './info-nce';
import { observationsNetwork } from './observations-network';
import { drawFlag, type FieldModel, fieldModel, isClose } from './observed-fields';
import {
  type ObservedGame,
  type ObservedView,
  observedGame,
  ownRows,
  rowsOfStates,
  seatOf,
  seeStates,
  statesOfRows,
  writeObserved,
} from './observed-game';
import { checkRewardBins, meanReward, twoHot } from './two-hot';
import type { WorldModel, WorldModelBuilder } from './world-model';

/** Options of {@link observationsWorldModel}. */
export interface ObservationsWorldModelOptions {
  /**
   * The body of the network. It reads images `[H, W, A C]` by field name, and everything else in `vector`. Default
   * `mlp({ hidden: [256, 256], activation: 'relu' })`
   */
  readonly network?: TorsoBuilder;
  /**
   * Whose observations it predicts: those of all agents together (`joint`), or those of one agent from that agent's
   * `own` view. An agent can search with the joint ones only in games in which each agent sees all of the state.
   * Default `joint`
   */
  readonly view?: ObservedView;
  /** L, earlier steps that a recurrent layer reads, for games in which one step isn't enough; 0 or more. Default 0 */
  readonly history?: number;
  /** Units of that recurrent layer, at least 1. Default 64 */
  readonly historyUnits?: number;
  /**
   * The largest error of a number that counts as predicted, and the standard deviation in its loss, above 0: of a
   * `vector` as symlog, of an `image` as a share of its largest value. Default 0.05
   */
  readonly tolerance?: number;
  /**
   * Adds a contrastive loss (InfoNCE, van den Oord et al. 2018): a linear layer predicts the body's features of the
   * next step from those of this step, and they should be more similar to the features of the real next observations
   * than to those of the other next observations in the minibatch. It trains the body, and changes no prediction by
   * itself. Default: none
   */
  readonly contrastive?: {
    /** Weight of this loss next to the others, at least 0; with 0 the model is the one without it */
    readonly weight: number;
    /** Cosine similarities are divided by it; above 0. Default 0.1 */
    readonly temperature?: number;
  };
}

const schema = z.strictObject({
  view: z.enum(['joint', 'own']).default('joint'),
  network: z.custom<TorsoBuilder>((value) => typeof value === 'function', 'a builder such as mlp()').optional(),
  history: z.int().min(0).max(64).default(0),
  historyUnits: z.int().min(1).default(64),
  tolerance: z.number().positive().default(0.05),
  contrastive: z
    .strictObject({ weight: z.number().min(0), temperature: z.number().positive().default(0.1) })
    .optional(),
});

/**
 * A world model of any game: from the observations, legal actions and actions of all agents to their next observations,
 * legal actions, rewards and who has ended. It needs nothing but the shapes, dtypes and kinds of the observation's
 * fields. Its simulator plays a game whose states are the joint observations.
 *
 * With `view: 'own'` it models what a single agent sees: from that agent's observation and legal actions, who still
 * plays, and the joint action, to the agent's next observation, legal actions and reward, and who has ended. It learns
 * from the views of all agents, in the order of play from the viewer on, and reads the viewer's seat. In its simulator
 * the rewards of co-players are 0, and agents see what the viewer sees.
 *
 * A network predicts the change of each field: `planes` and legal actions by a logit each, `one-hot` codes (with "none"
 * as one more class) and `indices` by logits of the classes, `vector` as symlog and `image` as value / high by a normal
 * distribution whose standard deviation is `tolerance`; rewards as two-hot distributions over 81 bins from -53.6 to
 * 53.6 (Hafner et al. 2023; `check` refuses others), and who ends by a logit. The loss is the sum of their negative
 * log-likelihoods (of a normal distribution without its constant), a mean over rows and agents; `contrastive` adds one
 * of the body's features. In imagination they are drawn independently; numbers and rewards are the expected ones.
 *
 * @throws CoplayError for unknown options
 */
export function observationsWorldModel(options: ObservationsWorldModelOptions = {}): WorldModelBuilder {
  const config = checkOptions('observationsWorldModel', schema, options);
  return (game) => buildObservations(game, config);
}

function buildObservations(source: Game, options: z.infer<typeof schema>): WorldModel {
  const { network = mlp({ hidden: [256, 256], activation: 'relu' }), view, ...config } = options;
  const isOwn = view === 'own';
  checkGame('observationsWorldModel', source, 'discrete', 'play');
  checkFunction('observationsWorldModel', 'option network', network);
  checkFields(source, isOwn);
  const game = observedGame(source, view, config.history);
  const fields = Object.entries(game.observation).map(([name, field]) => fieldModel(name, field, config.tolerance));
  const contrastive = config.contrastive && config.contrastive.weight > 0 ? config.contrastive : undefined;
  const net = observationsNetwork(game, fields, network, config, contrastive !== undefined);
  const A = game.agents.length;
  const V = game.viewers;
  return {
    kind: 'observations',
    config: { kind: 'observations', ...(isOwn && { view }), ...config, network: network.config },
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
    loss: (params, rows) => {
      const outputs = net.apply(params, rows);
      const { loss, metrics } = observationsLoss(fields, outputs, rows);
      if (!contrastive) return { loss, metrics };
      const { predicted, targets } = net.contrast(params, outputs['body'] as tf.Tensor2D, rows);
      const contrast = infoNce(predicted, targets, contrastive.temperature);
      const total = tf.add(loss, tf.mul(contrastive.weight, contrast)) as tf.Scalar;
      return { loss: total, metrics: { ...metrics, contrastive_loss: contrast } };
    },
    encode: (states, actions) => rowsOfStates(game, states, actions),
    decode: (imagined, rows, generator) => decodeObservations(game, fields, imagined, rows, generator),
    write: (happened, row, states, offset) => writeObserved(game, happened, row, states, offset),
    statesOf: (rows) => statesOfRows(game, rows),
    see: (seat, seen, before) => seeStates(game, seat, seen, before),
    ...(isOwn && {
      ownView: {
        rows: (rows, seat) => ownRows(A, rows, seat),
        seatOf: (states, offset) => seatOf(game, states, offset),
      },
    }),
    agrees: (name, predicted, truth) => {
      const field = game.observation[name.replace(/^next\//, '')];
      return field === undefined ? predicted === truth : isClose(field, predicted, truth, config.tolerance);
    },
    check: (rows) => {
      const views = (rows['active'].data.length / A) * V;
      const nameOf = (row: number) => {
        const agent = isOwn ? rows['seat'].data[row] : row % A;
        return `${game.agents[agent]}, transition ${Math.floor(row / V)}`;
      };
      // An episode's last observation is only among the next ones.
      for (const column of fields.flatMap(({ name }) => [name, `next/${name}`])) {
        if (!Object.hasOwn(rows, column)) continue;
        const field = game.observation[column.replace(/^next\//, '')];
        const observations = { [column]: rows[column].data };
        const check = { spec: { [column]: field }, observations, rows: views, assumed: true };
        checkObservations('observationsWorldModel', check, nameOf);
        checkExact(field, column, rows[column], nameOf);
      }
      checkRewardBins('observationsWorldModel', rows, nameOf);
    },
  };
}

/** Refuses fields that no rows or tensors can hold. */
function checkFields({ name: game, observation }: Game, isOwn: boolean): void {
  const where = 'observationsWorldModel';
  checkFieldNames(`${where}: observation of ${game}`, observation);
  if (isOwn && observation['seat']) {
    fail(`${where}: observation of ${game}`, "fields of other names than seat, with view: 'own'", 'seat', 'Rename it.');
  }
  if (observation['vector']?.shape.length === 3) {
    const remedy = 'Rename the field: all flat numbers together are the input of that name.';
    fail(where, 'no image named vector', `one in ${game}`, remedy);
  }
  const unsigned = Object.keys(observation).find((name) => observation[name].dtype === 'uint32');
  if (unsigned === undefined) return;
  const remedy =
    'Declare the field as int32 or float32 ("Kinds of observation fields" in docs/writing-an-environment.md).';
  fail(`${where}: observation of ${game}`, 'fields of a dtype other than uint32', unsigned, remedy);
}

/** The largest whole number up to which float32, the type of states and tensors, holds all of them. */
const LARGEST_EXACT = 2 ** 24;

function checkExact(field: ObservationField, name: string, { data }: NDArray, nameOf: (row: number) => string) {
  const { dtype, shape } = field;
  const wrong = dtype === 'int32' ? data.findIndex((value) => Math.abs(value) > LARGEST_EXACT) : -1;
  if (wrong < 0) return;
  const place = nameOf(Math.floor(wrong / sizeOf(shape)));
  const expected = `whole numbers from -${LARGEST_EXACT} to ${LARGEST_EXACT} in the observation field ${name}`;
  fail('observationsWorldModel', expected, `${data[wrong]} for ${place}`, 'Scale the numbers, or declare float32.');
}

function observationsLoss(fields: readonly FieldModel[], outputs: TensorRecord, rows: TensorRecord) {
  const metrics: TensorRecord = {};
  const losses = fields.map(({ name, size, read, loss }) => {
    return tf.mean(loss(tf.reshape(outputs[`field/${name}`], [-1, size]) as tf.Tensor2D, read(rows[`next/${name}`])));
  });
  metrics['observation_loss'] = losses.reduce((sum, part) => tf.add(sum, part) as tf.Scalar) as tf.Scalar;
  const plays = tf.cast(rows['active'], 'float32') as tf.Tensor2D; // [B, A]
  const amongPlayers = (values: tf.Tensor) => {
    // Of the V viewers, who come first, or of all agents.
    const ofThem = tf.slice(plays, [0, 0], [-1, values.shape[1]!]);
    return tf.div(tf.sum(tf.mul(values, ofThem)), tf.maximum(tf.sum(ofThem), 1));
  };
  metrics['mask_loss'] = tf.mean(tf.sum(bernoulliLoss(outputs['masks'], tf.cast(rows['next/masks'], 'float32')), -1));
  const surprise = tf.neg(tf.sum(tf.mul(tf.logSoftmax(outputs['rewards']), twoHot(rows['rewards'])), -1)); // [B, V]
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
  const V = game.viewers;
  const K = game.actions;
  const active = rows['active'].data;
  const count = active.length / A;
  const happened: NamedArrays = {};
  for (const { name, size, draw } of fields) {
    const { data, shape } = rows[name];
    const next = data.slice();
    const width = data.length / (count * V);
    for (let i = 0; i < count * V; i++) {
      draw(imagined[`field/${name}`].data as Float32Array, i * size, next, i * width, generator);
    }
    happened[`next/${name}`] = { data: next, shape };
  }
  const terminated = new Uint8Array(active.length);
  const rewards = new Float32Array(count * V);
  const masks = new Uint8Array(count * V * K);
  for (let i = 0; i < active.length; i++) {
    terminated[i] = active[i] === 0 ? 1 : drawFlag(imagined['terminated'].data[i] as number, generator);
  }
  for (let i = 0; i < count * V; i++) {
    const plays = active[Math.floor(i / V) * A + (i % V)] === 1; // the viewers come first
    rewards[i] = plays ? (imagined['rewards'].data[i] as number) : 0;
    chooseLegal(imagined['masks'].data as Float32Array, i * K, K, masks);
  }
  return {
    ...happened,
    'next/masks': ndarray(masks, [count, V, K]),
    rewards: ndarray(rewards, [count, V]),
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
