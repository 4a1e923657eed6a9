import type { SessionOptions } from './runtime';

/**
 * Where the arrays inside a run lie: taken from the system each time, or kept from run to run in an arena of the
 * graph's own.
 */
export type MemorySetting = 'system' | 'arena';

/** Numbers in the results of a graph's operations, all added up, for which an arena takes some 500 MB. */
const FEW = 2 ** 30;

/**
 * Options of every session. Measurements (ONNX Runtime 1.30, two cores; PPO and GRU steps, policies):
 *
 * - `graphOptimizationLevel`: a run takes 0-10% longer without (`disabled`), a session is made in half the time. `all`,
 *   since steps are run many thousand times.
 * - `enableCpuMemArena`: off, unless a function asks for it. An arena keeps for each session the most that it ever
 *   needed: HOP+ on 8x8, with some hundred sessions, stayed at 1.0 GB without arenas and had taken 5.1 GB with them
 *   after 15 updates. Without, the system hands out large arrays page by page in every run: an update of Dreamer with
 *   16 x 32 steps took 119 ms and 97 with an arena (of 76 MB), in size1m with 64 x 16 steps 643 and 605 ms of a
 *   processor (282 MB); nano with 8 x 16 steps the same 28 (22 MB).
 * - `enableMemPattern`: off, but for arenas that aren't huge. It takes one block of memory for each run, which without
 *   an arena comes from the system every time: an update of Dreamer with 16 x 32 steps took 177 ms with it and 128
 *   without. Within an arena it saved 4 to 6% more, and took twice the memory: 44 and 139 MB in the two nano sizes, 536
 *   MB in size1m (599 million numbers in the results of all operations). Small graphs are as fast in all four ways.
 * - spinning (on by default in ONNX Runtime): threads that wait for each other don't sleep. That made runs 5-20% faster
 *   where both cores were free, but 2-3 times slower where something else, such as another virtual machine, had one of
 *   them: a PPO step took 2.8 ms with two spinning threads, 1.7 with two sleeping ones, 1.5 with one. Off, for more
 *   than one thread.
 * - `set_denormal_as_zero` must stay off: it would hold for the whole main thread, in which JavaScript runs, and
 *   JavaScript would lose the numbers below 2.2e-308.
 *
 * @param results  numbers in the results of all operations together
 */
export function sessionOptions(
  threads: number,
  memory: MemorySetting = 'system',
  results = Number.POSITIVE_INFINITY,
): SessionOptions {
  return {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableMemPattern: memory === 'arena' && results <= FEW,
    enableCpuMemArena: memory === 'arena',
    ...(threads > 1 ? { extra: { session: { intra_op: { allow_spinning: '0' } } } } : {}),
    logSeverityLevel: 4, // what goes wrong is thrown, in the same words
  };
}
