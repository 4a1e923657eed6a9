import type { HistoryBuffer } from '@coplay/buffers';
import { type Generator, type Metrics, type NamedArrays, ndarray } from '@coplay/core';
import { mean, paddedCount, padRows } from '@coplay/core/rows';
import { selectSubgoals } from '@coplay/models/omg';
import { findNonFinite, NonFiniteError } from '../training';
import { encodeHistories } from './rows';
import { planSequences } from './sequences';
import type { OmgNetwork, OmgSetup } from './setup';

/** Trains the state VAE on states that are drawn from the buffer, S gradient steps in one call. */
export async function trainVae(
  setup: OmgSetup,
  network: OmgNetwork,
  buffer: HistoryBuffer,
  generator: Generator,
): Promise<Metrics> {
  const { vaeSteps, vaeBatchSize, goalDim } = setup.settings;
  const places = Int32Array.from({ length: vaeSteps * vaeBatchSize }, () => generator.integer(buffer.size));
  const rows = encodeHistories(setup, buffer.rows(places));
  const each: NamedArrays = { noise: normals(generator, [vaeSteps, vaeBatchSize, goalDim]) };
  for (const [name, { data, shape }] of Object.entries(rows)) {
    each[name] = { data, shape: [vaeSteps, vaeBatchSize, ...shape.slice(1)] };
  }
  const outputs = await network.functions.trainVae({ each, shared: scalars(setup) });
  checkSteps(`OMG (${setup.id}): VAE`, outputs, each);
  return {
    'omg/vae_loss': mean(outputs['loss'].data),
    'omg/vae_nll': mean(outputs['nll'].data),
    'omg/vae_kl': mean(outputs['kl'].data),
    'omg/vae_gradient_norm': mean(outputs['gradientNorm'].data),
  };
}

/** Trains the inference on histories that are drawn from the buffer, S gradient steps in one call. */
export async function trainInference(
  setup: OmgSetup,
  network: OmgNetwork,
  buffer: HistoryBuffer,
  generator: Generator,
): Promise<Metrics> {
  const { inferenceSteps: S, batchSize: B, sequenceLength: L, goalDim, selector, horizon } = setup.settings;
  const plan = planSequences(buffer.offsets(), S * B, L, generator);
  const rows = buffer.rows(plan.table);
  const draws = selector === 'random' ? Float32Array.from(plan.table, () => generator.uniform()) : new Float32Array(0);
  const values = rows['values'].data;
  const subgoals = selectSubgoals(selector, horizon, { ends: plan.ends, values, draws });
  const each = {
    places: ndarray(plan.places, [S, B * L]),
    selected: ndarray(
      plan.places.map((place) => subgoals[place]),
      [S, B * L],
    ),
    isFirst: ndarray(plan.isFirst, [S, B, L]),
    weights: ndarray(plan.weights, [S, B * L]),
    noise: normals(generator, [S, B * L, goalDim]),
  };
  const table = padRows(encodeHistories(setup, rows), paddedCount(plan.table.length));
  const outputs = await network.functions.trainInference({ each, shared: { ...scalars(setup), ...table } });
  checkSteps(`OMG (${setup.id}): inference`, outputs, each);
  const spread = mean(outputs['spread'].data);
  return {
    'omg/loss': mean(outputs['loss'].data),
    'omg/nll': mean(outputs['nll'].data),
    'omg/kl': mean(outputs['kl'].data),
    'omg/gradient_norm': mean(outputs['gradientNorm'].data),
    // Latents that hold nothing hardly differ: any distance is large compared with their spread. Without a spread there
    // is nothing to explain.
    ...(spread > 0 && { 'omg/explained_variance': Math.max(-1, 1 - mean(outputs['error'].data) / spread) }),
  };
}

function scalars({ settings }: OmgSetup): NamedArrays {
  return { learningRate: ndarray(Float32Array.of(settings.learningRate), []) };
}

/** Standard normal numbers. */
function normals(generator: Generator, shape: readonly number[]): NamedArrays[string] {
  const length = shape.reduce((product, size) => product * size, 1);
  return {
    data: Float32Array.from({ length }, () => generator.normal()),
    shape,
  };
}

/** The state was kept as it was if a step wasn't finite; here it's said. */
function checkSteps(where: string, { loss, gradientNorm }: NamedArrays, each: NamedArrays): void {
  const bad = findNonFinite({ loss, gradientNorm });
  if (bad) throw new NonFiniteError(where, bad, each);
}
