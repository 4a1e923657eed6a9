import { checkOptions, fail, type Game, type NamedArrays } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import { z } from 'zod';
import type { TorsoBuilder } from '../torso';
import { decodeCells, expectedPlanes } from './cells-decode';
import { type CellsNetwork, type CellsNetworkOptions, type CellsOutputs, cellsNetwork } from './cells-network';
import { encodeGrid, type GridShape, gridShape, writeGrid } from './grid';
import { cellOneHots, neighbourTable } from './moves';
import { isOneTrunk, ONE_TRUNK, trunkConfig, trunkSchemas } from './trunk';
import { checkRewardBins, meanReward, twoHot } from './two-hot';
import type { WorldModel, WorldModelBuilder } from './world-model';

/** Options of {@link cellsWorldModel}. */
export interface CellsWorldModelOptions {
  /**
   * The network that reads the planes, in place of the convolutions: from `planes` [H, W, C] to features of each cell,
   * [H, W, features] flattened. `layersModel()` or `torsoBuilder()`. Default: convolutions
   */
  readonly network?: TorsoBuilder;
  /** Filters of each convolution; with one, a cell is judged by itself and its eight neighbours. Default [32] */
  readonly filters?: readonly number[];
  /** Side of the kernels. Default 3 */
  readonly kernelSize?: number;
  /** Hidden units of the layers that read a cell or an agent. Default 64 */
  readonly hidden?: number;
  /**
   * `events`: rewards follow from what agents did and what came of it, by the game's own rule. `two-hot`: they're
   * learned, as distributions over 81 bins between -53.6 and 53.6. Default `events`
   */
  readonly rewards?: 'events' | 'two-hot';
}

const schema = z
  .strictObject({
    ...trunkSchemas,
    hidden: z.int().min(1).default(64),
    rewards: z.enum(['events', 'two-hot']).default('events'),
  })
  .refine(isOneTrunk, ONE_TRUNK);

/**
 * A world model of games on a grid in which agents can't jump, split or fade: for each agent a categorical over H*W + 1
 * cells (the last one: it has left) of which only its own, its free neighbours and the last are possible; for each cell
 * and kind of thing the probability that one lies there; fixed things are copied.
 *
 * `imagine` gives `moves` [B, A, 6], the probabilities of staying, going up, down, left, right, leaving; `things` [B,
 * M, HW]; with `rewards: 'two-hot'` also `rewards` [B, A]. Loss: the cross-entropy of the moves, a mean over the agents
 * who play, plus that of the things, a sum over cells and a mean over rows (plus that of the rewards).
 *
 * @throws CoplayError, when it's built, for a game without grid parts
 */
export function cellsWorldModel(options: CellsWorldModelOptions = {}): WorldModelBuilder {
  const { filters = [32], kernelSize = 3, ...config } = checkOptions('cellsWorldModel', schema, options);
  return (game) => buildCells(game, { filters, kernelSize, ...config });
}

function buildCells(game: Game, config: CellsNetworkOptions): WorldModel {
  const shape = gridShape('cellsWorldModel', game);
  const network = cellsNetwork(shape, config);
  const neighbours = neighbourTable(shape.parts);
  return {
    kind: 'cells',
    config: { kind: 'cells', ...trunkConfig(config), hidden: config.hidden, rewards: config.rewards },
    game,
    data: 'grid',
    init: network.init,
    imagine: (params, rows) => probabilities(network.apply(params, rows)),
    loss: (params, rows) => cellsLoss(shape, network, params, rows),
    encode: (states, actions) => encodeGrid(shape, states, actions),
    decode: (imagined, rows, generator) => decodeCells(shape, neighbours, imagined, rows, generator),
    write: (happened, row, states, offset) => writeGrid(shape, happened, row, states, offset),
    planes: (imagined, rows) => expectedPlanes(shape, neighbours, imagined, rows),
    check: (rows) => {
      checkMoves(shape, neighbours, rows);
      if (config.rewards !== 'two-hot') return;
      const A = shape.agents;
      const nameOf = (place: number) => `${game.agents[place % A]}, transition ${Math.floor(place / A)}`;
      checkRewardBins('cellsWorldModel', rows, nameOf);
    },
  };
}

function probabilities({ moves, things, rewards }: CellsOutputs): TensorRecord {
  return {
    moves: tf.exp(moves),
    ...(things && { things: tf.sigmoid(things) }),
    ...(rewards && { rewards: meanReward(tf.softmax(rewards)) }),
  };
}

function cellsLoss(shape: GridShape, network: CellsNetwork, params: TensorRecord, rows: TensorRecord) {
  const { moves, targets, things, rewards } = network.apply(params, rows); // [B, A, 6], [B, A, 5, HW], ...
  const plays = tf.cast(tf.less(rows['cells'], shape.cells), 'float32'); // [B, A]
  const players = tf.maximum(tf.sum(plays), 1);
  const next = tf.expandDims(cellOneHots(rows['next/cells'], shape.cells), 2); // [B, A, 1, HW]
  const goes = tf.sum(tf.mul(targets, next), -1); // [B, A, 5]
  const leaves = tf.cast(tf.equal(rows['next/cells'], shape.cells), 'float32'); // [B, A]
  const taken = tf.concat([goes, tf.expandDims(leaves, -1)], -1); // [B, A, 6] one-hot
  const surprise = tf.neg(tf.sum(tf.mul(moves, taken), -1)); // [B, A]
  const metrics: TensorRecord = { cells_loss: tf.div(tf.sum(tf.mul(surprise, plays)), players) };
  if (things) metrics['things_loss'] = tf.mean(tf.sum(crossEntropy(things, rows['next/things']), [1, 2]));
  if (rewards) {
    const surprises = tf.neg(tf.sum(tf.mul(tf.logSoftmax(rewards), twoHot(rows['rewards'])), -1)); // [B, A]
    metrics['reward_loss'] = tf.div(tf.sum(tf.mul(surprises, plays)), players);
  }
  const loss = Object.values(metrics).reduce((sum, part) => tf.add(sum, part)) as tf.Scalar;
  return { loss, metrics };
}

/** Of probabilities given as logits, -x log p - (1 - x) log(1 - p), in the form that doesn't overflow. */
function crossEntropy(logits: tf.Tensor, labels: tf.Tensor): tf.Tensor {
  return tf.add(tf.sub(tf.relu(logits), tf.mul(logits, labels)), tf.log1p(tf.exp(tf.neg(tf.abs(logits)))));
}

function checkMoves({ agents, cells, parts }: GridShape, neighbours: Int32Array, rows: NamedArrays): void {
  const before = rows['cells'].data;
  const after = rows['next/cells'].data;
  for (let i = 0; i < before.length; i++) {
    if (after[i] === cells || neighbours.subarray(before[i] * 5, before[i] * 5 + 5).includes(after[i])) continue;
    const name = (cell: number) =>
      cell === cells ? 'off the map' : `row ${Math.floor(cell / parts.columns)}, column ${cell % parts.columns}`;
    const got = `one from ${name(before[i])} to ${name(after[i])}, agent ${i % agents}, transition ${Math.floor(i / agents)}`;
    const remedy = 'For a game in which agents jump use planesWorldModel, or write a model of your own.';
    fail('cellsWorldModel', 'steps to one of the four neighbours', got, remedy);
  }
}
