import type { Generator } from '@coplay/core';

/**
 * One of the K legal actions, uniformly.
 *
 * @param masks   1 where an action is legal; the K bytes from `start` on
 * @param except  an action that isn't drawn
 */
export function drawLegal(masks: Uint8Array, start: number, K: number, generator: Generator, except = -1): number {
  const may = (action: number) => masks[start + action] === 1 && action !== except;
  let count = 0;
  for (let action = 0; action < K; action++) if (may(action)) count++;
  let skip = count > 1 ? generator.integer(count) : 0;
  for (let action = 0; action < K; action++) if (may(action) && skip-- === 0) return action;
  return 0;
}
