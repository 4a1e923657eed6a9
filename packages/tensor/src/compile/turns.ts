let tail: Promise<unknown> = Promise.resolve();

/**
 * Runs jobs one after the other, in the order in which they came, whatever function they belong to: a call sees what every
 * call before it wrote.
 */
export function inTurn<T>(job: () => Promise<T>): Promise<T> {
  const run = tail.then(job);
  tail = run.catch(() => undefined);
  return run;
}
