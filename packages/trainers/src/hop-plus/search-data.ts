import { type Experience, type Metrics, type NamedArrays, ndarray } from '@coplay/core';
import type { RowSearch } from '../training/search-view';
import { SEARCH_POLICY } from './search-options';
import type { HopPlusSetup } from './setup';

/** More extras of an agent that searches: zeros in rows without a search. */
const SEARCH_VALUES = 'searchValues';
const SEARCH_AGREEMENT = 'searchAgreement';

/** Puts the actions of a search, and their log-probabilities under its policy, in the place of the policy's. */
export function putPlayed(
  { rows, result }: RowSearch,
  K: number,
  chosen: { readonly actions: Int32Array; readonly logProbs: Float32Array },
): void {
  rows.forEach((row, i) => {
    const action = result.actions[i];
    chosen.actions[row] = action;
    chosen.logProbs[row] = Math.log(result.policy[i * K + action]);
  });
}

/**
 * What the experience keeps of a search: zeros in rows without one.
 *
 * @param logProbs  [B, K] of the policy
 */
export function searchExtras(
  found: RowSearch | undefined,
  rows: number,
  K: number,
  logProbs: Float32Array,
): NamedArrays {
  const policy = new Float32Array(rows * K);
  const values = new Float32Array(rows);
  const agreement = new Float32Array(rows);
  found?.rows.forEach((row, i) => {
    const own = found.result.policy.subarray(i * K, (i + 1) * K);
    policy.set(own, row * K);
    values[row] = found.result.values[i];
    own.forEach((p, k) => {
      agreement[row] += Math.min(p, Math.exp(logProbs[row * K + k]));
    });
  });
  return {
    [SEARCH_POLICY]: ndarray(policy, [rows, K]),
    [SEARCH_VALUES]: ndarray(values),
    [SEARCH_AGREEMENT]: ndarray(agreement),
  };
}

/** The same experience with the log-probabilities of actions that a search or an exploration chose as they were. */
export function withPlayedLogProbs(setup: HopPlusSetup, renewed: Experience, played: Experience): Experience {
  const { [SEARCH_POLICY]: policy, explored } = played.extras;
  const isSearchPlayed = setup.treeSearch && setup.treeSearch.plays !== 'policy' && policy;
  if (!isSearchPlayed && !explored) return renewed;
  const { logProbs } = renewed.extras;
  const data = Float32Array.from(logProbs.data, (now, row) => {
    const isSearchs = isSearchPlayed && isSearched(policy.data, row, setup.game.actions);
    return isSearchs || explored?.data[row] === 1 ? played.extras['logProbs'].data[row] : now;
  });
  return { ...renewed, extras: { ...renewed.extras, logProbs: ndarray(data, logProbs.shape) } };
}

/** A search's policy has probabilities; without a search it's zeros, for other agents NaN. */
function isSearched(policy: ArrayLike<number>, row: number, K: number): boolean {
  for (let k = row * K; k < (row + 1) * K; k++) if (policy[k] > 0) return true;
  return false;
}

/** Means over the steps that agents in these seats played, of those in which they searched. */
export function searchMetrics(
  { treeSearch, game }: HopPlusSetup,
  seats: readonly number[],
  played: Experience,
): Metrics {
  const { [SEARCH_POLICY]: policy, [SEARCH_VALUES]: values, [SEARCH_AGREEMENT]: agreement } = played.extras;
  if (!treeSearch || !policy) return {};
  const { trees, simulations } = treeSearch.search;
  const K = game.actions;
  const sums = { active: 0, searched: 0, value: 0, agreement: 0, entropy: 0 };
  for (let row = 0; row < played.active.length; row++) {
    if (played.active[row] === 0 || !seats.includes(row % game.agents.length)) continue;
    sums.active++;
    if (!isSearched(policy.data, row, K)) continue;
    sums.searched++;
    sums.value += values.data[row];
    sums.agreement += agreement.data[row];
    for (let k = row * K; k < (row + 1) * K; k++) {
      const p = policy.data[k];
      if (p > 0) sums.entropy -= p * Math.log(p);
    }
  }
  const { active, searched } = sums;
  return {
    ...(active > 0 && { 'search/share': searched / active }),
    'search/simulations': searched * trees * simulations,
    ...(searched > 0 && {
      'search/value': sums.value / searched,
      'search/agreement': sums.agreement / searched,
      'search/entropy': sums.entropy / searched,
    }),
  };
}
