import { fail } from '@coplay/core';

/** @throws CoplayError unless there are so many numbers */
export function checkLength(where: string, numbers: ArrayLike<number>, length: number): void {
  if (numbers.length === length) return;
  fail(where, `${length} numbers`, String(numbers.length), 'Give a logit for each last round, and one for the start.');
}
