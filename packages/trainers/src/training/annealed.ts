import { linear } from '@coplay/core';
import { checkArgument, checkNumber } from '@coplay/core/checks';
import { z } from 'zod';

/**
 * A number that may change linearly from the start of training on, to its end or until the share `by` of it is done, in
 * (0, 1].
 */
export type Annealed = number | { readonly from: number; readonly to: number; readonly by?: number | undefined };

/** A share or a chance: in [0, 1]. */
export const unit = z.number().min(0).max(1);

/** The schema of an annealed option whose start, and whose end, are bounded. */
export function annealed(from: z.ZodNumber, to: z.ZodNumber = from) {
  const by = z.number().positive().max(1).optional();
  const error = 'a straight line { from, to, by? } (functions such as cosine() are not taken here)';
  return z.union([from, z.strictObject({ from, to, by }, { error })]);
}

/** The schema of a share or chance that may change over the training. */
export const annealedUnit = annealed(unit);

const movingSchema = z.looseObject({
  from: z.number(),
  to: z.number(),
  by: z.number().positive().max(1).optional(),
});

/** The value of an annealed option at a progress in [0, 1]; exactly `to` at the end and after it. */
export function anneal(option: Annealed, progress: number): number {
  checkNumber('anneal', 'progress', progress, { min: 0 });
  if (typeof option === 'number') {
    checkNumber('anneal', 'option', option);
    return option;
  }
  checkArgument('anneal', 'option', movingSchema, option);
  return linear(option.from, option.to)(Math.min(1, progress / (option.by ?? 1)));
}
