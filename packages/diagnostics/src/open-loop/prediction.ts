import { fail, type NDArray } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { openLoop } from '../inputs';

/** Recorded sequences and a model's open-loop prediction of them. */
export interface OpenLoopPrediction {
  /** C, steps that the model saw, which it reconstructs; it imagines the others */
  readonly context: number;
  /** [B, T, ...] as recorded */
  readonly actual: NDArray;
  /** [B, T, ...] raw, as the model gives it: never rounded, never clipped */
  readonly predicted: NDArray;
  /** [B, T] 0 in steps that can't be compared, such as steps of the next episode. Default: all can */
  readonly valid?: NDArray | undefined;
}

/** Whether a step can be compared. */
export function isValid({ valid }: OpenLoopPrediction, row: number): boolean {
  return valid === undefined || valid.data[row] === 1;
}

/** Refuses arrays of different shapes, and a context that leaves nothing to see or to imagine. */
export function checkPrediction(where: string, prediction: OpenLoopPrediction): void {
  checkArgument(where, 'prediction', openLoop, prediction);
  const { context, actual, predicted, valid } = prediction;
  const [B, T] = actual.shape;
  const remedy = 'Give what learner.openLoop returned, one of its arrays.';
  if (!(B >= 1 && T >= 2))
    fail(where, 'sequences [B, T, ...], B at least 1, T at least 2', `[${actual.shape}]`, remedy);
  if (String(predicted.shape) !== String(actual.shape)) {
    fail(where, `predictions [${actual.shape}]`, `[${predicted.shape}]`, remedy);
  }
  if (valid && String(valid.shape) !== `${B},${T}`) fail(where, `valid [${B},${T}]`, `[${valid.shape}]`, remedy);
  if (!Number.isInteger(context) || context < 1 || context >= T) {
    fail(where, `a context in 1..${T - 1}`, String(context), remedy);
  }
}
