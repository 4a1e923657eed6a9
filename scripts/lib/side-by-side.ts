import { availableParallelism } from 'node:os';

/** Does the same with each item, as many at once as there are processors, in the order of the items. */
export async function sideBySide<T>(items: readonly T[], body: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await body(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}
