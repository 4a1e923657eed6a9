import { ndarray } from '@coplay/core';
import { type Planner, SEARCH_POLICY, SEARCH_VALUES } from '../hop';
import type { Insight } from './with-insight';

/** What a search found, and how it spread its visits; beliefs are in the answers of HOP's agents already. */
export function hopInsight(planner: Planner): Insight {
  return ({ rows }, _, { extras = {} }) => {
    const { [SEARCH_POLICY]: policy, [SEARCH_VALUES]: values } = extras;
    const K = policy.shape[1];
    const visits = new Int32Array(rows * K);
    const found = planner.lastSearch;
    found?.rows.forEach((row, i) => {
      visits.set(found.result.visits.subarray(i * K, (i + 1) * K), row * K);
    });
    return { policy, values, visits: ndarray(visits, [rows, K]) };
  };
}
