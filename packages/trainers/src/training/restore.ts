import { ofPart, type PartToRestore, restoreParts, type SavedState } from '@coplay/core';

/**
 * Restores the parts of a learner all or none. Where one refuses its state, the networks that were made of the same state are freed.
 *
 * @throws CoplayError of the part that refuses, with its path
 */
export function restoreBeside(networks: { dispose(): void }, where: string, parts: readonly PartToRestore[]): void {
  try {
    restoreParts(where, parts);
  } catch (error) {
    networks.dispose();
    throw error;
  }
}

/**
 * Takes over a saved state of several learners. Where one of them refuses its part, all go back to the state from before.
 *
 * @param before    the present state; undefined where there are no parameters yet, and so nothing to go back to
 * @param takeOver  restores one part after the other
 */
export async function restoreOrGoBack(
  before: SavedState | undefined,
  saved: SavedState,
  takeOver: (state: SavedState) => Promise<void>,
): Promise<void> {
  try {
    await takeOver(saved);
  } catch (error) {
    if (before) await takeOver(before);
    throw error;
  }
}

/** Restores one of several learners; an error says which one it was. */
export async function restoreNamed(
  where: string,
  learner: { restore(saved: SavedState): void | Promise<void> },
  saved: SavedState,
): Promise<void> {
  try {
    await learner.restore(saved);
  } catch (error) {
    throw ofPart(where, error);
  }
}
