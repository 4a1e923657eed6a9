import { fail, type SavedState } from '@coplay/core';
import { ofPart } from '@coplay/core/checks';

/**
 * A state that was taken over: it is kept, or everything goes back to how it was before. One of the two is called,
 * once.
 */
export interface Takeover {
  /** Frees what only the state from before needed. */
  keep(): void;
  /** Goes back to the state from before. */
  undo(): void | Promise<void>;
}

/**
 * A part of a learner or of a run: a buffer, an agent's memory, a model, a learner. A `restore` that throws must change
 * nothing.
 */
interface Part {
  /** Where it has one, its previous state is kept as it is; otherwise a copy of its state is made. */
  takeOver?(saved: SavedState): Promise<Takeover>;
  state(): SavedState | Promise<SavedState>;
  restore(saved: SavedState): void | Promise<void>;
}

/** A part, the state that it takes over, and where in the whole state that stands. */
interface PartToTakeOver {
  /** For messages: `saved.worldModel`. */
  readonly path: string;
  readonly part: Part;
  readonly saved: SavedState;
}

/**
 * Restores all parts or none, one after the other: where one refuses its state, those before it go back to the state
 * that they had.
 *
 * @param where  what restores the whole, for messages
 * @param first  a part that took over its state already: the network
 * @param check  looks at all parts once they are restored, and throws where they don't fit
 * @throws CoplayError of the part that refuses, with its path. Where a part then can't go back either, the message says
 *         so; the other parts go back all the same
 */
export async function takeOverParts(
  where: string,
  parts: readonly PartToTakeOver[],
  first?: Takeover,
  check?: () => void,
): Promise<Takeover> {
  const taken: Takeover[] = first ? [first] : [];
  const undo = async () => {
    const failed: unknown[] = [];
    for (const one of taken.reverse()) {
      try {
        await one.undo();
      } catch (error) {
        failed.push(error);
      }
    }
    if (failed.length > 0) throw failed[0];
  };
  try {
    for (const { path, part, saved } of parts) taken.push(await takeOverPart(`${where}: ${path}`, part, saved));
    check?.();
  } catch (error) {
    await undo().catch((failure: unknown) => {
      const got = `${messageOf(error)} Then a part could not go back to its state before: ${messageOf(failure)}`;
      fail(where, 'a state that each part takes', got, 'Make a new run, and restore into it.');
    });
    throw error;
  }
  const keep = () => {
    for (const one of taken) one.keep();
  };
  return { keep, undo };
}

/** A learner's takeover: its parts, and its fields, which `putBack` sets to what they were. */
export function withFields(parts: Takeover, putBack: () => void): Takeover {
  const undo = async () => {
    putBack();
    await parts.undo();
  };
  return { keep: parts.keep, undo };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function takeOverPart(where: string, part: Part, saved: SavedState): Promise<Takeover> {
  try {
    if (part.takeOver) return await part.takeOver(saved);
    const before = await part.state();
    await part.restore(saved);
    return { keep: () => undefined, undo: () => part.restore(before) };
  } catch (error) {
    throw ofPart(where, error);
  }
}
