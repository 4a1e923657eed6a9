import type { Generator, NamedArrays } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import { maskedLogProbs } from '@coplay/tensor/distributions';
import { type ConvStack, denseLayer, type Layer, prefixed, within } from '../layers';
import type { GridShape } from './grid';
import { cellOneHots, LEAVE, MOVES, neighbourTable, targetTable } from './moves';
import { gridTrunk, type TrunkOptions } from './trunk';
import { REWARD_BINS } from './two-hot';

/** Options of the network of {@link cellsWorldModel}. */
export interface CellsNetworkOptions extends TrunkOptions {
  readonly hidden: number;
  readonly rewards: 'events' | 'two-hot';
}

/** The network's prediction of a step. */
export interface CellsOutputs {
  /** [B, A, 6] log-probabilities of the moves of `moves.ts`; about -1e9 for impossible moves */
  readonly moves: tf.Tensor3D;
  /** [B, A, 5, HW] one-hots of the cells that all moves but leaving lead to */
  readonly targets: tf.Tensor4D;
  /** [B, M, HW] logits of a thing being there; none where the game has no things */
  readonly things?: tf.Tensor3D;
  /** [B, A, REWARD_BINS] logits; only with `rewards: 'two-hot'` */
  readonly rewards?: tf.Tensor3D;
}

/** Parameters and the function over them. */
export interface CellsNetwork {
  init(generator: Generator): NamedArrays;
  apply(params: TensorRecord, rows: TensorRecord): CellsOutputs;
}

/**
 * Convolutions over planes that hold the sum of all agents' actions at their cells; an agent's outcome is read off at
 * its own cell, together with its own action. Everything is local, and agents differ only by place and action, so that
 * what is learned at one cell and seat holds for all.
 */
export function cellsNetwork(shape: GridShape, options: CellsNetworkOptions): CellsNetwork {
  const { parts, actions: K, things: M, fixed: F, cells: HW } = shape;
  const channels = K + F + M + 1;
  const trunk = gridTrunk('cellsWorldModel', [parts.rows, parts.columns, channels], options);
  const features = channels + trunk.outputSize / HW;
  const heads = cellsHeads(features, options, K, M);
  const neighbours = neighbourTable(parts);
  const table = targetTable(neighbours, HW);

  return {
    init: (generator) => ({
      ...prefixed('trunk', trunk.init(generator.fork())),
      ...heads.init(generator.fork()),
    }),
    apply: (params, rows) => {
      const places = cellOneHots(rows['cells'], HW); // [B, A, HW]
      const own = cellOneHots(rows['actions'], K); // [B, A, K]: one-hots all the same
      const planes = planesOf(shape, rows, places, own);
      const local = tf.concat([planes, convolve(trunk, params, planes, shape)], -1) as tf.Tensor3D; // [B, HW, features]
      const agents = tf.concat([tf.matMul(places, local), own], -1) as tf.Tensor3D; // [B, A, features + K]
      const targets = targetsOf(rows, table, shape);
      const mask = possibleMoves(shape, rows, targets);
      return {
        targets,
        moves: maskedLogProbs(perRow(heads.moves, params, 'moves', agents), mask) as tf.Tensor3D,
        ...(heads.things && {
          things: tf.transpose(perRow(heads.things, params, 'things', local), [0, 2, 1]) as tf.Tensor3D,
        }),
        ...(heads.rewards && {
          rewards: perRow(heads.rewards, params, 'rewards', withTotals(agents, local)) as tf.Tensor3D,
        }),
      };
    },
  };
}

/** The small networks that are applied to each agent or cell. */
function cellsHeads(features: number, { hidden, rewards }: CellsNetworkOptions, K: number, M: number) {
  const moves = twoLayers(features + K, hidden, MOVES);
  const things = M > 0 ? twoLayers(features, hidden, M) : undefined;
  const bins = rewards === 'two-hot' ? twoLayers(2 * features + K, hidden, REWARD_BINS) : undefined;
  return {
    moves,
    things,
    rewards: bins,
    init: (generator: Generator): NamedArrays => ({
      ...prefixed('moves', moves.init(generator.fork())),
      ...(things && prefixed('things', things.init(generator.fork()))),
      ...(bins && prefixed('rewards', bins.init(generator.fork()))),
    }),
  };
}

function twoLayers(inputSize: number, hidden: number, outputSize: number): Layer {
  const first = denseLayer({ inputSize, outputSize: hidden, activation: 'relu' });
  const second = denseLayer({ inputSize: hidden, outputSize, gain: 0.1 });
  return {
    outputSize,
    init: (generator) => ({
      ...prefixed('0', first.init(generator.fork())),
      ...prefixed('1', second.init(generator.fork())),
    }),
    apply: (params, x) => second.apply(within('1', params), first.apply(within('0', params), x)),
  };
}

/** Applies a layer to every row of [B, N, features]. */
function perRow(layer: Layer, params: TensorRecord, name: string, x: tf.Tensor3D): tf.Tensor3D {
  const [B, N, features] = x.shape;
  const flat = layer.apply(within(name, params), tf.reshape(x, [B * N, features]) as tf.Tensor2D);
  return tf.reshape(flat, [B, N, layer.outputSize]) as tf.Tensor3D;
}

/** [B, HW, K + F + M + 1]: actions of all who stand in a cell, what stays, things, and ones that end at the border. */
function planesOf(shape: GridShape, rows: TensorRecord, places: tf.Tensor3D, own: tf.Tensor3D): tf.Tensor3D {
  const [B] = places.shape;
  const planes: tf.Tensor3D[] = [tf.matMul(places, own, true, false) as tf.Tensor3D];
  if (shape.fixed > 0) planes.push(tf.transpose(rows['fixed'], [0, 2, 1]) as tf.Tensor3D);
  if (shape.things > 0) planes.push(tf.transpose(rows['things'], [0, 2, 1]) as tf.Tensor3D);
  planes.push(tf.ones([B, shape.cells, 1]));
  return tf.concat(planes, -1) as tf.Tensor3D;
}

function convolve(trunk: ConvStack, params: TensorRecord, planes: tf.Tensor3D, { parts, cells }: GridShape) {
  const [B, , channels] = planes.shape;
  const images = tf.reshape(planes, [B, parts.rows, parts.columns, channels]) as tf.Tensor4D;
  const flat = trunk.apply(within('trunk', params), images);
  return tf.reshape(flat, [B, cells, trunk.outputSize / cells]) as tf.Tensor3D;
}

/** [B, A, 5, HW] */
function targetsOf(rows: TensorRecord, table: Float32Array, { cells, agents }: GridShape): tf.Tensor4D {
  const lines = tf.tensor2d(table, [cells + 1, LEAVE * cells]);
  return tf.reshape(tf.gather(lines, rows['cells'] as tf.Tensor2D), [-1, agents, LEAVE, cells]) as tf.Tensor4D;
}

/**
 * [B, A, 6] 1 for moves to cells that are inside of the grid and free of what stays, and for leaving: the only one of
 * the gone.
 */
function possibleMoves({ cells, fixed }: GridShape, rows: TensorRecord, targets: tf.Tensor4D): tf.Tensor3D {
  const [B, A] = targets.shape;
  const blocked = fixed > 0 ? tf.minimum(tf.sum(rows['fixed'], 1), 1) : tf.zeros([B, cells]);
  const free = tf.reshape(tf.sub(1, blocked), [B, 1, 1, cells]);
  const open = tf.sum(tf.mul(targets, free), -1) as tf.Tensor3D; // [B, A, 5]
  return tf.concat([open, tf.ones([B, A, 1])], -1) as tf.Tensor3D;
}

/** Appends the sums over all cells to each agent's features: events elsewhere on the map. */
function withTotals(agents: tf.Tensor3D, local: tf.Tensor3D): tf.Tensor3D {
  const [B, A] = agents.shape;
  const totals = tf.tile(tf.sum(local, 1, true), [1, A, 1]);
  return tf.concat([agents, tf.reshape(totals, [B, A, -1])], -1) as tf.Tensor3D;
}
