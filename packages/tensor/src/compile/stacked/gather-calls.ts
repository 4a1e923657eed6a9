import { oneAtATime } from '@coplay/core/checks';
import { afterTurn } from '../gathering';

/**
 * Collects calls that are made in the same turn of the event loop and answers them together. Promises that follow one
 * another don't end a turn, so callers in lockstep (each makes its next call in the same turn) stay in it: each may do
 * anything between two calls, as long as it waits for nothing else, and their next calls meet again.
 *
 * @param answer  must give one result for each call, in order
 */
export function gatherCalls<Call, Result>(
  answer: (calls: readonly Call[]) => Promise<readonly Result[]>,
): (call: Call) => Promise<Result> {
  const inTurn = oneAtATime();
  let waiting: { call: Call; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    try {
      const results = await inTurn(() => answer(batch.map(({ call }) => call)));
      batch.forEach(({ resolve }, i) => {
        resolve(results[i]);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  return (call) =>
    new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject });
      if (waiting.length === 1) afterTurn(() => void flush());
    });
}
