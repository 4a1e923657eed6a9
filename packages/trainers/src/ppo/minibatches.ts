import { type MinibatchRows, type PpoBuffer, planMinibatches } from '@coplay/buffers';
import { type Generator, type NamedArrays, ndarray, normaliseAdvantages } from '@coplay/core';
import { paddedCount } from '../padding';
import type { ResolvedPpoOptions } from './options';

/** Minibatches of one update or epoch, as inputs of `ppoUpdate`. */
export interface Minibatches {
  /** [S, ...]: `places`, `weights`, `advantages` */
  readonly each: NamedArrays;
  /** By minibatch, the number of steps with a weight above 0. */
  readonly rows: readonly number[];
}

/** What minibatches depend on. */
export type MinibatchSettings = Pick<ResolvedPpoOptions, 'minibatchSize' | 'normaliseAdvantages'> & {
  /** Share of real rows in this update. */
  readonly realRatio: number;
  /** Steps in a row of the buffer: 1, or the length of the sequences. */
  readonly stepsPerRow: number;
};

/** All rows of the buffer, filled up to one of few sizes. Weights and imagined flags come with the minibatches. */
export function rowTable(buffer: PpoBuffer): NamedArrays {
  const { isImagined: _, weights: __, ...table } = buffer.table(paddedCount(buffer.rows.real + buffer.rows.imagined));
  return table;
}

/** One epoch over the buffer: each row once, in a fresh order. */
export function planEpoch(buffer: PpoBuffer, settings: MinibatchSettings, generator: Generator): MinibatchRows[] {
  const size = Math.max(1, Math.round(settings.minibatchSize / settings.stepsPerRow));
  return buffer.plan(generator, {
    size,
    realRatio: settings.realRatio,
    padTo: paddedSize(buffer, size, settings.realRatio),
  });
}

/** Minibatches one after the other, as inputs. */
export function minibatchInputs(
  plan: readonly MinibatchRows[],
  table: NamedArrays,
  settings: MinibatchSettings,
): Minibatches {
  const advantages = plan.map((batch) => advantagesOf(batch, table, settings.normaliseAdvantages === 'minibatch'));
  const [{ weights, places }] = plan;
  const steps = plan.length;
  return {
    each: {
      places: ndarray(
        join(
          new Int32Array(steps * places.length),
          plan.map((batch) => batch.places),
        ),
        [steps, places.length],
      ),
      weights: ndarray(
        join(
          new Float32Array(steps * weights.data.length),
          plan.map((batch) => batch.weights.data),
        ),
        [steps, ...weights.shape],
      ),
      advantages: ndarray(join(new Float32Array(steps * weights.data.length), advantages), [steps, ...weights.shape]),
    },
    rows: plan.map((batch) => countPositive(batch.weights.data)),
  };
}

function advantagesOf({ places, weights }: MinibatchRows, table: NamedArrays, isNormalised: boolean): Float32Array {
  const all = table['advantages'].data;
  const length = weights.data.length / places.length;
  const own = new Float32Array(weights.data.length);
  places.forEach((place, row) => {
    for (let i = 0; i < length; i++) own[row * length + i] = all[place * length + i];
  });
  return isNormalised ? normaliseAdvantages(own, weights.data) : own;
}

function join<Data extends Float32Array | Int32Array>(target: Data, parts: readonly Data[]): Data {
  parts.forEach((part, i) => {
    target.set(part, i * part.length);
  });
  return target;
}

/** How many sizes of minibatches there are at most: each is another graph to compile. */
const SIZES = 8;

/**
 * The rows that a minibatch is filled up to. Agents that leave early make their number another one in every update; in
 * steps of an eighth of the largest it takes few values.
 */
function paddedSize({ rows }: PpoBuffer, size: number, realRatio: number): number {
  const plan = planMinibatches(rows, { size, realRatio });
  const largest = Math.max(...plan.map(({ real, imagined }) => real + imagined));
  const step = Math.ceil(Math.min(size, paddedCount(rows.real + rows.imagined)) / SIZES);
  return Math.ceil(largest / step) * step;
}

function countPositive(values: ArrayLike<number>): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > 0) count++;
  return count;
}
