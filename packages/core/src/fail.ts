import { sharedAmongCopies } from './copies';

/** The parts of a {@link CoplayError}: where it happened, what was expected, what was given, how to mend it. */
export interface Complaint {
  /** The function or option that refused, as the user writes it: `stagHunt`, `vectorEnv.step`. */
  readonly where: string;
  /** What would have been accepted. */
  readonly expected: string;
  /** What came instead. */
  readonly got: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** Every error that bad input causes. The fields of the complaint are kept, so that programs can read them. */
export class CoplayError extends Error {
  override readonly name = 'CoplayError';

  constructor(
    readonly complaint: Complaint,
    options?: ErrorOptions,
  ) {
    const { where, expected, got, remedy } = complaint;
    super(`${where}: expected ${expected}, got ${got}. ${remedy}`, options);
  }
}

sharedAmongCopies(CoplayError, '@coplay/core/CoplayError');

/** Throws a {@link CoplayError}: `fail('stagHunt', 'size between 1 and 64', '0', 'Give a positive size.')`. */
export function fail(where: string, expected: string, got: string, remedy: string): never {
  throw new CoplayError({ where, expected, got, remedy });
}
