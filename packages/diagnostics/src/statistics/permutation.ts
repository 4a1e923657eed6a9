import { checkOptions, createGenerator, fail, type Generator, show, streamSeed } from '@coplay/core';
import { checkNumbers } from '@coplay/core/checks';
import { z } from 'zod';
import { forEachRelabelling, permutationsOf, shuffleRows } from './relabelling';
import { countSplits, forEachSplit } from './splits';
import { checkValues, mean } from './summary';

/** The result of a permutation test. */
export interface PermutationResult {
  /** The observed statistic. */
  readonly statistic: number;
  /** Share of the relabellings whose statistic is at least the observed one; two-sided. */
  readonly pValue: number;
  /** Relabellings looked at. */
  readonly permutations: number;
  /** Whether these are all there are; else they were drawn at random, and the observed one is counted among them. */
  readonly isExact: boolean;
  /** The smallest p-value that data of this size can give: above 0.05 the test can't find anything. */
  readonly smallestPValue: number;
}

/** Options of {@link permutationTest} and {@link twoSamplePermutationTest}. */
export interface PermutationOptions {
  /** Up to so many relabellings all are looked at, else so many are drawn; at least 1. Default 100,000 */
  readonly permutations?: number;
  /** Seed of the drawing, from 0 to 2^53 - 1. Default 0 */
  readonly seed?: number;
}

const schema = z
  .object({ permutations: z.number().int().min(1).default(100_000), seed: z.number().int().min(0).default(0) })
  .strict();

/** Sums in another order differ in their last digits, which must not decide about a tie. */
const TIE = 1e-9;

/**
 * Are agents equal? Under the null hypothesis an agent's label means nothing, so that each seed's row of means may be
 * permuted at will, each row by itself. The statistic is the variance between agents of their means over seeds.
 *
 * Agents of one run may settle into different roles, which this test answers for: only an agent that is better in most
 * seeds gives a small p-value.
 *
 * @param means  [S, A] mean return of each agent in each seed; S >= 2, A >= 2
 * @throws CoplayError for other shapes or wrong options
 */
export function permutationTest(
  means: readonly ArrayLike<number>[],
  options: PermutationOptions = {},
): PermutationResult {
  const { permutations, seed } = checkOptions('permutationTest', schema, options);
  const agents = checkRows(means);
  const statistic = varianceOfSums(sumsOf(means, agents));
  const orders = factorial(agents) ** (means.length - 1);
  const count = tieCounter(statistic);
  if (orders <= permutations)
    forEachRelabelling(means, permutationsOf(agents), (sums) => count.add(varianceOfSums(sums)));
  else drawRelabellings(means, permutations, createGenerator(streamSeed(seed, 'permutation test')), count);
  // Every relabelling of agents as a whole gives the same statistic, so at least A! of A!^S tie with the largest.
  return result(statistic / means.length ** 2, count, orders <= permutations, orders);
}

/**
 * Do two samples, such as the seeds of two algorithms, have the same mean? The statistic is the difference of means; p
 * is two-sided.
 *
 * @param first   [n], n >= 1
 * @param second  [m], m >= 1
 * @throws CoplayError for no values or wrong options
 */
export function twoSamplePermutationTest(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  options: PermutationOptions = {},
): PermutationResult {
  const { permutations, seed } = checkOptions('twoSamplePermutationTest', schema, options);
  checkValues('twoSamplePermutationTest', first, 1, 'first');
  checkValues('twoSamplePermutationTest', second, 1, 'second');
  const pooled = Float64Array.from([...Array.from(first), ...Array.from(second)]);
  const total = pooled.reduce((sum, value) => sum + value, 0);
  const size = first.length;
  const difference = (sum: number) => sum / size - (total - sum) / second.length;
  const observed = mean(first) - mean(second);
  const count = tieCounter(Math.abs(observed));
  const splits = countSplits(pooled.length, size);
  if (splits <= permutations) forEachSplit(pooled, size, (sum) => count.add(Math.abs(difference(sum))));
  else {
    const generator = createGenerator(streamSeed(seed, 'two-sample permutation test'));
    drawSplits(pooled, size, permutations, generator, (sum) => count.add(Math.abs(difference(sum))));
  }
  // A split and its mirror image tie where both samples are of one size.
  const distinct = size === second.length ? splits / 2 : splits;
  return result(observed, count, splits <= permutations, distinct);
}

interface TieCounter {
  total: number;
  atLeast: number;
  add(statistic: number): void;
}

function tieCounter(observed: number): TieCounter {
  const threshold = observed - TIE * Math.abs(observed);
  return {
    total: 0,
    atLeast: 0,
    add(statistic) {
      this.total++;
      if (statistic >= threshold) this.atLeast++;
    },
  };
}

/** Drawn relabellings count the observed one too, or p could be 0 (Phipson and Smyth 2010). */
function result(statistic: number, count: TieCounter, isExact: boolean, distinct: number): PermutationResult {
  const { total, atLeast } = count;
  const pValue = isExact ? atLeast / total : (atLeast + 1) / (total + 1);
  const smallestPValue = Math.max(1 / distinct, isExact ? 0 : 1 / (total + 1));
  return { statistic, pValue, permutations: total, isExact, smallestPValue };
}

function drawRelabellings(
  means: readonly ArrayLike<number>[],
  permutations: number,
  generator: Generator,
  count: TieCounter,
): void {
  const rows = means.map((row) => Float64Array.from(row));
  for (let i = 0; i < permutations; i++) {
    shuffleRows(rows, generator);
    count.add(varianceOfSums(sumsOf(rows, rows[0].length)));
  }
}

function drawSplits(
  pooled: Float64Array,
  size: number,
  permutations: number,
  generator: Generator,
  visit: (sum: number) => void,
): void {
  for (let i = 0; i < permutations; i++) {
    generator.shuffle(pooled);
    let sum = 0;
    for (let j = 0; j < size; j++) sum += pooled[j];
    visit(sum);
  }
}

/** [A] sums over seeds */
function sumsOf(rows: readonly ArrayLike<number>[], agents: number): Float64Array {
  const sums = new Float64Array(agents);
  for (const row of rows) for (let agent = 0; agent < agents; agent++) sums[agent] += row[agent];
  return sums;
}

function varianceOfSums(sums: Float64Array): number {
  const centre = mean(sums);
  let total = 0;
  for (let i = 0; i < sums.length; i++) total += (sums[i] - centre) ** 2;
  return total / sums.length;
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

function checkRows(means: readonly ArrayLike<number>[]): number {
  if (!Array.isArray(means))
    fail('permutationTest: means', 'a list of seeds', show(means), 'Give one row for each seed.');
  means.forEach((row, seed) => void checkNumbers('permutationTest', `means[${seed}]`, row));
  const agents = means[0]?.length ?? 0;
  const isTable = means.length >= 2 && agents >= 2 && means.every((row) => row.length === agents);
  if (!isTable) {
    const expected = 'at least two seeds (rows) of the means of the same two or more agents';
    fail('permutationTest', expected, show(means), 'Give one row of per-agent mean returns for each seed.');
  }
  return agents;
}
