import { oneForAllCopies } from '@coplay/core/checks';
import { untilGathered } from './gathering';

/** The queue of all calls in this process, also of calls that another copy of this package makes. */
const queue = oneForAllCopies('@coplay/tensor/queue@1', () => ({
  /** When the last job ends that uses a thing. */
  ends: new WeakMap<object, Promise<unknown>>(),
  /** When every job that was asked for has been answered. */
  allAnswered: Promise.resolve() as Promise<unknown>,
  /** When the last job on this thread ends. */
  hereEnds: Promise.resolve() as Promise<unknown>,
}));

/**
 * Runs a job on this thread when all jobs that were asked for before it have been answered: a call sees what every call
 * before it wrote into its variables.
 */
export function inTurn<T>(job: () => Promise<T>): Promise<T> {
  const run = queue.allAnswered.then(() => answered(job));
  queue.hereEnds = run.catch(() => undefined);
  queue.allAnswered = queue.hereEnds;
  return run;
}

/**
 * Runs a job that computes in other threads: it begins when all jobs on this thread that came before it have ended, and
 * all that use one of the same things, so that such jobs may overlap. They are answered in the order in which they were
 * asked for, however long each takes: what callers do next, and which of their calls meet, doesn't depend on how busy
 * the machine is.
 *
 * @param uses  variables, or other things by identity
 */
export function inTurnElsewhere<T>(uses: readonly object[], job: () => Promise<T>): Promise<T> {
  const result = Promise.all([queue.hereEnds, ...uses.map((thing) => queue.ends.get(thing))]).then(job);
  const end = result.catch(() => undefined);
  for (const thing of uses) queue.ends.set(thing, end);
  const before = queue.allAnswered;
  const run = end.then(() => before).then(() => answered(() => result));
  queue.allAnswered = run.catch(() => undefined);
  return run;
}

/** Runs a job after every other of the same thing. Its answer waits for nothing else. */
export function oneByOne<T>(thing: object, job: () => Promise<T>): Promise<T> {
  const run = (queue.ends.get(thing) ?? Promise.resolve()).then(job);
  queue.ends.set(
    thing,
    run.catch(() => undefined),
  );
  return run;
}

/**
 * The outcome of a job, once the calls that are being gathered have been handed on. A job that waits for another thread
 * or for a file may end before that or after it; its caller's next call must not meet them in one case and miss them in
 * the other.
 */
async function answered<T>(job: () => Promise<T>): Promise<T> {
  try {
    return await job();
  } finally {
    await untilGathered();
  }
}
