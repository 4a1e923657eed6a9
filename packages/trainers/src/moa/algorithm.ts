/*
 * Models of other agents, top to bottom: the loss and its gradient step, predictions, the compiled functions over the
 * networks of one observer, and training, prediction and accuracy on tables of rows. The loss is the cross-entropy of
 * HOP's goal-conditioned policy (Huang et al. 2024): -E[log pi(a | s, g)] over the actions that a co-player took, with
 * its own observation s and the goal g that it reached in hindsight; of a box pi is a density. Shapes: R rows of a
 * table, B rows of a minibatch (of a recurrent model: W windows of L steps), S minibatches, K actions, P numbers of a
 * prediction, G goals.
 */
import { type Generator, type Metrics, type NamedArrays, ndarray } from '@coplay/core';
import { isBox } from '@coplay/core/arrays';
import { gatherRows, mean, paddedCount } from '@coplay/core/rows';
import type { MoaNet } from '@coplay/models';
import { within } from '@coplay/models/layers';
import {
  adam,
  type Compiled,
  compileScanEach,
  compileTogether,
  type ExecutorChoice,
  type Optimiser,
  type StepFunction,
  stackVariables,
  type TensorRecord,
  tf,
  type Variables,
  valueAndGradients,
} from '@coplay/tensor';
import { NonFiniteError } from '../training';
import { areFinite, firstNonFinite } from '../training/finite-steps';
import { Networks, type PerGroup } from '../training/networks';
import { batchesPerEpoch, type MoaTable, packEpisodes, planBatches } from './data';
import type { MoaSetup } from './options';

/** Inputs of one minibatch out of a table of rows: `each` has it for S minibatches, [S, ...]. */
type UpdateInputs = {
  /** `places` int32 [B] (or [W, L]) in the table, `goals` int32 and `weights` of the same shape, `learningRate` [] */
  readonly each: TensorRecord;
  /** `table/NAME` [R, ...], as {@link MoaTable} has them */
  readonly shared: { readonly table: TensorRecord };
};

/** Inputs of a prediction of rows of a table: as of an update, without `weights` and `learningRate`. */
type PredictInputs = { readonly each: TensorRecord; readonly table: TensorRecord };

/** One gradient step: -sum(w log pi(a | s, g)) / sum(w), on rows gathered from the table. */
function moaUpdate(
  { net, distribution }: MoaSetup,
  optimiser: Optimiser,
): StepFunction<'params' | 'slots', UpdateInputs> {
  return (state, { each, shared }) => {
    const rows = gathered(net, shared.table, each);
    const weights = tf.reshape(each['weights'], [-1]) as tf.Tensor1D; // [B]
    const actions = tf.reshape(rows.actions, [-1, ...distribution.action.shape]); // [B, ...]
    const { loss, gradients } = valueAndGradients((params) => {
      const taken = distribution.logProb(net.predict(params, rows), actions); // [B]
      const count = tf.maximum(tf.sum(weights), 1e-8);
      return { loss: tf.neg(tf.div(tf.sum(tf.mul(taken, weights)), count)) as tf.Scalar, metrics: {} };
    }, state.params);
    const learningRate = each['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, learningRate);
    return { state: { params, slots }, outputs: { loss, gradientNorm } };
  };
}

/** Predictions [N, P] of rows of a table, at `places` [N] (or [W, L], N = W L). */
function moaPredict(net: MoaNet): StepFunction<'params', PredictInputs> {
  return (state, { each, table }) => ({ outputs: { policy: net.predict(state.params, gathered(net, table, each)) } });
}

/**
 * One step for acting: inputs `in/<input>` [B, ...], `mask` [B, K] but for a box, `goals` [B] and, recurrent, `state`;
 * outputs `policy` [B, P], `next`.
 */
function moaAct(net: MoaNet): StepFunction<'params'> {
  return (state, inputs) => {
    const goals = inputs['goals'] as tf.Tensor1D | undefined;
    const memory = inputs['state'] as tf.Tensor2D | undefined;
    const { policy, state: next } = net.step(
      state.params,
      within('in', inputs),
      inputs['mask'] as tf.Tensor2D | undefined,
      goals,
      memory,
    );
    return { outputs: next ? { policy, next } : { policy } };
  };
}

/** The rows of a minibatch. */
function gathered(net: MoaNet, table: TensorRecord, each: TensorRecord) {
  const places = each['places'] as tf.Tensor1D | tf.Tensor2D;
  const take = (name: string) => tf.gather(table[name], places);
  const inputs: TensorRecord = {};
  for (const name in table) if (name.startsWith('in/')) inputs[name.slice(3)] = take(name);
  return {
    inputs,
    ...(table['masks'] && { mask: take('masks') }),
    actions: take('actions'),
    ...(net.goals > 0 && { goals: each['goals'] }),
    ...(net.stateSize > 0 && { isFirst: take('isFirst') as tf.Tensor2D }),
  };
}

/** The compiled functions, one of each for every network. */
export interface MoaFunctions {
  readonly act: readonly Compiled[];
  readonly predict: readonly Compiled<PredictInputs>[];
  /** S gradient steps in a call. If the loss or gradient of one isn't finite, everything stays as it was. */
  readonly update: readonly Compiled<UpdateInputs>[];
}

/** The networks of one observer: one for each co-player, or `all` for all of them. */
export type MoaNetworks = Networks<MoaFunctions>;

/** Networks without parameters as yet. */
export function moaNetworks(setup: MoaSetup): MoaNetworks {
  const { net, options, coPlayers, id } = setup;
  const optimiser = adam(options.clipNorm === false ? {} : { clipNorm: options.clipNorm });
  return new Networks<MoaFunctions>({
    name: `moa (${id})`,
    names: options.share && coPlayers.length > 0 ? ['all'] : coPlayers,
    init: (generator) => {
      const params = net.init(generator.fork());
      return { params, slots: optimiser.init(params) };
    },
    functions: (members) => {
      if (members.length === 0) return { act: [], predict: [], update: [] };
      return {
        act: actTogether(net, members, options.executor),
        predict: compileTogether<'params', PredictInputs>(moaPredict(net), {
          name: 'moa/predict',
          state: { params: stackVariables(members.map(({ params }) => params)) },
          executor: options.executor,
        }),
        // Batches are large: one graph that all networks share and run one after the other works on arrays that fit
        // into the processor's caches.
        update: compileScanEach<'params' | 'slots', UpdateInputs>(moaUpdate(setup, optimiser), {
          name: 'moa/update',
          states: members,
          executor: options.executor,
          acceptState: areFinite,
        }),
      };
    },
  });
}

/** A function that acts for each of these networks; calls in the same turn run in one graph. */
export function actTogether(
  net: MoaNet,
  members: readonly PerGroup<Variables>[],
  executor: ExecutorChoice,
): readonly Compiled[] {
  const params = stackVariables(members.map((member) => member.params));
  return compileTogether(moaAct(net), { name: 'moa/act', state: { params }, executor });
}

/** How networks are trained. */
export interface TrainingSettings {
  readonly epochs: number;
  /** Learning rate of the first minibatch and, were there one more, of the one after the last. */
  readonly from: number;
  readonly to: number;
}

/**
 * Trains each network on its table; networks without a table stay as they are.
 *
 * @returns means over minibatches and networks, each measured before the step that it causes
 * @throws NonFiniteError if a loss or gradient isn't finite; that network's parameters are left as they were
 */
export async function trainOn(
  where: string,
  setup: MoaSetup,
  { functions }: MoaNetworks,
  tables: readonly (MoaTable | undefined)[],
  settings: TrainingSettings,
  generator: Generator,
): Promise<Metrics> {
  const calls = tables.flatMap((table, i) => {
    const inputs = table && updateInputs(setup, table, settings, generator);
    return inputs ? [functions.update[i](inputs) as Promise<NamedArrays>] : [];
  });
  const outputs = await Promise.all(calls);
  for (const output of outputs) if (!areFinite(output)) throw notFinite(where, output);
  const all = (name: 'loss' | 'gradientNorm') => outputs.flatMap((output) => [...output[name].data]);
  const losses = all('loss');
  return {
    ...(losses.length > 0 && { 'moa/loss': mean(losses), 'moa/gradient_norm': mean(all('gradientNorm')) }),
    'moa/steps': losses.length,
  };
}

/** The minibatches of one network; undefined where it has no rows. */
function updateInputs(
  { net, options, game }: MoaSetup,
  { table, list }: MoaTable,
  { epochs, from, to }: TrainingSettings,
  generator: Generator,
) {
  const { minibatchSize: size, unknownShare } = options;
  const window = net.stateSize > 0 ? game.maxSteps : 0;
  const count = fewCounts(batchesPerEpoch(list, size, window) * epochs);
  if (count === 0) return undefined;
  const plan = planBatches(list, { count, size, window, unknownShare }, generator);
  const learningRates = Float32Array.from({ length: count }, (_, i) => from + ((to - from) * i) / count);
  const each: NamedArrays = {
    places: ndarray(plan.places, plan.shape), // [S, B] or [S, W, L]
    weights: ndarray(plan.weights, plan.shape),
    learningRate: ndarray(learningRates, [count]),
  };
  if (net.goals > 0) each['goals'] = ndarray(plan.goals, plan.shape);
  return { each, shared: { table } };
}

/**
 * Each number of minibatches is a graph to compile: small ones, which change while a buffer fills, become powers of
 * two.
 */
function fewCounts(count: number): number {
  return count > 16 || count === 0 ? count : paddedCount(count);
}

function notFinite(where: string, outputs: NamedArrays): NonFiniteError {
  const { loss, gradientNorm } = outputs;
  const step = firstNonFinite(outputs)!;
  return new NonFiniteError(where, `loss ${loss.data[step]}, gradient norm ${gradientNorm.data[step]}`, {});
}

/** Rows of one call at most, about. */
const CHUNK = 4096;

/**
 * Predictions of all rows in use, in their order.
 *
 * @returns [N, P]
 */
export async function predictTable(
  { net, game }: MoaSetup,
  predict: MoaFunctions['predict'][number],
  { table, list }: MoaTable,
): Promise<Float32Array> {
  const isRecurrent = net.stateSize > 0;
  const window = isRecurrent ? game.maxSteps : 1;
  const everyEpisode = list.lengths.map((_, i) => i);
  const windows = isRecurrent
    ? packEpisodes(list.lengths, everyEpisode, window)
    : Array.from(list.places, (_, row) => [row]);
  const perChunk = Math.max(1, Math.floor(CHUNK / window));
  const all = new Float32Array(list.places.length * net.policySize);
  for (let first = 0; first < windows.length; first += perChunk) {
    const chunk = windows.slice(first, first + perChunk);
    const count = paddedCount(chunk.length);
    const places = new Int32Array(count * window).fill(list.places[0]);
    const goals = new Int32Array(count * window).fill(-1);
    chunk.forEach((rows, unit) => {
      rows.forEach((row, i) => {
        places[unit * window + i] = list.places[row];
        goals[unit * window + i] = list.goals[row];
      });
    });
    const shape = isRecurrent ? [count, window] : [count];
    const order = ndarray(
      places.map((_, i) => i),
      shape,
    );
    const each = { places: order, ...(net.goals > 0 && { goals: ndarray(goals, shape) }) };
    const { policy } = await predict({ each, table: gatherRows(table, places) }); // [count * window, P]
    chunk.forEach((rows, unit) => {
      rows.forEach((row, i) => {
        const from = (unit * window + i) * net.policySize;
        all.set((policy.data as Float32Array).subarray(from, from + net.policySize), row * net.policySize);
      });
    });
  }
  return all;
}

/** How well a model predicts rows, means over them. */
export interface Scores {
  /** Share whose most probable action, in every choice, was the one taken; none for a box */
  readonly accuracy?: number;
  /** Log-density of the actions taken, nats; only for a box */
  readonly logLikelihood?: number;
  /** Distance of the values of the actions taken from the middle of the prediction; only for a box */
  readonly absoluteError?: number;
}

/** The scores of a model on the rows in use. */
export async function scoresOf(
  setup: MoaSetup,
  predict: MoaFunctions['predict'][number],
  { table, list }: MoaTable,
): Promise<Scores> {
  const { space, distribution } = setup;
  const policy = await predictTable(setup, predict, { table, list });
  const count = list.places.length;
  const guesses = distribution.likeliest(policy, count); // [N, w]
  const w = guesses.length / count;
  const taken = (row: number, i: number) => table['actions'].data[list.places[row] * w + i];
  if (isBox(space)) return boxScores(policy, guesses, w, taken);
  let hits = 0;
  for (let row = 0; row < count; row++) {
    let isHit = true;
    for (let i = 0; i < w; i++) isHit &&= guesses[row * w + i] === taken(row, i);
    if (isHit) hits++;
  }
  return { accuracy: hits / count };
}

/** @param policy [N, 2w] */
function boxScores(
  policy: Float32Array,
  guesses: ArrayLike<number>,
  w: number,
  taken: (row: number, i: number) => number,
): Scores {
  let [logLikelihood, absoluteError] = [0, 0];
  for (let at = 0; at < guesses.length; at++) {
    const [row, i] = [Math.floor(at / w), at % w];
    const logStd = policy[(2 * row + 1) * w + i];
    const z = (taken(row, i) - policy[2 * row * w + i]) / Math.exp(logStd);
    logLikelihood -= z ** 2 / 2 + logStd + Math.log(2 * Math.PI) / 2;
    absoluteError += Math.abs(taken(row, i) - guesses[at]);
  }
  return { logLikelihood: (logLikelihood * w) / guesses.length, absoluteError: absoluteError / guesses.length };
}
