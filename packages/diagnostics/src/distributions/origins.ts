import { type ActionSpaces, checkOptions, type Experience, fail } from '@coplay/core';
import { checkArgument, checkExperience, checkNumbers } from '@coplay/core/checks';
import { z } from 'zod';
import { type Distribution, type DistributionOptions, distributionOf, distributionSchema } from './distribution';

/**
 * Numbers for the steps of an experience, [E, T, A] each; the names are the caller's: `return`, `value`, `old_value`.
 */
export type Measures = Readonly<Record<string, ArrayLike<number>>>;

/** An experience with numbers that were computed for it. */
export interface Recorded {
  readonly experience: Experience<ActionSpaces>;
  /** Numbers for its steps. `return` and `value` together give `value_error` too. Default: none */
  readonly measures?: Measures;
}

/** A quantity's distribution in lived-through and in model-made steps. */
export interface Origins {
  readonly real: Distribution;
  readonly imagined: Distribution;
}

type Pool = Record<keyof Origins, number[]>;

/**
 * Distributions of single steps' rewards (`reward`), of whole episodes' undiscounted returns (`episode_return`), and of
 * the given numbers, real and imagined apart. Steps in which an agent wasn't active count for nothing, neither do rows
 * of padding; `episode_return` knows the episodes that begin and end within one experience.
 *
 * The histograms of a quantity have the same bins in both, so that they can be laid side by side.
 *
 * With the measures `return` (the critic's targets) and `value` there is also `value_error`, V - R.
 *
 * @param records  real and imagined experience in any order; `isImagined` tells which is which, environment by
 *                 environment
 * @throws CoplayError for a measure of another size than its experience, or wrong options
 */
export function realAndImagined(
  records: readonly Recorded[],
  options: DistributionOptions = {},
): Readonly<Record<string, Origins>> {
  checkRecords(records);
  checkOptions('realAndImagined', distributionSchema, options);
  const pools: Record<string, Pool> = { reward: emptyPool(), episode_return: emptyPool() };
  for (const { experience, measures = {} } of records) {
    const all = withErrors(experience, measures);
    for (const [name, values] of Object.entries(all)) {
      pools[name] ??= emptyPool();
      addSteps(pools[name], experience, values);
    }
    addEpisodes(pools['episode_return'], experience);
  }
  return Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, describe(pool, options ?? {})]));
}

function checkRecords(records: readonly Recorded[]): void {
  const schema = z.array(z.looseObject({ measures: z.record(z.string(), z.unknown()).optional() }));
  checkArgument('realAndImagined', 'records', schema, records);
  records.forEach(({ experience, measures = {} }, i) => {
    checkExperience('realAndImagined', experience, `records[${i}].experience`, 'any');
    for (const [name, values] of Object.entries(measures)) {
      checkNumbers('realAndImagined', `records[${i}].measures.${name}`, values, { nan: true });
    }
  });
}

function emptyPool(): Pool {
  return { real: [], imagined: [] };
}

function withErrors(experience: Experience<ActionSpaces>, measures: Measures): Record<string, ArrayLike<number>> {
  const size = experience.rewards.length;
  for (const [name, values] of Object.entries(measures)) {
    if (values?.length === size) continue;
    const expected = `${name} of ${size} numbers [E, T, A]`;
    fail('realAndImagined', expected, String(values?.length), 'Give one number for each row of the experience.');
  }
  const { return: returns, value } = measures;
  const errors = returns && value ? { value_error: Float64Array.from(value, (v, row) => v - returns[row]) } : {};
  return { reward: experience.rewards, ...measures, ...errors };
}

function addSteps(pool: Pool, experience: Experience<ActionSpaces>, values: ArrayLike<number>): void {
  const { envs, steps, active, lengths, isImagined } = experience;
  const agents = experience.agents.length;
  for (let e = 0; e < envs; e++) {
    const target = isImagined[e] === 1 ? pool.imagined : pool.real;
    const start = e * steps * agents;
    for (let row = start; row < start + lengths[e] * agents; row++) if (active[row] === 1) target.push(values[row]);
  }
}

/** Each agent's return in each episode that is there as a whole. */
function addEpisodes(pool: Pool, experience: Experience<ActionSpaces>): void {
  const { envs, steps, rewards, active, lengths, isFirst, ended, isImagined } = experience;
  const agents = experience.agents.length;
  for (let e = 0; e < envs; e++) {
    const target = isImagined[e] === 1 ? pool.imagined : pool.real;
    let returns: number[] | undefined; // none until an episode begins
    for (let t = 0; t < lengths[e]; t++) {
      const step = e * steps + t;
      if (isFirst[step] === 1) returns = new Array<number>(agents).fill(0);
      if (!returns) continue;
      for (let a = 0; a < agents; a++) {
        if (active[step * agents + a] === 1) returns[a] += rewards[step * agents + a];
      }
      if (ended[step] === 0) continue;
      target.push(...returns);
      returns = undefined;
    }
  }
}

/** Both with the bins of their union. */
function describe({ real, imagined }: Pool, options: DistributionOptions): Origins {
  const { min, max, count } = distributionOf([...real, ...imagined], options);
  const common: DistributionOptions = count > 0 && !options.range ? { ...options, range: [min, max] } : options;
  return { real: distributionOf(real, common), imagined: distributionOf(imagined, common) };
}
