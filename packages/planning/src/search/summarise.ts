import { drawIndex } from '@coplay/core/rows';
import type { SearchSettings } from './options';
import type { SearchMemory } from './search-memory';

/** The result of a search for R roots. The arrays belong to the caller. */
export interface SearchResult {
  /** [R, K] the target for the actor; sums to 1, 0 where illegal */
  readonly policy: Float32Array;
  /**
   * [R, K] mean over trees of Q = W / N; for actions that a tree didn't try, the value of the option `unvisited`; 0
   * where illegal
   */
  readonly q: Float64Array;
  /** [R, K] visits, summed over trees */
  readonly visits: Int32Array;
  /** [R] mean over trees of the mean return of all simulations; of 0 simulations the critic's value */
  readonly values: Float64Array;
  /** [R] drawn from the policy at the option `temperature` */
  readonly actions: Int32Array;
}

/** The combined results of the trees of R roots. */
export function summarise(settings: SearchSettings, memory: SearchMemory): SearchResult {
  const { game, trees: T } = settings;
  const K = game.actions;
  const rows = memory.count / T;
  const result: SearchResult = {
    policy: new Float32Array(rows * K),
    q: new Float64Array(rows * K),
    visits: new Int32Array(rows * K),
    values: new Float64Array(rows),
    actions: new Int32Array(rows),
  };
  for (let tree = 0; tree < memory.count; tree++) addTree(settings, memory, tree, Math.floor(tree / T), result);
  for (let root = 0; root < rows; root++) {
    writePolicy(settings, memory, root, result);
    result.actions[root] = drawAction(settings, memory, root, result.policy);
  }
  return result;
}

/** Adds a tree's share to the means over the trees of its root. */
function addTree(
  { game, trees: T, unvisited }: SearchSettings,
  { trees }: SearchMemory,
  tree: number,
  root: number,
  { q, visits, values }: SearchResult,
): void {
  const K = game.actions;
  const node = trees.rootOf(tree);
  const untried = trees.worth(node, unvisited);
  let sum = 0;
  for (let k = 0; k < K; k++) {
    const edge = node * K + k;
    const count = trees.visits[edge];
    if (count === 0) {
      if (trees.priors[edge] >= 0) q[root * K + k] += untried / T;
      continue;
    }
    sum += trees.sums[edge];
    visits[root * K + k] += count;
    q[root * K + k] += trees.sums[edge] / count / T;
  }
  values[root] += (trees.totals[node] > 0 ? sum / trees.totals[node] : trees.values[node]) / T;
}

/** The weights of legal actions, made to sum to 1. */
function writePolicy(
  settings: SearchSettings,
  { trees }: SearchMemory,
  root: number,
  { policy, q, visits }: SearchResult,
): void {
  const { game, trees: T, rationality, simulations } = settings;
  const K = game.actions;
  const first = trees.rootOf(root * T) * K;
  let best = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < K; k++) if (trees.priors[first + k] >= 0) best = Math.max(best, q[root * K + k]);
  let sum = 0;
  for (let k = 0; k < K; k++) {
    const at = root * K + k;
    if (trees.priors[first + k] < 0) continue;
    if (simulations === 0) policy[at] = meanPrior(settings, trees, root, k);
    else policy[at] = settings.policy === 'visits' ? visits[at] : Math.exp(rationality * (q[at] - best));
    sum += policy[at];
  }
  for (let k = 0; k < K; k++) policy[root * K + k] /= sum;
}

function meanPrior(
  { game, trees: T }: SearchSettings,
  trees: SearchMemory['trees'],
  root: number,
  action: number,
): number {
  let sum = 0;
  for (let i = 0; i < T; i++) sum += trees.priors[trees.rootOf(root * T + i) * game.actions + action];
  return sum / T;
}

/** Draws in proportion to policy^(1 / temperature); the first of the best at temperature 0. */
function drawAction(
  { game, temperature }: SearchSettings,
  memory: SearchMemory,
  root: number,
  policy: Float32Array,
): number {
  const K = game.actions;
  const own = policy.subarray(root * K, (root + 1) * K);
  const best = own.indexOf(Math.max(...own));
  if (temperature === 0) return best;
  const weights = Float64Array.from(own, (p) => (p / own[best]) ** (1 / temperature));
  return drawIndex(weights, memory.actionGenerators[root]);
}
