import { fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { beliefRecord } from '../inputs';

/**
 * The beliefs about one co-player: a trace of `beliefTracer` (@coplay/planning), also one that was read from a file.
 */
export interface BeliefRecord {
  /** G names */
  readonly goals: readonly string[];
  /** [N][G] the belief in each step */
  readonly beliefs: readonly (readonly number[])[];
  /** Which of the N steps are the first of an episode, ascending. */
  readonly starts: readonly number[];
}

/** One probability over time. N points. */
export interface BeliefLine {
  /** [N] steps, or numbers of episodes; ascending */
  readonly steps: readonly number[];
  /** [N] P(goal), 0 to 1; NaN where nothing is believed */
  readonly belief: readonly number[];
  /** Steps with which episodes begin. */
  readonly starts?: readonly number[];
  /** Steps in which the co-player changed its behaviour. */
  readonly switches?: readonly number[];
}

/**
 * The probability of one goal in each step.
 *
 * @param goal  one of `record.goals`
 * @throws CoplayError for a goal that the record doesn't know
 */
export function beliefLine(record: BeliefRecord, goal: string): BeliefLine {
  const index = indexOfGoal('beliefLine', record, goal);
  const { beliefs, starts } = record;
  return { steps: beliefs.map((_, step) => step), belief: beliefs.map((row) => row[index]), starts };
}

/**
 * The probability of one goal in the first step of each episode, by episode, from 0: the memory of earlier episodes.
 *
 * @param goal  one of `record.goals`
 * @throws CoplayError for a goal that the record doesn't know
 */
export function priorLine(record: BeliefRecord, goal: string): BeliefLine {
  const index = indexOfGoal('priorLine', record, goal);
  const { beliefs, starts } = record;
  return { steps: starts.map((_, episode) => episode), belief: starts.map((start) => beliefs[start][index]) };
}

function indexOfGoal(where: string, record: BeliefRecord, goal: string): number {
  checkArgument(where, 'record', beliefRecord, record);
  const { goals, beliefs, starts } = record;
  const start = starts.find((step) => step >= beliefs.length);
  if (start !== undefined) {
    fail(
      `${where}: record.starts`,
      `steps below ${beliefs.length}`,
      show(start),
      'Give starts and beliefs of one trace.',
    );
  }
  const index = goals.indexOf(goal);
  if (index < 0) fail(where, `a goal among ${show(goals)}`, show(goal), 'Name one of the goals.');
  return index;
}
