/**
 * A queue: tasks run one after another, in the order in which they were given, also after a task that failed. A task
 * must not wait for another task that it adds itself.
 *
 * @returns a function that takes a task, and promises its result
 */
export function oneAtATime(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
}
