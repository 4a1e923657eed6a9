import { createTransitionStore } from '@coplay/buffers';
import { checkGenerator, checkOptions, functions, type Generator, type Metrics, type NamedArrays } from '@coplay/core';
import { z } from 'zod';
import type { Machine } from './machine';
import type { WorldModelSetup } from './options';
import { trainOn } from './train';

/** Options of {@link WorldModelLearner.pretrain}. */
export interface PretrainOptions {
  /** Gradient steps of each member, at least 1 */
  readonly steps: number;
  /** For minibatches and the members' shares. */
  readonly generator: Generator;
  /** Step size at the start, positive. Default: that of the learner */
  readonly learningRate?: number | undefined;
  /** Whether the step size falls to 0, in a straight line. Default true */
  readonly anneal?: boolean | undefined;
  /** Receives the metrics of every 64 steps. */
  readonly onProgress?: ((steps: number, metrics: Metrics) => void) | undefined;
}

/** Gradient steps that run in one call. */
const STEPS_PER_CALL = 64;

const schema = z.strictObject({
  generator: z.unknown(),
  onProgress: functions<NonNullable<PretrainOptions['onProgress']>>().optional(),
  steps: z.int().min(1),
  learningRate: z.number().positive().optional(),
  anneal: z.boolean().default(true),
});

/** Trains on a data set. */
export async function pretrainOn(
  machine: Machine,
  setup: WorldModelSetup,
  rows: NamedArrays,
  options: PretrainOptions,
): Promise<Metrics> {
  const where = 'worldModel.pretrain';
  const checked = checkOptions(where, schema, options);
  const { steps, learningRate = setup.learningRate, anneal, onProgress } = checked;
  const { generator } = options;
  checkGenerator(where, generator);
  const store = createTransitionStore({ capacity: Math.max(1, rows['rewards'].shape[0]), members: setup.members });
  store.push(rows, generator);
  let metrics: Metrics = {};
  for (let done = 0; done < steps; done += STEPS_PER_CALL) {
    const rate = anneal ? learningRate * (1 - done / steps) : learningRate;
    const size = Math.min(STEPS_PER_CALL, steps - done);
    metrics = await trainOn({ where, machine, setup, store }, { steps: size, learningRate: rate }, generator);
    for (const slots of machine.slots) slots.flushDenormals();
    onProgress?.(done + size, metrics);
  }
  return metrics;
}
