import { fail, show } from '@coplay/core';

/** @throws CoplayError unless there are so many logits, none of them NaN; infinite ones are sure choices */
export function checkLogits(where: string, logits: ArrayLike<number>, length: number): void {
  if (logits?.length !== length) {
    const remedy = 'Give a logit for each last round, and one for the start.';
    fail(where, `${length} numbers`, String(logits?.length ?? show(logits)), remedy);
  }
  for (let i = 0; i < length; i++) {
    if (Number.isNaN(Number(logits[i]))) fail(where, `${length} numbers`, `NaN at ${i}`, 'Give numbers alone.');
  }
}
