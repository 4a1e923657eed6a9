/** What all that is asked for now waits for. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Begins when all that was asked for before has ended, well or badly: a save must not remove what another one is about to name. Directories
 * aren't told apart, since links give one of them several names.
 */
export function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = last.then(work, work);
  last = turn.catch(() => {});
  return turn;
}
