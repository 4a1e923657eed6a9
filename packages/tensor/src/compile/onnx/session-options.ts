import type { SessionOptions } from './runtime';

/**
 * Options of every session. What was measured (ONNX Runtime 1.30, two cores; PPO and GRU steps, policies):
 *
 * - `graphOptimizationLevel`: a run takes 0-10% longer without (`disabled`), a session is made in half the time. `all`, since
 *   steps are run many thousand times.
 * - `enableMemPattern`, `enableCpuMemArena`: no difference in time. On, as by default; what is released is given back:
 *   100 sessions one after the other stay at the memory of about five.
 * - spinning threads (on by default): waiting threads that sleep make a run 5-20% slower, on a busy machine too. They stop
 *   about a millisecond after the run. `force_spinning_stop`, which ends it with the run, was slower still.
 * - `set_denormal_as_zero` must stay off: it would hold for the whole main thread, in which JavaScript runs, and JavaScript
 *   would lose the numbers below 2.2e-308.
 */
export function sessionOptions(threads: number): SessionOptions {
  return {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableMemPattern: true,
    enableCpuMemArena: true,
    logSeverityLevel: 4, // what goes wrong is thrown, in the same words
  };
}
