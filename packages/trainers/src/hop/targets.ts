import { bootstrapValues, continuation, type Experience, monteCarloReturns } from '@coplay/core';
import type { ResolvedHopNumbers } from './options';

/** What values are made of: see {@link valueTargets}. */
export interface TargetParts {
  /** [E, T, A] the value that the search found in each step; only read for `n-step` */
  readonly searchValues: Float32Array;
  /** [N, A] the network's value of the observation after each cut */
  readonly cutValues: Float32Array;
}

type TargetOptions = Pick<ResolvedHopNumbers, 'gamma' | 'valueTarget' | 'steps' | 'truncation'>;

/**
 * The value's targets z_t, each agent on its own steps until its last one, T - 1:
 *
 *   return   sum_k gamma^k r_{t+k}, with the network's value where a time limit cut the episode
 *   final    gamma^(T-1-t) sum_k r_k over the whole episode
 *   n-step   sum_{k<n} gamma^k r_{t+k} + gamma^n V_{t+n}, V that of the search; shorter at the end
 *
 * @param episodes  whole ones, each in a row [E, T, A]
 * @returns [E, T, A]; 0 where the agent was not active
 */
export function valueTargets(episodes: Experience, parts: TargetParts, options: TargetOptions): Float32Array {
  const { valueTarget, gamma, truncation, steps } = options;
  if (valueTarget === 'final') return finalTargets(episodes, episodeReturns(episodes), gamma);
  const nextValues = bootstrapValues(episodes, parts.searchValues, parts.cutValues, { truncation });
  if (valueTarget === 'return') return monteCarloReturns({ ...episodes, nextValues }, { gamma });
  return nStepReturns({ ...episodes, nextValues }, { gamma, steps });
}

/** [E, A] undiscounted. */
export function episodeReturns({ envs, steps, agents, rewards, active }: Experience): Float64Array {
  const A = agents.length;
  const returns = new Float64Array(envs * A);
  for (let row = 0; row < rewards.length; row++) {
    if (active[row] === 1) returns[Math.floor(row / (steps * A)) * A + (row % A)] += rewards[row];
  }
  return returns;
}

/** [E, T, A] an outcome [E, A] of each episode, discounted back from each agent's last step. */
export function finalTargets(
  { envs, steps, agents, active }: Experience,
  outcomes: ArrayLike<number>,
  gamma: number,
): Float32Array {
  const A = agents.length;
  const targets = new Float32Array(envs * steps * A);
  for (let e = 0; e < envs; e++) {
    for (let a = 0; a < A; a++) {
      let target = outcomes[e * A + a];
      for (let t = steps - 1; t >= 0; t--) {
        const row = (e * steps + t) * A + a;
        if (active[row] === 0) continue;
        targets[row] = target;
        target *= gamma;
      }
    }
  }
  return targets;
}

function nStepReturns(
  steps: Experience & { readonly nextValues: Float32Array },
  { gamma, steps: n }: { readonly gamma: number; readonly steps: number },
): Float32Array {
  const { rewards, nextValues, active } = steps;
  const A = steps.agents.length;
  const goesOn = continuation(steps);
  return rewards.map((_, start) => {
    if (active[start] === 0) return 0;
    let sum = 0;
    let factor = 1;
    for (let row = start, k = 1; ; row += A, k++) {
      sum += factor * rewards[row];
      factor *= gamma;
      if (k === n || goesOn[row] === 0) return sum + factor * nextValues[row];
    }
  });
}
