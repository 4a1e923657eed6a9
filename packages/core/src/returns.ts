import { z } from 'zod';
import { checkNumber, checkNumbers } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { checkOptions, fail, show } from './errors';
import { type Experience, isLastStep } from './experience';

/**
 * The part of an {@link Experience} that returns are made of. Give the experience itself, with anything replaced:
 * `gae({ ...experience, rewards: scaled, values, nextValues }, { gamma, lambda })`.
 */
export type ReturnSteps = Pick<
  Experience,
  'envs' | 'steps' | 'agents' | 'rewards' | 'active' | 'terminated' | 'truncated' | 'ended'
> &
  Partial<Pick<Experience, 'isFirst'>>;

const sizesSchema = z.looseObject({
  envs: z.int().min(0),
  steps: z.int().min(0),
  agents: z.array(z.string()),
});
const cutsSchema = z.looseObject({ env: typedArrays('int32'), step: typedArrays('int32') });
const discountSchema = z.object({ gamma: z.number().min(0).max(1) });
const lambdaSchema = discountSchema.extend({ lambda: z.number().min(0).max(1) });
const truncationSchema = z.strictObject({ truncation: z.enum(['bootstrap', 'terminal']).optional() });

/** Discounting. */
export interface DiscountOptions {
  /** Discount per step, in [0, 1] */
  readonly gamma: number;
}

/** Discounting, and how far rewards are trusted over values. */
export interface LambdaOptions extends DiscountOptions {
  /** In [0, 1]: 0 looks one step ahead, 1 to the episode's end */
  readonly lambda: number;
}

/** What {@link gae} returns. */
export interface Advantages {
  /** [E, T, A]; 0 where the agent was not active */
  readonly advantages: Float32Array;
  /** [E, T, A] advantages + values: the critic's targets; 0 where the agent was not active */
  readonly returns: Float32Array;
}

/**
 * Where an agent's next step stands in the next time step of the arrays: it was active, it is active again one step
 * later, and no episode ended or began in between. Everywhere else a return ends or is bootstrapped.
 *
 * @returns [E, T, A] 1 where the stream goes on
 */
export function continuation(steps: ReturnSteps): Uint8Array {
  checkSizes('continuation', steps);
  return continuationFor('continuation', steps);
}

/** @param where  the function that asks, for the message */
function continuationFor(where: string, steps: ReturnSteps): Uint8Array {
  const { active, terminated, truncated, ended } = steps;
  const agents = steps.agents.length;
  const rows = checkRows(where, steps, { active, terminated, truncated });
  checkNumbers(where, 'ended', ended, { length: steps.envs * steps.steps });
  const goesOn = new Uint8Array(rows);
  for (let row = 0; row + agents < rows; row++) {
    const over = isLastStep(steps, Math.floor(row / agents)) || terminated[row] === 1 || truncated[row] === 1;
    goesOn[row] = !over && active[row] === 1 && active[row + agents] === 1 ? 1 : 0;
  }
  return goesOn;
}

/**
 * The value of what came after each step: values[t + 1] inside a stream, the value at the cut where a stream was cut
 * though play could have gone on, and 0 after an agent's end.
 *
 * @param experience  only read where agents are active: the content of padding has no effect
 * @param values      [E, T, A] the critic's value of the observation before each step
 * @param cutValues   [N, A] the critic's value of `experience.cuts.observations`
 * @param options     `truncation`: whether a time limit is bootstrapped (default) or treated as the agent's end, as
 *                    CleanRL does; the end of the segment is bootstrapped in both cases
 * @returns [E, T, A]; 0 where the agent was not active
 * @throws CoplayError where a value is needed for which there is no cut
 */
export function bootstrapValues(
  experience: ReturnSteps & Pick<Experience, 'cuts'>,
  values: Float32Array,
  cutValues: Float32Array,
  options: { readonly truncation?: 'bootstrap' | 'terminal' } = {},
): Float32Array {
  checkSizes('bootstrapValues', experience, 'experience');
  checkArgument('bootstrapValues', 'experience.cuts', cutsSchema, experience.cuts);
  checkNumbers('bootstrapValues', 'cutValues', cutValues, { nan: true });
  const { truncation } = checkOptions('bootstrapValues', truncationSchema, options);
  const { cuts, active, terminated, truncated, steps } = experience;
  const agents = experience.agents.length;
  const rows = checkRows('bootstrapValues', experience, { values });
  if (cutValues.length !== cuts.env.length * agents) {
    const expected = `cutValues of ${cuts.env.length} cuts x ${agents} agents`;
    fail('bootstrapValues', expected, show(cutValues), 'Evaluate the critic on experience.cuts.observations.');
  }
  const cutOfStep = new Map<number, number>();
  cuts.env.forEach((env, n) => void cutOfStep.set(env * steps + cuts.step[n], n));
  const limitIsEnd = truncation === 'terminal';
  const goesOn = continuationFor('bootstrapValues', experience);
  const nextValues = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    if (goesOn[row] === 1) nextValues[row] = values[row + agents];
    else if (active[row] === 1 && terminated[row] === 0 && !(limitIsEnd && truncated[row] === 1)) {
      const step = Math.floor(row / agents);
      const cut = cutOfStep.get(step);
      if (cut === undefined) refuseMissingCut(experience, step);
      nextValues[row] = cutValues[cut * agents + (row % agents)];
    }
  }
  return nextValues;
}

/**
 * Generalised advantage estimation (Schulman et al. 2016, eq. 16), each agent on its own steps:
 *
 *   delta_t = r_t + gamma V'_t - V_t
 *   A_t     = delta_t + gamma lambda A_{t+1}    (A_{t+1} only where the stream goes on, see {@link continuation})
 *
 * with V'_t = `nextValues`, which are 0 after an agent's end ({@link bootstrapValues}). So an end cuts both the
 * bootstrap and the sum; a time limit or the end of a segment cuts the sum but is bootstrapped.
 *
 * @param steps  experience with `values` and `nextValues` [E, T, A]; only read where agents are active
 */
export function gae(
  steps: ReturnSteps & { readonly values: Float32Array; readonly nextValues: Float32Array },
  options: LambdaOptions,
): Advantages {
  checkSizes('gae', steps);
  const { gamma, lambda } = checkOptions('gae', lambdaSchema, options);
  const { rewards, values, nextValues, active } = steps;
  const rows = checkRows('gae', steps, { rewards, values, nextValues });
  const agents = steps.agents.length;
  const goesOn = continuationFor('gae', steps);
  const advantages = new Float32Array(rows);
  const returns = new Float32Array(rows);
  const later = new Float64Array(rows + agents); // A_t in double precision, one step longer than the stream
  for (let row = rows - 1; row >= 0; row--) {
    if (active[row] === 0) continue;
    const delta = rewards[row] + gamma * nextValues[row] - values[row];
    later[row] = goesOn[row] === 1 ? delta + gamma * lambda * later[row + agents] : delta;
    advantages[row] = later[row];
    returns[row] = later[row] + values[row];
  }
  return { advantages, returns };
}

/**
 * Lambda-returns (Sutton and Barto 2018, eq. 12.20), each agent on its own steps:
 *
 *   R_t = r_t + gamma ((1 - lambda) V'_t + lambda R_{t+1})   where the stream goes on, else   r_t + gamma V'_t
 *
 * They equal the `returns` of {@link gae}.
 *
 * @param steps  experience with `nextValues` [E, T, A] of {@link bootstrapValues}; only read where agents are active
 * @returns [E, T, A]; 0 where the agent was not active
 */
export function lambdaReturns(
  steps: ReturnSteps & { readonly nextValues: Float32Array },
  options: LambdaOptions,
): Float32Array {
  return lambdaReturnsFor('lambdaReturns', steps, options);
}

/** @param where  the function that asks, for the message */
function lambdaReturnsFor(
  where: string,
  steps: ReturnSteps & { readonly nextValues: Float32Array },
  options: LambdaOptions,
): Float32Array {
  checkSizes(where, steps);
  const { gamma, lambda } = checkOptions(where, lambdaSchema, options);
  const { rewards, nextValues, active } = steps;
  const rows = checkRows(where, steps, { rewards, nextValues });
  const agents = steps.agents.length;
  const goesOn = continuationFor(where, steps);
  const returns = new Float64Array(rows);
  for (let row = rows - 1; row >= 0; row--) {
    if (active[row] === 0) continue;
    const next = goesOn[row] === 1 ? (1 - lambda) * nextValues[row] + lambda * returns[row + agents] : nextValues[row];
    returns[row] = rewards[row] + gamma * next;
  }
  return Float32Array.from(returns);
}

/**
 * Monte Carlo returns, R_t = sum_k gamma^k r_{t+k} to the end of the agent's episode: {@link lambdaReturns} with
 * lambda 1. Where a stream was cut they are completed by `nextValues`.
 *
 * @param steps  experience, with `nextValues` [E, T, A] of {@link bootstrapValues}. Without them nothing follows a
 *               cut, and the returns of the steps before it are too low (right only where every episode is whole).
 * @returns [E, T, A]; 0 where the agent was not active
 */
export function monteCarloReturns(
  steps: ReturnSteps & { readonly nextValues?: Float32Array },
  options: DiscountOptions,
): Float32Array {
  checkSizes('monteCarloReturns', steps);
  checkNumbers('monteCarloReturns', 'steps.rewards', steps.rewards, { nan: true });
  const { gamma } = checkOptions('monteCarloReturns', discountSchema, options);
  const nextValues = steps.nextValues ?? new Float32Array(steps.rewards.length);
  return lambdaReturnsFor('monteCarloReturns', { ...steps, nextValues }, { gamma, lambda: 1 });
}

/** sum_t gamma^t values[t], in double precision; 0 for none. */
export function discountedSum(values: ArrayLike<number>, gamma: number): number {
  checkNumbers('discountedSum', 'values', values);
  checkNumber('discountedSum', 'gamma', gamma, { min: 0, max: 1 });
  let sum = 0;
  for (let t = values.length - 1; t >= 0; t--) sum = values[t] + gamma * sum;
  return sum;
}

/** Checks that each array has E x T x A elements, and returns that number. */
function checkRows(where: string, steps: ReturnSteps, arrays: Record<string, ArrayLike<number>>): number {
  const rows = steps.envs * steps.steps * steps.agents.length;
  for (const [name, array] of Object.entries(arrays)) {
    if (array?.length !== rows) {
      const expected = `${name} of shape [E=${steps.envs}, T=${steps.steps}, A=${steps.agents.length}]`;
      fail(where, expected, show(array), `Give one of ${name} for each step of each agent.`);
    }
    checkNumbers(where, name, array, { nan: true });
  }
  return rows;
}

function checkSizes(where: string, steps: ReturnSteps, name = 'steps'): void {
  checkArgument(where, name, sizesSchema, steps);
}

function refuseMissingCut(steps: ReturnSteps, step: number): never {
  const place = `environment ${Math.floor(step / steps.steps)}, step ${step % steps.steps}`;
  const remedy =
    'The last step of a stream, a step that a time limit ended and one before a reset need an entry in cuts each.';
  fail('bootstrapValues', `a cut at ${place}, where an agent neither ended nor goes on`, 'none', remedy);
}

/** Options of {@link normaliseAdvantages}. */
export interface NormaliseOptions {
  /** Degrees of freedom taken from the count in the variance: 1 is unbiased (CleanRL), 0 is not (MAPPO). Default 1 */
  readonly ddof?: 0 | 1;
  /** Added to the standard deviation; above 0. Default 1e-8 */
  readonly epsilon?: number;
}

const normaliseSchema = z.strictObject({
  ddof: z.literal([0, 1]).default(1),
  epsilon: z.number().min(0).default(1e-8),
});

/**
 * Advantages with mean 0 and standard deviation 1: (A - mean) / (std + epsilon).
 *
 * Weighted: mean = sum w A / sum w, var = sum w (A - mean)^2 / sum w x n / (n - ddof), n the number of rows with a
 * weight above 0. With weights 0 and 1 that is the plain variance of the rows that count.
 * A single row and a constant give 0, never NaN.
 *
 * @param advantages  [B]
 * @param weights     [B] at least 0; a row of weight 0 counts for nothing, even where its advantage is NaN. All 1 by
 *                    default
 * @returns [B]; 0 where the weight is 0
 */
export function normaliseAdvantages(
  advantages: ArrayLike<number>,
  weights?: ArrayLike<number>,
  options: NormaliseOptions = {},
): Float32Array {
  const { ddof, epsilon } = checkOptions('normaliseAdvantages', normaliseSchema, options);
  checkNumbers('normaliseAdvantages', 'advantages', advantages, { nan: true });
  checkWeights('normaliseAdvantages', advantages, weights);
  const { count, mean, variance } = moments(advantages, weights);
  const normalised = new Float32Array(advantages.length);
  if (count <= ddof) return normalised;
  const scale = Math.sqrt((variance * count) / (count - ddof)) + epsilon;
  for (let i = 0; i < normalised.length; i++) {
    if (weights === undefined || weights[i] > 0) normalised[i] = (advantages[i] - mean) / scale;
  }
  return normalised;
}

/**
 * How much of the returns' variance the critic explains: 1 - Var(R - V) / Var(R). 1 is perfect, 0 no better than a
 * constant, negative worse. Returns that are all equal have no variance to explain: 0.
 *
 * @param values   [B] predicted
 * @param returns  [B] what came
 * @param weights  [B] at least 0; rows of weight 0 count for nothing. All 1 by default
 * @throws CoplayError where no row counts
 */
export function explainedVariance(
  values: ArrayLike<number>,
  returns: ArrayLike<number>,
  weights?: ArrayLike<number>,
): number {
  checkNumbers('explainedVariance', 'returns', returns, { nan: true });
  checkNumbers('explainedVariance', 'values', values, { nan: true });
  checkWeights('explainedVariance', returns, weights);
  if (values.length !== returns.length) {
    fail('explainedVariance', `${returns.length} values`, show(values), 'Give one value for each return.');
  }
  const errors = new Float64Array(returns.length);
  for (let i = 0; i < errors.length; i++) errors[i] = returns[i] - values[i];
  const { count, variance } = moments(returns, weights);
  if (count === 0) {
    const remedy = 'Leave the figure out where nothing was measured.';
    fail('explainedVariance', 'at least one return with a weight above 0', 'none', remedy);
  }
  return variance === 0 ? 0 : 1 - moments(errors, weights).variance / variance;
}

/**
 * Weighted mean and (biased) variance. Sums are taken about the first row, so that a constant has variance 0 exactly.
 */
function moments(values: ArrayLike<number>, weights: ArrayLike<number> | undefined) {
  let origin = Number.NaN;
  let count = 0;
  let total = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const weight = weights === undefined ? 1 : weights[i];
    if (weight === 0) continue;
    if (count === 0) origin = values[i];
    count++;
    total += weight;
    sum += weight * (values[i] - origin);
  }
  const shift = sum / total;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const weight = weights === undefined ? 1 : weights[i];
    if (weight > 0) squares += weight * (values[i] - origin - shift) ** 2;
  }
  return { count, mean: origin + shift, variance: count === 0 ? 0 : squares / total };
}

function checkWeights(where: string, values: ArrayLike<number>, weights: ArrayLike<number> | undefined): void {
  if (weights === undefined) return;
  checkNumbers(where, 'weights', weights, { nan: true });
  if (weights.length !== values.length) {
    fail(where, `${values.length} weights`, show(weights), 'Give one weight for each row.');
  }
  for (let i = 0; i < weights.length; i++) {
    if (!(weights[i] >= 0 && weights[i] < Infinity)) {
      fail(where, 'weights that are finite and at least 0', `${weights[i]} in row ${i}`, 'Change that weight.');
    }
  }
}
