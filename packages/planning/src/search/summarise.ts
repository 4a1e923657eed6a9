import { drawIndex } from '@coplay/core/rows';
import type { SearchSettings } from './options';
import type { SearchResult } from './result';
import type { Trees } from './trees';

/** The combined results of the trees of R roots. */
export function summarise(settings: SearchSettings, trees: Trees): SearchResult {
  const { game, trees: T } = settings;
  const K = game.actions;
  const rows = trees.count / T;
  const result: SearchResult = {
    policy: new Float32Array(rows * K),
    q: new Float64Array(rows * K),
    visits: new Int32Array(rows * K),
    values: new Float64Array(rows),
    actions: new Int32Array(rows),
  };
  for (let tree = 0; tree < trees.count; tree++) addTree(settings, trees, tree, Math.floor(tree / T), result);
  for (let root = 0; root < rows; root++) {
    writePolicy(settings, trees, root, result);
    result.actions[root] = drawAction(settings, trees, root, result.policy);
  }
  return result;
}

/** Adds a tree's share to the means over the trees of its root. */
function addTree(
  { game, trees: T, unvisited }: SearchSettings,
  { forest }: Trees,
  tree: number,
  root: number,
  { q, visits, values }: SearchResult,
): void {
  const K = game.actions;
  const node = forest.rootOf(tree);
  const untried = forest.worth(node, unvisited);
  let sum = 0;
  for (let k = 0; k < K; k++) {
    const edge = node * K + k;
    const count = forest.visits[edge];
    if (count === 0) {
      if (forest.priors[edge] >= 0) q[root * K + k] += untried / T;
      continue;
    }
    sum += forest.sums[edge];
    visits[root * K + k] += count;
    q[root * K + k] += forest.sums[edge] / count / T;
  }
  values[root] += (forest.totals[node] > 0 ? sum / forest.totals[node] : forest.values[node]) / T;
}

/** The weights of legal actions, made to sum to 1. */
function writePolicy(
  settings: SearchSettings,
  { forest }: Trees,
  root: number,
  { policy, q, visits }: SearchResult,
): void {
  const { game, trees: T, rationality, simulations } = settings;
  const K = game.actions;
  const first = forest.rootOf(root * T) * K;
  let best = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < K; k++) if (forest.priors[first + k] >= 0) best = Math.max(best, q[root * K + k]);
  let sum = 0;
  for (let k = 0; k < K; k++) {
    const at = root * K + k;
    if (forest.priors[first + k] < 0) continue;
    if (simulations === 0) policy[at] = meanPrior(settings, forest, root, k);
    else policy[at] = settings.policy === 'visits' ? visits[at] : Math.exp(rationality * (q[at] - best));
    sum += policy[at];
  }
  for (let k = 0; k < K; k++) policy[root * K + k] /= sum;
}

function meanPrior({ game, trees: T }: SearchSettings, forest: Trees['forest'], root: number, action: number): number {
  let sum = 0;
  for (let i = 0; i < T; i++) sum += forest.priors[forest.rootOf(root * T + i) * game.actions + action];
  return sum / T;
}

/** Draws in proportion to policy^(1 / temperature); the first of the best at temperature 0. */
function drawAction({ game, temperature }: SearchSettings, trees: Trees, root: number, policy: Float32Array): number {
  const K = game.actions;
  const own = policy.subarray(root * K, (root + 1) * K);
  const best = own.indexOf(Math.max(...own));
  if (temperature === 0) return best;
  const weights = Float64Array.from(own, (p) => (p / own[best]) ** (1 / temperature));
  return drawIndex(weights, trees.actionGenerators[root]);
}
