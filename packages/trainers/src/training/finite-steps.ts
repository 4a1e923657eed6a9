import type { NamedArrays } from '@coplay/core';

/** Whether losses and gradients of all steps [S] of an update are finite. */
export function areFinite(outputs: NamedArrays): boolean {
  return firstNonFinite(outputs) === undefined;
}

/** The first step whose loss or gradient isn't finite, if there is one. */
export function firstNonFinite(outputs: NamedArrays): number | undefined {
  const steps = outputs['loss'].data.length;
  for (let step = 0; step < steps; step++) if (!isFiniteStep(outputs, step)) return step;
  return undefined;
}

/** Whether loss and gradient of one step of outputs [S] are finite. */
export function isFiniteStep({ loss, gradientNorm }: NamedArrays, step: number): boolean {
  return Number.isFinite(loss.data[step]) && Number.isFinite(gradientNorm.data[step]);
}
