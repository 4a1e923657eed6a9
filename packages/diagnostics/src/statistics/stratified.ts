import { checkOptions, createGenerator, fail, type Generator, show, streamSeed } from '@coplay/core';
import { checkNumber, checkNumbers, functions } from '@coplay/core/checks';
import { type Estimate, percentileInterval, resamplingSchema } from './bootstrap';
import { interquartileMean } from './summary';

/**
 * The scores of an algorithm: for each of T tasks, [S] one score per seed. Scores of different tasks must be
 * comparable, for example normalised to 0 for random play and 1 for the best.
 */
export type Scores = readonly ArrayLike<number>[];

/** Options of {@link probabilityOfImprovement} and {@link performanceProfile}. */
export interface ResamplingOptions {
  /** Coverage of the interval, in (0, 1). Default 0.95 */
  readonly confidence?: number;
  /** Number of resamples; at least 1. Default 10,000 */
  readonly resamples?: number;
  /** Seed of the resampling, from 0 to 2^53 - 1. Default 0 */
  readonly seed?: number;
}

/** Options of {@link stratifiedBootstrap}. */
export interface StratifiedBootstrapOptions extends ResamplingOptions {
  /** The statistic that is estimated from the scores. Default: the interquartile mean of all scores together */
  readonly statistic?: (scores: Scores) => number;
}

const schema = resamplingSchema.extend({
  statistic: functions<(scores: Scores) => number>().default(() => iqmOfAll),
});

/**
 * A statistic over tasks and seeds with its percentile interval by stratified bootstrap (Agarwal et al. 2021, rliable):
 * seeds are resampled with replacement within each task, and every task stays.
 *
 * @param scores  [T][S], T >= 1, S >= 1 scores per task
 * @returns the estimate; `count` is the least number of seeds of a task; without an interval if that is 1
 * @throws CoplayError for no scores, wrong options, or a statistic that isn't a finite number
 */
export function stratifiedBootstrap(scores: Scores, options: StratifiedBootstrapOptions = {}): Estimate {
  const { statistic, confidence, resamples, seed } = checkOptions('stratifiedBootstrap', schema, options);
  const count = checkScores('stratifiedBootstrap', 'scores', scores);
  const measure = (of: Scores) => {
    const result = statistic(of);
    checkNumber('stratifiedBootstrap: option statistic', 'what it returns', result);
    return result;
  };
  const value = measure(scores.map((task) => Array.from(task)));
  if (count === 1) return { value, lower: Number.NaN, upper: Number.NaN, count };
  const generator = createGenerator(streamSeed(seed, 'stratified bootstrap'));
  const results = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) results[i] = measure(resample(scores, generator));
  return { value, ...percentileInterval(results, confidence), count };
}

/**
 * The probability that a random seed of one algorithm scores higher than a random seed of another, mean over tasks:
 * P(X > Y) + P(X = Y) / 2 (Mann and Whitney 1947; Agarwal et al. 2021, rliable). Each algorithm's seeds are resampled
 * within each task for the interval.
 *
 * @param first   [T][S] scores of X, S >= 1 per task
 * @param second  [T][S'] scores of Y on the same tasks, S' >= 1 per task
 * @returns a probability in [0, 1]; 0.5 for equal algorithms. `count` is the least number of seeds of a task; without
 * an interval if that is 1
 * @throws CoplayError for no scores, other numbers of tasks, or wrong options
 */
export function probabilityOfImprovement(first: Scores, second: Scores, options: ResamplingOptions = {}): Estimate {
  const where = 'probabilityOfImprovement';
  const { confidence, resamples, seed } = checkOptions(where, resamplingSchema, options);
  const count = Math.min(checkScores(where, 'first', first), checkScores(where, 'second', second));
  if (first.length !== second.length) {
    const [expected, got] = [`scores of both on the same ${first.length} tasks`, `${second.length} tasks`];
    fail(`${where}: second`, expected, got, 'Give one row for each task, in the same order.');
  }
  const value = improvement(first, second);
  if (count === 1) return { value, lower: Number.NaN, upper: Number.NaN, count };
  const generator = createGenerator(streamSeed(seed, 'probability of improvement'));
  const results = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) results[i] = improvement(resample(first, generator), resample(second, generator));
  return { value, ...percentileInterval(results, confidence), count };
}

/**
 * A performance profile: for each threshold, the share of all scores, over tasks and seeds, that are above it, with its
 * interval by stratified bootstrap (Agarwal et al. 2021, rliable).
 *
 * @param scores      [T][S], T >= 1, S >= 1 scores per task
 * @param thresholds  [P], P >= 1
 * @returns [P] shares in [0, 1]
 * @throws CoplayError for no scores, no thresholds or wrong options
 */
export function performanceProfile(
  scores: Scores,
  thresholds: ArrayLike<number>,
  options: ResamplingOptions = {},
): Estimate[] {
  const resampling = checkOptions('performanceProfile', resamplingSchema, options);
  checkScores('performanceProfile', 'scores', scores);
  checkNumbers('performanceProfile', 'thresholds', thresholds, { atLeast: 1 });
  return Array.from(thresholds, (threshold) => {
    const statistic = (sample: Scores) => shareAbove(sample, threshold);
    return stratifiedBootstrap(scores, { ...resampling, statistic });
  });
}

function iqmOfAll(scores: Scores): number {
  return interquartileMean(scores.flatMap((task) => Array.from(task)));
}

function improvement(first: Scores, second: Scores): number {
  let sum = 0;
  for (const [task, scores] of first.entries()) sum += superiority(scores, second[task]);
  return sum / first.length;
}

/** The share of pairs that the first wins; ties count half. */
function superiority(first: ArrayLike<number>, second: ArrayLike<number>): number {
  let wins = 0;
  for (let i = 0; i < first.length; i++) {
    for (let j = 0; j < second.length; j++) {
      if (first[i] > second[j]) wins += 1;
      else if (first[i] === second[j]) wins += 0.5;
    }
  }
  return wins / (first.length * second.length);
}

function shareAbove(scores: Scores, threshold: number): number {
  let [above, all] = [0, 0];
  for (const task of scores) {
    for (let i = 0; i < task.length; i++) if (task[i] > threshold) above++;
    all += task.length;
  }
  return above / all;
}

/** Seeds drawn with replacement, each task by itself. */
function resample(scores: Scores, generator: Generator): Float64Array[] {
  return scores.map((task) => Float64Array.from(task, () => task[generator.integer(task.length)]));
}

/** @returns the least number of seeds of a task */
function checkScores(where: string, name: string, scores: Scores): number {
  if (!Array.isArray(scores) || scores.length === 0)
    fail(`${where}: ${name}`, 'a list of tasks, one or more', show(scores), 'Give one row of scores for each task.');
  for (const [t, task] of scores.entries()) checkNumbers(where, `${name}[${t}]`, task, { atLeast: 1 }); // also of holes
  return Math.min(...scores.map((task) => task.length));
}
