import { checkOptions, fail, type Schedule } from '@coplay/core';
import { checkNumber } from '@coplay/core/checks';
import { z } from 'zod';

/** Options of {@link learningRate}. */
export interface LearningRateOptions {
  /** A number, 0 or more, or a schedule of one, such as `cosine(3e-4, 0)`, over the updates after the warm-up. */
  readonly rate: number | Schedule;
  /**
   * How many updates there will be, warm-up included, in whole numbers from 1; later ones get the last rate. Needed for
   * a schedule.
   */
  readonly updates?: number;
  /** Updates in which the rate rises in a straight line from 0 in the first, in whole numbers from 0; 0. */
  readonly warmUp?: number;
}

const schema = z.strictObject({
  rate: z.union([
    z.number().min(0),
    z.custom<Schedule>((x) => typeof x === 'function', 'must be a number or a schedule'),
  ]),
  updates: z.number().int().positive().optional(),
  warmUp: z.number().int().min(0).default(0),
});

/**
 * The learning rate of each update, counted from 0, for {@link Optimiser.update}. Give it as an input of the compiled
 * step: a number in the traced function would never change. DreamerV3's is
 * `learningRate({ rate: 4e-5, warmUp: 1000 })`.
 *
 * @throws CoplayError for a schedule without `updates`, or a warm-up that isn't shorter than them
 */
export function learningRate(options: LearningRateOptions): (update: number) => number {
  const { rate, updates, warmUp } = checkOptions('learningRate', schema, options);
  if (typeof rate === 'function' && updates === undefined) {
    fail('learningRate', 'updates, for a schedule', 'none', 'Give the number of updates that there will be.');
  }
  if (updates !== undefined && warmUp >= updates) {
    fail('learningRate', `a warmUp below updates (${updates})`, String(warmUp), 'Make it shorter.');
  }
  const after = (update: number): number => {
    if (typeof rate === 'number') return rate;
    // The last update, number updates - 1, is the end of the schedule.
    return rate((update - warmUp) / Math.max(1, updates! - 1 - warmUp));
  };
  return (update) => {
    checkNumber('learningRate', 'update', update, { min: 0 });
    return update < warmUp ? (after(warmUp) * update) / warmUp : after(update);
  };
}
