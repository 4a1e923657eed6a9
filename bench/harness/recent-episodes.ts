import type { Experience } from '@coplay/core';
import { mean } from '@coplay/diagnostics/statistics';

/** The part of experience that episodes' returns follow from. */
type RewardedSteps = Pick<Experience, 'envs' | 'steps' | 'rewards' | 'isFirst' | 'ended'>;

/** The returns of the last `count` episodes of a game for one agent, in the order in which they ended. */
export function recentEpisodes(count: number) {
  const returns: number[] = [];
  let running: Float64Array | undefined;
  return {
    add({ envs, steps, rewards, isFirst, ended }: RewardedSteps) {
      running ??= new Float64Array(envs);
      for (let t = 0; t < steps; t++) {
        for (let e = 0; e < envs; e++) {
          if (isFirst[e * steps + t] === 1) running[e] = 0;
          running[e] += rewards[e * steps + t];
          if (ended[e * steps + t] === 0) continue;
          returns.push(running[e]);
          running[e] = 0;
        }
      }
      returns.splice(0, returns.length - count);
    },
    isFull: () => returns.length === count,
    mean: () => mean(returns),
  };
}
