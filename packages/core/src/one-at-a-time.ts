/**
 * A queue: tasks run one after another, in the order in which they were given, also after one that failed. A task must
 * not wait for another one that it gives itself.
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
