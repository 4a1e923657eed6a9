import { fail, type NamedArrays } from '@coplay/core';
import { checkArgument, namedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import type { TableRow } from '../tables';
import { exactTransitions, meanSquaredError } from './transitions';

/**
 * One step of many sequences: the prediction from predictions, and the true outcome. Only those sequences that got so
 * far.
 */
export interface OpenLoopStep {
  /** [B, ...] `next/NAME` for each part of the state, and `rewards` [B, A], as predicted */
  readonly happened: NamedArrays;
  /** [B, ...] the same as they came */
  readonly rows: NamedArrays;
}

/** The errors of one step of open-loop prediction. */
export interface OpenLoopErrors extends TableRow {
  /** 1 is the first step after the true state that all begins with. */
  readonly step: number;
  /** Sequences that got so far. */
  readonly sequences: number;
  /** Share of them whose state is predicted exactly. */
  readonly exact: number;
  /** Mean squared error of the rewards of this step. */
  readonly rewardMse: number;
}

const rewarded = namedArrays.refine((arrays) => 'rewards' in arrays, 'arrays with rewards among them');
const schema = z.array(z.looseObject({ happened: rewarded, rows: rewarded }));

/**
 * Errors by step, where a model goes on from its own predictions.
 *
 * @param steps  steps 1, 2, ... in order; none of them without sequences
 */
export function openLoopErrors(steps: readonly OpenLoopStep[]): OpenLoopErrors[] {
  checkArgument('openLoopErrors', 'steps', schema, steps);
  if (steps.length === 0) fail('openLoopErrors', 'at least one step', 'none', 'Give the steps in order.');
  return steps.map(({ happened, rows }, i) => {
    const exact = exactTransitions(happened, rows);
    return {
      step: i + 1,
      sequences: exact.length,
      exact: exact.reduce((sum, flag) => sum + flag, 0) / exact.length,
      rewardMse: meanSquaredError(happened['rewards'].data, rows['rewards'].data),
    };
  });
}
