import { bootstrapValues, type Experience, gae, lambdaReturns, monteCarloReturns } from '@coplay/core';
import type { ResolvedPpoOptions } from './options';

/** What actor and critic are trained towards; [E, T, A] each, 0 where an agent was not active. */
export interface Targets {
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
}

/** The parts of PPO's options that make targets. */
export type TargetOptions = Pick<ResolvedPpoOptions, 'gamma' | 'lambda' | 'returns' | 'truncation'>;

/**
 * Returns and advantages of recorded experience.
 *
 * @param values    [E, T, A] of the critic that is to be trained
 * @param cutValues [N, A] of what was seen after each cut
 */
export function ppoTargets(
  experience: Experience,
  values: Float32Array,
  cutValues: Float32Array,
  options: TargetOptions,
): Targets {
  const nextValues = bootstrapValues(experience, values, cutValues, { truncation: options.truncation });
  const steps = { ...experience, values, nextValues };
  if (options.returns === 'gae') return gae(steps, options);
  const returns = options.returns === 'lambda' ? lambdaReturns(steps, options) : monteCarloReturns(steps, options);
  return {
    returns,
    advantages: returns.map((target, row) => (experience.active[row] === 1 ? target - values[row] : 0)),
  };
}
