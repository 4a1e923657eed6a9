import type { Metrics, NamedArrays, NDArray } from '@coplay/core';
import { fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { openLoopArrays } from '../inputs';
import type { TableRow } from '../tables';
import { checkPrediction, isValid, type OpenLoopPrediction } from './prediction';

/** The error of one step of open-loop prediction. */
export interface OpenLoopStepError extends TableRow {
  /** From 0; the model saw those before `context` */
  readonly step: number;
  /** Whether the model had to imagine it. */
  readonly isImagined: boolean;
  /** Sequences that can be compared there */
  readonly sequences: number;
  /** Mean squared error of raw values over these sequences; NaN where there are none */
  readonly mse: number;
}

/**
 * Errors step by step.
 *
 * @throws CoplayError where shapes don't fit
 */
export function openLoopStepErrors(prediction: OpenLoopPrediction): OpenLoopStepError[] {
  return stepErrors('openLoopStepErrors', prediction);
}

function stepErrors(where: string, prediction: OpenLoopPrediction): OpenLoopStepError[] {
  checkPrediction(where, prediction);
  const { context, actual, predicted } = prediction;
  const [B, T] = actual.shape;
  const size = actual.data.length / (B * T);
  return Array.from({ length: T }, (_, step) => {
    let [sequences, squares] = [0, 0];
    for (let b = 0; b < B; b++) {
      const row = b * T + step;
      if (!isValid(prediction, row)) continue;
      sequences++;
      for (let i = row * size; i < (row + 1) * size; i++) squares += (predicted.data[i] - actual.data[i]) ** 2;
    }
    return { step, isImagined: step >= context, sequences, mse: squares / (sequences * size) };
  });
}

/** What `learner.openLoop` of a Dreamer returns. */
export interface OpenLoopArrays {
  /** C */
  readonly context: number;
  /** [B, T, ...] by name: `obs/NAME`, `rewards` */
  readonly actual: NamedArrays;
  /** The same names and shapes */
  readonly predicted: NamedArrays;
  /** [B, T] */
  readonly valid: NDArray;
}

/** One of the arrays of an open loop. */
export function openLoopOf(arrays: OpenLoopArrays, name: string): OpenLoopPrediction {
  return namedOpenLoop('openLoopOf', arrays, name);
}

function namedOpenLoop(where: string, arrays: OpenLoopArrays, name: string): OpenLoopPrediction {
  checkArgument(where, 'arrays', openLoopArrays, arrays);
  const { context, actual, predicted, valid } = arrays;
  const names = Object.keys(actual).filter((known) => Object.hasOwn(predicted, known));
  if (!names.includes(name)) {
    fail(
      `${where}: name`,
      `one of ${names.join(', ')}`,
      show(name),
      'Name an array of both the sequences and the prediction.',
    );
  }
  return { context, actual: actual[name], predicted: predicted[name], valid };
}

/**
 * Open-loop error as metrics: mean squared error of raw values over all sequences, `openloop/mse_seen/NAME` for the
 * steps that the model saw and `openloop/mse_imagined/NAME` for the imagined ones. A key is left out where no sequence
 * can be compared.
 */
export function openLoopMetrics(arrays: OpenLoopArrays): Metrics {
  checkArgument('openLoopMetrics', 'arrays', openLoopArrays, arrays);
  const metrics: Record<string, number> = {};
  for (const name of Object.keys(arrays.actual)) {
    const short = name.replace(/^obs\//, '');
    const steps = stepErrors('openLoopMetrics', namedOpenLoop('openLoopMetrics', arrays, name));
    const compared = steps.filter(({ sequences }) => sequences > 0);
    const seen = compared.filter(({ isImagined }) => !isImagined);
    const imagined = compared.filter(({ isImagined }) => isImagined);
    if (seen.length > 0) metrics[`openloop/mse_seen/${short}`] = pooled(seen);
    if (imagined.length > 0) metrics[`openloop/mse_imagined/${short}`] = pooled(imagined);
  }
  return metrics;
}

/** The mean over all sequences of all steps. */
function pooled(steps: readonly OpenLoopStepError[]): number {
  const count = steps.reduce((sum, { sequences }) => sum + sequences, 0);
  return steps.reduce((sum, { sequences, mse }) => sum + sequences * mse, 0) / count;
}
