import {
  bootstrapValues,
  checkArgument,
  checkExperience,
  checkNumbers,
  type Experience,
  gae,
  lambdaReturns,
  monteCarloReturns,
} from '@coplay/core';
import { z } from 'zod';
import { ppoSchema, type ResolvedPpoOptions } from './options';

/** What actor and critic are trained towards; [E, T, A] each, 0 where an agent was not active. */
export interface Targets {
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
}

/** What a critic said of an experience: [E, T, A] and, at its cuts, [N, A]. */
export interface Valuation {
  readonly values: Float32Array;
  readonly cutValues: Float32Array;
}

/**
 * The same targets, unless `zero-imagined-reward` is on and the experience was imagined: then the critic's returns are those
 * without any reward, while the actor's advantages stay.
 */
export function imaginedTargets(
  experience: Experience,
  { values, cutValues }: Valuation,
  targets: Targets,
  options: TargetOptions & Pick<ResolvedPpoOptions, 'imaginedCritic'>,
): Targets {
  const isImagined = experience.isImagined[0] === 1;
  if (!isImagined || options.imaginedCritic !== 'zero-imagined-reward') return targets;
  const unpaid = { ...experience, rewards: new Float32Array(experience.rewards.length) };
  return { advantages: targets.advantages, returns: ppoTargets(unpaid, values, cutValues, options).returns };
}

/** The parts of PPO's options that make targets. */
export type TargetOptions = Pick<ResolvedPpoOptions, 'gamma' | 'lambda' | 'returns' | 'truncation'>;

const { gamma, lambda, returns, truncation } = ppoSchema.shape;
const optionsSchema = z.looseObject({
  gamma: gamma.unwrap(),
  lambda: lambda.unwrap(),
  returns: returns.unwrap(),
  truncation: truncation.unwrap(),
});

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
  checkExperience('ppoTargets', experience);
  checkNumbers('ppoTargets', 'values', values, { length: experience.rewards.length, nan: true });
  const places = experience.cuts.env.length * experience.agents.length;
  checkNumbers('ppoTargets', 'cutValues', cutValues, { length: places, nan: true });
  checkArgument('ppoTargets', 'options', optionsSchema, options);
  const nextValues = bootstrapValues(experience, values, cutValues, { truncation: options.truncation });
  const steps = { ...experience, values, nextValues };
  if (options.returns === 'gae') return gae(steps, options);
  const returns = options.returns === 'lambda' ? lambdaReturns(steps, options) : monteCarloReturns(steps, options);
  return {
    returns,
    advantages: returns.map((target, row) => (experience.active[row] === 1 ? target - values[row] : 0)),
  };
}
