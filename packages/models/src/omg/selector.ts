import { fail, show } from '@coplay/core';
import { checkNumbers } from '@coplay/core/checks';

/**
 * Which of the states that were visited next is taken for a step's subgoal: the one with the highest value
 * (`optimistic`, for cooperative games), with the lowest (`conservative`, general-sum), the one `horizon` steps ahead
 * (`fixed`; the last one where there are fewer), or any of them (`random`).
 */
export type SubgoalSelector = 'optimistic' | 'conservative' | 'fixed' | 'random';

const selectors: readonly SubgoalSelector[] = ['optimistic', 'conservative', 'fixed', 'random'];

/** N steps to select for; the steps of an episode are adjacent. */
export interface SelectionSteps {
  /** [N] the first step behind each step's episode (or behind the steps that the agent was there): in i+1..N */
  readonly ends: ArrayLike<number>;
  /** [N] V of each state, for `optimistic` and `conservative`. NaN where there is none: not taken if there's another */
  readonly values?: ArrayLike<number>;
  /** [N] numbers in [0, 1), for `random` */
  readonly draws?: ArrayLike<number>;
}

/**
 * The subgoal of each step i among the states i+1..i+horizon of the same episode (OMG, Yu, Jiang, Lu 2024). Of equal
 * values the nearest is taken, of values that are all NaN the farthest. The last state of an episode has none ahead:
 * it's its own.
 *
 * @param horizon  H, at least 1
 * @returns [N] index of the selected state
 */
export function selectSubgoals(selector: SubgoalSelector, horizon: number, steps: SelectionSteps): Int32Array {
  if (!selectors.includes(selector)) {
    fail('selectSubgoals: selector', selectors.join(' or '), show(selector), 'Choose one of them.');
  }
  const { ends, values, draws } = steps ?? {};
  checkNumbers('selectSubgoals', 'steps.ends', ends, { whole: true, min: 1, max: ends?.length });
  if (!Number.isInteger(horizon) || horizon < 1) {
    fail('selectSubgoals', 'a horizon of at least 1', show(horizon), 'Give the number of steps to look ahead.');
  }
  const isByValue = selector === 'optimistic' || selector === 'conservative';
  const needed = isByValue ? values : selector === 'random' ? draws : ends;
  if (needed?.length !== ends.length) {
    const expected = `${ends.length} ${isByValue ? 'values' : 'draws'} for ${selector}`;
    fail('selectSubgoals', expected, show(needed?.length), 'Give one for each step.');
  }
  checkNumbers('selectSubgoals', isByValue ? 'steps.values' : 'steps.draws', needed, { nan: isByValue });
  const sign = selector === 'conservative' ? -1 : 1;
  return Int32Array.from({ length: ends.length }, (_, step) => {
    const last = Math.min(step + horizon, ends[step] - 1);
    if (last <= step || selector === 'fixed') return last;
    if (selector === 'random') return step + 1 + Math.floor(needed[step] * (last - step));
    return best(needed, step + 1, last, sign);
  });
}

/** The index of the greatest of sign x values in first..last. */
function best(values: ArrayLike<number>, first: number, last: number, sign: number): number {
  let found = last;
  let greatest = -Infinity;
  for (let i = first; i <= last; i++) {
    if (sign * values[i] > greatest) {
      greatest = sign * values[i];
      found = i;
    }
  }
  return found;
}
