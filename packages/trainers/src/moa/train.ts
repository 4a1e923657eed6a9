import { type Generator, type NamedArrays, ndarray } from '@coplay/core';
import { mean, paddedCount } from '@coplay/core/rows';
import type { Compiled } from '@coplay/tensor';
import { NonFiniteError } from '../training';
import { areFinite, firstNonFinite } from '../training/finite-steps';
import { batchesPerEpoch, planBatches } from './batches';
import type { MoaUpdateInputs } from './step';
import type { MoaTable } from './table';

/** How networks are trained. */
export interface TrainingSettings {
  readonly epochs: number;
  readonly minibatchSize: number;
  /** L of recurrent models; 0 for others */
  readonly window: number;
  /** G */
  readonly goals: number;
  readonly unknownShare: number;
  /** Learning rate of the first minibatch and, were there one more, of the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** What training measured. */
export interface TrainingResult {
  /** Over minibatches and networks, each measured before the step that it causes; undefined where there was none */
  readonly means?: { readonly loss: number; readonly gradientNorm: number };
  /** Minibatches of all networks together. */
  readonly steps: number;
}

/**
 * Trains each network on its table; those without a table stay as they are.
 *
 * @throws NonFiniteError if a loss or gradient isn't finite; that network's parameters are left as they were
 */
export async function train(
  where: string,
  updates: readonly Compiled<MoaUpdateInputs>[],
  tables: readonly (MoaTable | undefined)[],
  settings: TrainingSettings,
  generator: Generator,
): Promise<TrainingResult> {
  const calls = tables.flatMap((table, member) => {
    const inputs = table && updateInputs(table, settings, generator);
    return inputs ? [updates[member](inputs) as Promise<NamedArrays>] : [];
  });
  const outputs = await Promise.all(calls);
  for (const output of outputs) if (!areFinite(output)) throw notFinite(where, output);
  const steps = outputs.reduce((sum, { loss }) => sum + loss.data.length, 0);
  if (steps === 0) return { steps };
  return { means: { loss: meanOf(outputs, 'loss'), gradientNorm: meanOf(outputs, 'gradientNorm') }, steps };
}

/** The minibatches of one network; undefined where it has no rows. */
function updateInputs({ table, list }: MoaTable, settings: TrainingSettings, generator: Generator) {
  const { minibatchSize: size, window, unknownShare, goals, from, to } = settings;
  const count = fewCounts(batchesPerEpoch(list, size, window) * settings.epochs);
  if (count === 0) return undefined;
  const plan = planBatches(list, { count, size, window, unknownShare }, generator);
  const learningRates = Float32Array.from({ length: count }, (_, i) => from + ((to - from) * i) / count);
  const each: NamedArrays = {
    places: ndarray(plan.places, plan.shape),
    weights: ndarray(plan.weights, plan.shape),
    learningRate: ndarray(learningRates, [count]),
  };
  if (goals > 0) each['goals'] = ndarray(plan.goals, plan.shape);
  return { each, shared: { table } };
}

/**
 * Each number of minibatches is a graph to compile: small ones, which change while a buffer fills, become powers of
 * two.
 */
function fewCounts(count: number): number {
  return count > 16 || count === 0 ? count : paddedCount(count);
}

function meanOf(outputs: readonly NamedArrays[], name: string): number {
  return mean(outputs.flatMap((output) => [...output[name].data]));
}

function notFinite(where: string, outputs: NamedArrays): NonFiniteError {
  const { loss, gradientNorm } = outputs;
  const step = firstNonFinite(outputs)!;
  return new NonFiniteError(where, `loss ${loss.data[step]}, gradient norm ${gradientNorm.data[step]}`, {});
}
