import { CoplayError, type NamedArrays, type TypedArray } from '@coplay/core';
import { checkArgument, sharedAmongCopies, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';

/** Thrown when a loss, a gradient or a parameter is not finite. Carries the minibatch; a run saves it. */
export class NonFiniteError extends CoplayError {
  constructor(
    where: string,
    got: string,
    /** The inputs of the step that failed; empty where a parameter was found bad later. */
    readonly batch: NamedArrays,
  ) {
    const given = findNonFinite(batch);
    const skip = "nonFinite: 'skip' to leave such batches out";
    super({
      where,
      expected: 'finite losses, gradients and parameters',
      got,
      remedy: given
        ? `The batch has ${given}: find out what wrote it (rewards or observations of the game?), or choose ${skip}.`
        : `Try a lower learningRate or clipNorm, or ${skip}.`,
    });
  }
}

sharedAmongCopies(NonFiniteError, '@coplay/trainers/NonFiniteError');

const arraysSchema = z.record(z.string(), z.looseObject({ data: typedArrays() }));

/** The first number of a record that isn't finite, as `name[index] = value`; undefined if all are. */
export function findNonFinite(arrays: NamedArrays): string | undefined {
  checkArgument('findNonFinite', 'arrays', arraysSchema, arrays);
  for (const [name, { data }] of Object.entries(arrays)) {
    const index = firstNonFiniteIn(data);
    if (index >= 0) return `${name}[${index}] = ${data[index]}`;
  }
  return undefined;
}

/**
 * Every parameter is looked at in every update: a difference with itself is 0 for finite numbers alone, and quickly
 * told.
 */
function firstNonFiniteIn(data: TypedArray): number {
  for (let i = 0; i < data.length; i++) if (data[i] - data[i] !== 0) return i;
  return -1;
}
