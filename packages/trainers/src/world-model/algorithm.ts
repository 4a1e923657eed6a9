/*
 * An ensemble of world models, top to bottom: one gradient step of a member, the compiled functions over all members,
 * their minibatches, and training on stored transitions or on a data set. The loss is the model's own (`WorldModel` of
 * `@coplay/models`). Each member begins with other parameters and learns from its own bootstrap of the rows (Chua et
 * al. 2018). Shapes: N members, S gradient steps, B transitions of a minibatch.
 */
import { createTransitionStore, type OutcomeStore, type TransitionStore } from '@coplay/buffers';
import { checkOptions, type Generator, type Metrics, type NamedArrays, ndarray } from '@coplay/core';
import { checkGenerator } from '@coplay/core/checks';
import { concatRows, gatherRows, mean, reshapeRows } from '@coplay/core/rows';
import type { WorldModel } from '@coplay/models';
import {
  adam,
  type Compiled,
  compile,
  compileScanEach,
  compileStacked,
  type Optimiser,
  type ScanInputs,
  type StepFunction,
  stackVariables,
  type tf,
  valueAndGradients,
} from '@coplay/tensor';
import { NonFiniteError } from '../training';
import { areFinite } from '../training/finite-steps';
import { meanMetrics } from '../training/metrics';
import { Networks } from '../training/networks';
import { type PretrainOptions, pretrainSchema, type WorldModelSetup } from './options';

/** One gradient step of a member on a minibatch of transitions. */
function worldModelUpdate(model: WorldModel, optimiser: Optimiser): StepFunction<'params' | 'slots', ScanInputs> {
  return (state, { each, shared }) => {
    const { loss, gradients, metrics } = valueAndGradients((params) => model.loss(params, each), state.params);
    const rate = shared['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, rate);
    return { state: { params, slots }, outputs: { ...metrics, loss, gradientNorm } };
  };
}

/** A member's prediction of steps: rows [B, ...] to outcomes [B, ...]. */
function imagineForward(model: WorldModel): StepFunction<'params'> {
  return (state, rows) => ({ outputs: model.imagine(state.params, rows) });
}

/** The compiled functions over the members. */
export interface WorldModelFunctions {
  /**
   * S gradient steps of each member, which learns by itself, through a graph that all share: measured at 6.7 ms a step,
   * and at 10 ms a member where five were stacked in one graph.
   */
  readonly update: readonly Compiled<ScanInputs>[];
  /** All members' predictions: rows [N, B, ...] to [N, B, ...]; without the first axis for a single member. */
  readonly imagine: Compiled;
}

/** The members' parameters and optimiser slots, and the functions over them. */
export type WorldModelNetworks = Networks<WorldModelFunctions>;

/** Members without parameters as yet. */
export function worldModelNetworks({ model, executor, clipNorm, members }: WorldModelSetup): WorldModelNetworks {
  const optimiser = adam({ clipNorm });
  return new Networks<WorldModelFunctions>({
    name: 'worldModel',
    names: Array.from({ length: members }, (_, member) => String(member)),
    init: (generator) => {
      const params = model.init(generator.fork());
      return { params, slots: optimiser.init(params) };
    },
    functions: (states) => {
      const params = states.map((own) => own.params);
      const options = { name: 'world-model/imagine', executor };
      return {
        update: compileScanEach<'params' | 'slots', ScanInputs>(worldModelUpdate(model, optimiser), {
          ...{ name: 'world-model/update', states, executor },
          acceptState: areFinite,
        }),
        imagine:
          members === 1
            ? compile(imagineForward(model), { ...options, state: { params: params[0] } })
            : compileStacked(imagineForward(model), { ...options, state: { params: stackVariables(params) } }),
      };
    },
  });
}

/** The data of gradient steps. */
export interface TrainingData {
  readonly store: TransitionStore;
  /** The source of a share of every minibatch. Default: nothing */
  readonly outcomes?: { readonly store: OutcomeStore; readonly share: number };
}

/**
 * S gradient steps of every member, each on minibatches of its own rows, in one call a member.
 *
 * @param where  for messages: `world model, update 3`
 * @throws NonFiniteError if a loss or gradient isn't finite; that member's parameters are left as they were
 */
export async function trainOn(
  where: string,
  { members, batchSize }: Pick<WorldModelSetup, 'members' | 'batchSize'>,
  { functions }: WorldModelNetworks,
  data: TrainingData,
  { steps, learningRate }: { readonly steps: number; readonly learningRate: number },
  generator: Generator,
): Promise<Metrics> {
  const batches = Array.from({ length: members }, (_, member) => {
    return reshapeRows(minibatches(data, member, { steps, batchSize }, generator), [steps, batchSize]); // [S, B, ...]
  });
  const shared = { learningRate: ndarray(Float32Array.of(learningRate), []) };
  // All at once: members may be trained on threads of their own.
  const all = await Promise.all(
    batches.map((each, member) => functions.update[member]({ each, shared }) as Promise<NamedArrays>),
  );
  const measured = all.map((outputs, member) => {
    if (!areFinite(outputs)) {
      throw new NonFiniteError(
        where,
        `losses ${outputs['loss'].data}, gradient norms ${outputs['gradientNorm'].data}`,
        batches[member],
      );
    }
    return lossMetrics(outputs);
  });
  return { ...meanMetrics(measured), 'world_model/steps': steps };
}

/** Rows of S minibatches, one after the other: [S B, ...]. */
function minibatches(
  { store, outcomes }: TrainingData,
  member: number,
  { steps, batchSize }: { readonly steps: number; readonly batchSize: number },
  generator: Generator,
): NamedArrays {
  const rare = outcomes ? Math.floor(outcomes.share * batchSize) : 0;
  const usual = batchSize - rare;
  const rows = store.gather(store.sample(generator, steps * usual, member));
  if (!outcomes || rare === 0) return rows;
  const all = concatRows([rows, outcomes.store.sample(generator, steps * rare)]);
  const order = Int32Array.from({ length: steps * batchSize }, (_, i) => {
    const [step, place] = [Math.floor(i / batchSize), i % batchSize];
    return place < usual ? step * usual + place : steps * usual + step * rare + place - usual;
  });
  return gatherRows(all, order);
}

/** Means over steps. */
function lossMetrics({ loss, gradientNorm, ...parts }: NamedArrays): Metrics {
  return {
    'world_model/loss': mean(loss.data),
    'world_model/gradient_norm': mean(gradientNorm.data),
    ...Object.fromEntries(Object.entries(parts).map(([name, { data }]) => [`world_model/${name}`, mean(data)])),
  };
}

/** Gradient steps of one call when a model learns from a data set. */
const STEPS_PER_CALL = 64;

/** Trains on a data set. */
export async function pretrainOn(
  setup: WorldModelSetup,
  networks: WorldModelNetworks,
  rows: NamedArrays,
  options: PretrainOptions,
): Promise<Metrics> {
  const where = 'worldModel.pretrain';
  const checked = checkOptions(where, pretrainSchema, options);
  const { steps, learningRate = setup.learningRate, anneal, onProgress } = checked;
  const { generator } = options;
  checkGenerator(where, generator);
  const store = createTransitionStore({ capacity: Math.max(1, rows['rewards'].shape[0]), members: setup.members });
  store.push(rows, generator);
  let metrics: Metrics = {};
  for (let done = 0; done < steps; done += STEPS_PER_CALL) {
    const rate = anneal ? learningRate * (1 - done / steps) : learningRate;
    const size = Math.min(STEPS_PER_CALL, steps - done);
    metrics = await trainOn(where, setup, networks, { store }, { steps: size, learningRate: rate }, generator);
    networks.tidy(0);
    onProgress?.(done + size, metrics);
  }
  return metrics;
}
