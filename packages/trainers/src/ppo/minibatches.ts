import type { PpoBuffer } from '@coplay/buffers';
import { type Generator, type NamedArrays, ndarray, normaliseAdvantages } from '@coplay/core';
import type { ResolvedPpoOptions } from './options';

/** Inputs of one step, but for the scalars. */
export interface Minibatch {
  readonly inputs: NamedArrays;
  /** Number of steps with a weight above 0. */
  readonly rows: number;
}

/** What minibatches depend on. */
export type MinibatchSettings = Pick<ResolvedPpoOptions, 'minibatchSize' | 'realRatio' | 'normaliseAdvantages'> & {
  /** Steps in a row of the buffer: 1, or the length of the sequences. */
  readonly stepsPerRow: number;
};

/** One epoch over the buffer: each row once, in a fresh order. */
export function* minibatches(
  buffer: PpoBuffer,
  settings: MinibatchSettings,
  generator: Generator,
): globalThis.Generator<Minibatch> {
  const size = Math.max(1, Math.round(settings.minibatchSize / settings.stepsPerRow));
  const padTo = paddedSize(buffer, size);
  for (const rows of buffer.minibatches(generator, { size, realRatio: settings.realRatio, padTo })) {
    const { isImagined: _, weights, ...inputs } = rows;
    const advantages =
      settings.normaliseAdvantages === 'minibatch'
        ? normaliseAdvantages(inputs['advantages'].data, weights.data)
        : (inputs['advantages'].data as Float32Array);
    yield {
      inputs: { ...inputs, weights, advantages: ndarray(advantages, inputs['advantages'].shape) },
      rows: countPositive(weights.data),
    };
  }
}

/** How many sizes of minibatches there are at most: each is another graph to compile. */
const SIZES = 4;

/**
 * The rows that a minibatch is filled up to. Agents that leave early make their number another one in every update; in
 * steps of a quarter of the largest it takes few values.
 */
function paddedSize({ rows }: PpoBuffer, size: number): number {
  const total = rows.real + rows.imagined;
  const largest = Math.ceil(total / Math.max(1, Math.ceil(total / size)));
  const step = Math.ceil(Math.min(size, 2 ** Math.ceil(Math.log2(Math.max(1, total)))) / SIZES);
  return Math.ceil(largest / step) * step;
}

function countPositive(values: ArrayLike<number>): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > 0) count++;
  return count;
}
