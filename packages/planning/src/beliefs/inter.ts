import { fail, show } from '@coplay/core';
import { checkArgument, checkCount, checkNumber, typedArrays } from '@coplay/core/checks';

const doubles = typedArrays('float64');

/**
 * Opponent modelling between episodes (inter-OM), as counts: after an episode that showed goal g, N(g) <- d N(g) + 1
 * and N(h) <- d N(h) of the others; an episode that showed none changes nothing (the stag hunt's code of Huang et al.
 * 2024).
 *
 * @param counts    [B, G] replaced
 * @param shown     [B] the goal that was shown, in 0..G-1, or -1
 * @param discount  d, in (0, 1]
 */
export function discountCounts(counts: Float64Array, shown: Int32Array, discount: number): void {
  checkNumber('discountCounts', 'discount', discount, { above: 0, max: 1 });
  const goals = checkShown('discountCounts', 'counts', counts, shown);
  for (let row = 0; row < shown.length; row++) {
    if (shown[row] < 0) continue;
    for (let i = row * goals; i < (row + 1) * goals; i++) counts[i] *= discount;
    counts[row * goals + shown[row]] += 1;
  }
}

/** Counts [B, G] as priors [B, G]: N / sum of N over the goals. */
export function priorOfCounts(counts: Float64Array, goals: number): Float64Array {
  checkArgument('priorOfCounts', 'counts', doubles, counts);
  checkCount('priorOfCounts', 'goals', goals, counts.length === 0 ? 0 : 1);
  if (counts.length % Math.max(1, goals) !== 0) {
    fail('priorOfCounts: counts', `counts [B, ${goals}]`, show(counts), 'Give one count for each goal of each row.');
  }
  const prior = counts.slice();
  for (let from = 0; from < prior.length; from += goals) {
    let sum = 0;
    for (let i = from; i < from + goals; i++) sum += prior[i];
    for (let i = from; i < from + goals; i++) prior[i] /= sum;
  }
  return prior;
}

/**
 * Inter-OM as a moving average (Huang et al. 2024, eq. 5): prior <- alpha prior + (1 - alpha) onehot(goal shown). After
 * m episodes in a row that showed one goal its prior is 1 - (1 - p0) alpha^m.
 *
 * @param prior  [B, G] replaced
 * @param shown  [B] in 0..G-1, or -1, which changes nothing
 * @param alpha  in 0..1
 */
export function blendPrior(prior: Float64Array, shown: Int32Array, alpha: number): void {
  checkNumber('blendPrior', 'alpha', alpha, { min: 0, max: 1 });
  const goals = checkShown('blendPrior', 'prior', prior, shown);
  for (let row = 0; row < shown.length; row++) {
    if (shown[row] < 0) continue;
    for (let i = row * goals; i < (row + 1) * goals; i++) prior[i] *= alpha;
    prior[row * goals + shown[row]] += 1 - alpha;
  }
}

/** @returns G */
function checkShown(where: string, name: string, table: Float64Array, shown: Int32Array): number {
  checkArgument(where, name, doubles, table);
  checkArgument(where, 'shown', typedArrays('int32'), shown);
  const goals = table.length / shown.length;
  if (!Number.isInteger(goals)) {
    fail(where, `[${shown.length}, G] numbers`, String(table.length), 'Give one shown goal for each row.');
  }
  const wrong = shown.find((goal) => goal < -1 || goal >= goals);
  if (wrong !== undefined) fail(where, `goals in -1..${goals - 1}`, String(wrong), 'Give -1 where none was shown.');
  return goals;
}
