import {
  type ActionSpaces,
  type ArrayOf,
  type DType,
  type Experience,
  fail,
  type GoalSet,
  type GoalStep,
  type NamedArrays,
  type ObservationArrays,
  type TypedArray,
} from '@coplay/core';
import { reachedGoal } from '@coplay/core/checks';

/** [N] the goal that the agent reached in each row, or -1. */
export function goalsReached(
  episodes: Experience<ActionSpaces>,
  agent: number,
  places: Int32Array,
  rows: NamedArrays,
  goals: GoalSet,
): Int32Array {
  const observations = observationsOf(rows);
  const statesOf = goals.readsStates ? stepStates(episodes) : () => NO_STATES;
  return places.map((place, row) => {
    const left = rows['terminated'].data[row] === 1;
    const action = rows['actions'].data[row];
    const step = { agent, action, left, observations, row, ...statesOf(place) };
    return reachedGoal('moaRows: goals.reached', goals, step);
  });
}

/** [N] the goal that each row's agent reached next, in that row or later in its episode. */
export function goalsInHindsight(reached: Int32Array, numbers: Int32Array, noGoal = -1): Int32Array {
  const labels = new Int32Array(reached.length);
  for (let row = reached.length - 1; row >= 0; row--) {
    const isLast = numbers[row] !== numbers[row + 1];
    const later = isLast ? noGoal : labels[row + 1];
    labels[row] = reached[row] >= 0 ? reached[row] : later;
  }
  return labels;
}

/** The states around a step. */
type StepStates = Pick<GoalStep, 'before' | 'after'>;

/** For goals that read none. */
export const NO_STATES: StepStates = { before: new Int32Array(0), after: new Int32Array(0) };

/** The states before and after the step at each place e T + t of whole episodes, one in each environment. */
function stepStates({ states, cuts, steps, lengths }: Experience<ActionSpaces>): (place: number) => StepStates {
  if (!states || !cuts.states) {
    const remedy =
      'Record it with a rollout, or recognise goals by actions ("Goals" in docs/writing-an-environment.md).';
    return fail('moaRows: experience', 'states, which the goals read', 'experience without states', remedy);
  }
  const S = states.shape[2];
  const ends = new Map(Array.from(cuts.env, (env, n) => [env * steps + cuts.step[n], n]));
  const stateAt = (data: TypedArray, row: number) => data.subarray(row * S, (row + 1) * S) as ArrayOf<DType>;
  return (place) => {
    const isLast = (place % steps) + 1 === lengths[Math.floor(place / steps)];
    const after = isLast ? stateAt(cuts.states!.data, ends.get(place)!) : stateAt(states.data, place + 1);
    return { before: stateAt(states.data, place), after };
  };
}

/** The columns `observations/<field>` by field. */
export function observationsOf(rows: NamedArrays): ObservationArrays {
  const prefix = 'observations/';
  const columns = Object.keys(rows).filter((name) => name.startsWith(prefix));
  return Object.fromEntries(columns.map((name) => [name.slice(prefix.length), rows[name].data]));
}
