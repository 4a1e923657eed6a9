/**
 * Runs tasks one after another, in the order in which they were asked for. A task must not wait for another that it
 * asks for itself.
 */
export function oneAtATime(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
}
