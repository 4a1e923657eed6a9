import { fail, show } from '@coplay/core';
import { isTypedArray } from '@coplay/core/arrays';

/** @throws CoplayError unless there are so many logits, none of them NaN; infinite ones are sure choices */
export function checkLogits(where: string, logits: ArrayLike<number>, length: number): void {
  if (!(Array.isArray(logits) || isTypedArray(logits)) || logits.length !== length) {
    const remedy = 'Give a logit for each last round, and one for the start.';
    fail(where, `${length} numbers`, show(logits), remedy);
  }
  for (let i = 0; i < length; i++) {
    if (typeof logits[i] === 'number' && !Number.isNaN(logits[i])) continue;
    fail(where, `${length} numbers`, `${show(logits[i])} at ${i}`, 'Give numbers alone.');
  }
}
