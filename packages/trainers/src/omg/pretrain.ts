import { createHistoryBuffer } from '@coplay/buffers';
import { checkOptions, type Experience, fail, type Generator, type Metrics } from '@coplay/core';
import { checkRecord, checkTypedArray } from '@coplay/core/checks';
import { z } from 'zod';
import { trainInference, trainVae } from './learn';
import type { OmgNetwork, OmgSetup } from './setup';

/** What {@link OmgLearner.pretrain} does. */
export interface OmgPretrainOptions {
  /** Gradient steps of the state VAE, rounded up to a multiple of the option `vaeSteps`. Default 2,048 */
  readonly vaeSteps?: number;
  /** Gradient steps of the inference after them, rounded up likewise. Default 0 */
  readonly inferenceSteps?: number;
  /** [E, T, A] values of the data's states, for selectors that go by value; only for the inference */
  readonly values?: Float32Array;
}

const schema = z.strictObject({
  vaeSteps: z.int().min(0).default(2048),
  inferenceSteps: z.int().min(0).default(0),
});

/** Trains on all histories of the data set, in a buffer of their own. */
export async function pretrainOmg(
  setup: OmgSetup,
  network: OmgNetwork,
  data: Experience,
  given: OmgPretrainOptions,
  generator: Generator,
): Promise<readonly Metrics[]> {
  const where = `OMG (${setup.id}).pretrain`;
  checkRecord(where, 'options', given);
  const { values, ...options } = given;
  const { vaeSteps, inferenceSteps } = checkOptions(where, schema, options);
  if (values !== undefined) checkTypedArray(where, 'values', values, 'float32', data.rewards.length);
  const { seat, settings, others } = setup;
  const { view, valuesOf, selector } = settings;
  if (others.length === 0) return [];
  const isByValue = selector === 'optimistic' || selector === 'conservative';
  if (isByValue && inferenceSteps > 0 && !values) {
    fail(where, `values for the selector ${selector}`, 'none', 'Give the values of all states.');
  }
  const capacity = Math.max(1, data.envs * data.steps * others.length);
  const buffer = createHistoryBuffer({ observer: seat, capacity, view, valuesOf });
  buffer.push(data, values);
  if (buffer.size === 0) {
    const remedy = 'Give streams of steps in which episodes begin and end.';
    fail(where, 'whole episodes', 'none in the data', remedy);
  }
  const metrics: Metrics[] = [];
  for (let step = 0; step < vaeSteps; step += settings.vaeSteps) {
    metrics.push(await trainVae(setup, network, buffer, generator));
  }
  for (let step = 0; step < inferenceSteps; step += settings.inferenceSteps) {
    metrics.push(await trainInference(setup, network, buffer, generator));
  }
  return metrics;
}
