import { coreCount } from '../environment';
import { otherThread } from '../onnx/other-thread';
import type { Runtime } from '../onnx/runtime';
import { askedThreads, type ThreadSetting } from '../onnx/threads';

/** Where calls of some of the members run, one at a time. */
export interface Lane {
  readonly runtime: Runtime;
  /** The most threads that an operation may use there. */
  readonly cores: number;
}

/**
 * Where members' calls run: in as many threads as there are members and cores, each with its share of the cores; on this
 * thread alone where somebody says how many threads an operation has, or where there are no others.
 */
export async function openLanes(
  runtime: Runtime,
  members: number,
  threads: ThreadSetting | undefined,
): Promise<Lane[]> {
  const cores = await coreCount();
  const count = askedThreads(threads) === undefined ? Math.min(members, cores) : 1;
  const share = Math.floor(cores / count);
  const runtimes =
    count === 1 ? [] : await Promise.all(Array.from({ length: count }, (_, i) => otherThread(runtime, i)));
  const found = runtimes.filter((other) => other !== undefined);
  if (found.length < count || count === 1) return [{ runtime, cores }];
  return found.map((other) => ({ runtime: other, cores: share }));
}
