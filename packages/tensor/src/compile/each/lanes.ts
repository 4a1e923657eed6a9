import { coreCount } from '../environment';
import { otherThread } from '../onnx/other-thread';
import type { Runtime } from '../onnx/runtime';
import { isAsked, type ThreadSetting } from '../onnx/threads';

/** Where calls of some of the members run, one at a time. */
export interface Lane {
  readonly runtime: Runtime;
  /** The most threads that an operation may use there. */
  readonly cores: number;
}

/**
 * Where members' calls run: in as many threads as there are members and cores, each with its share of the cores; on
 * this thread only, where the number of an operation's threads was set, or where there are no others.
 */
export async function openLanes(
  runtime: Runtime,
  members: number,
  threads: ThreadSetting | undefined,
): Promise<Lane[]> {
  const cores = await coreCount();
  const count = isAsked(threads) ? 1 : Math.min(members, cores);
  // The share is the same where there are no other threads, since the number of threads may change the last bits.
  const share = Math.floor(cores / count);
  const others = count === 1 ? [] : Array.from({ length: count }, (_, i) => otherThread(runtime, i));
  const found = others.filter((other) => other !== undefined);
  return (found.length > 0 ? found : [runtime]).map((lane) => ({ runtime: lane, cores: share }));
}
