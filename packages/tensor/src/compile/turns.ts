/** When the last job ends that uses a thing. */
const ends = new WeakMap<object, Promise<unknown>>();

/** What all functions use that run on this thread: their calls go one after the other, whatever they compute. */
export const THIS_THREAD: object = {};

/**
 * Runs a job when all that came before it have ended that use one of the same things: a call sees what every call before
 * it wrote into its variables. Jobs that have nothing in common may overlap.
 *
 * @param uses  variables, or other things by identity
 */
export function inTurn<T>(uses: readonly object[], job: () => Promise<T>): Promise<T> {
  const before = Promise.all(uses.map((thing) => ends.get(thing)));
  const run = before.then(job);
  const end = run.catch(() => undefined);
  for (const thing of uses) ends.set(thing, end);
  return run;
}
