/** The work that each directory waits for. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Begins when all that was asked for the same directory before has ended, well or badly: a save must not remove what another one
 * is about to name.
 */
export function inTurn<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(directory) ?? Promise.resolve();
  const turn = before.then(work, work);
  turns.set(directory, turn);
  const forget = () => {
    if (turns.get(directory) === turn) turns.delete(directory);
  };
  turn.then(forget, forget);
  return turn;
}
