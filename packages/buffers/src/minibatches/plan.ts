import { checkOptions, fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';

/** How {@link PpoBuffer.minibatches} divides the rows. Give `size` or `count`, or neither for one minibatch of all. */
export interface MinibatchOptions {
  /** Rows in a minibatch, at most (see `planMinibatches` for the exception); at least 1 */
  readonly size?: number | undefined;
  /** Number of minibatches, at most; at least 1 */
  readonly count?: number | undefined;
  /**
   * Share of the real rows by weight in every minibatch, in [0, 1]; exact for any numbers of rows. 1 leaves the
   * imagined rows out, 0 the real ones. Where rows of one kind are all there is, they are all there is to learn from.
   * By default all rows have the same weight, so that the share is that of the pushed rows.
   */
  readonly realRatio?: number | undefined;
  /**
   * Rows that every minibatch is filled up to, so that a compiled function sees one shape; at least 1. The filling
   * rows are copies of the first one with weight 0. By default nothing is filled.
   */
  readonly padTo?: number | undefined;
}

/** One minibatch: so many rows of each kind. */
export interface MinibatchPlan {
  readonly real: number;
  readonly imagined: number;
}

const rowsSchema = z.looseObject({ real: z.int().min(0).max(1e9), imagined: z.int().min(0).max(1e9) });
const schema = z.strictObject({
  size: z.int().min(1).optional(),
  count: z.int().min(1).optional(),
  realRatio: z.number().min(0).max(1).optional(),
  padTo: z.int().min(1).optional(),
});

/**
 * Divides R real and I imagined rows into minibatches. Every row that takes part is in exactly one of them.
 *
 * Number of minibatches: `count`, or ceil(rows / size); but at most half the rows, so that none is a single row (whose
 * advantages have no deviation) unless there is only one row or `size` is 1; and at most the number of rows of the
 * rarer kind, where kinds are mixed by ratio, so that each minibatch has both.
 *
 * Sizes, and the numbers of either kind, differ by at most 1 between minibatches.
 */
export function planMinibatches(rows: MinibatchPlan, options: MinibatchOptions): MinibatchPlan[] {
  checkArgument('planMinibatches', 'rows', rowsSchema, rows);
  const { size, count, realRatio, padTo } = checkMinibatchOptions('planMinibatches', options);
  const real = realRatio === 0 ? 0 : rows.real;
  const imagined = realRatio === 1 ? 0 : rows.imagined;
  const total = real + imagined;
  if (total === 0) return [];
  const isMixed = realRatio !== undefined && real > 0 && imagined > 0;
  const asked = count ?? Math.ceil(total / (size ?? total));
  const pairs = size === 1 ? total : Math.max(1, Math.floor(total / 2));
  const parts = Math.min(asked, pairs, isMixed ? Math.min(real, imagined) : total);
  const largest = Math.ceil(total / parts);
  if (padTo !== undefined && padTo < largest) {
    fail(
      'planMinibatches',
      `padTo of at least the ${largest} rows of a minibatch`,
      show(padTo),
      'Give a larger padTo.',
    );
  }
  // What doesn't divide goes to the first minibatches for real rows and to the last for imagined ones.
  return Array.from({ length: parts }, (_, i) => ({
    real: Math.floor(real / parts) + (i < real % parts ? 1 : 0),
    imagined: Math.floor(imagined / parts) + (i >= parts - (imagined % parts) ? 1 : 0),
  }));
}

/** @param where  the function whose options these are, for messages */
export function checkMinibatchOptions(where: string, options: MinibatchOptions): MinibatchOptions {
  const checked = checkOptions(where, schema, options);
  if (checked.size !== undefined && checked.count !== undefined) {
    fail(where, 'size or count', 'both', 'Give one of them.');
  }
  return checked;
}
