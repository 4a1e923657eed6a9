import type { SavedState } from './agent';
import { CoplayError } from './fail';

/** Something whose state is saved and restored: a buffer, a memory, a model. */
export interface SavedPart {
  /** A copy of its state. */
  state(): SavedState;
  /** Takes over a state. */
  restore(saved: SavedState): void;
}

/** A part, the state that it is to take over, and where in the whole state that stands. */
export interface PartToRestore {
  /** For messages: `saved.memories[1]`. */
  readonly path: string;
  /** The part to restore. */
  readonly part: SavedPart;
  /** The state that it takes over. */
  readonly saved: SavedState;
}

/**
 * Restores all parts or none: where one part refuses its state, every part goes back to the state that it had before.
 *
 * @param where  the function that restores the whole, for the message
 * @throws CoplayError of the part that refuses, with its path
 */
export function restoreParts(where: string, parts: readonly PartToRestore[]): void {
  const before = parts.map(({ part }) => part.state());
  let tried = 0;
  try {
    for (const { path, part, saved } of parts) {
      tried++;
      restorePart(`${where}: ${path}`, () => part.restore(saved));
    }
  } catch (error) {
    for (let i = 0; i < tried; i++) parts[i].part.restore(before[i]);
    throw error;
  }
}

/**
 * Runs the restoring of one part, so that an error says which part it was.
 *
 * @param where    the function that restores the whole, and the path of the part: `hop.restore: saved.replay`
 * @param restore  throws the part's own error
 */
export function restorePart<Result>(where: string, restore: () => Result): Result {
  try {
    return restore();
  } catch (error) {
    throw ofPart(where, error);
  }
}

/** An error of a part as one of the whole, which says where the part is; other errors are left as they are. */
export function ofPart(where: string, error: unknown): unknown {
  if (!(error instanceof CoplayError)) return error;
  const { complaint } = error;
  return new CoplayError({ ...complaint, where: `${where}: ${complaint.where}` }, { cause: error });
}
