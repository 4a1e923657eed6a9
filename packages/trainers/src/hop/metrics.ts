import type { Metrics, NamedArrays } from '@coplay/core';
import type { TreeSearch } from '@coplay/planning';

const NAMES: Readonly<Record<string, string>> = {
  policyLoss: 'hop/policy_loss',
  valueLoss: 'hop/value_loss',
  entropy: 'hop/entropy',
  targetEntropy: 'hop/target_entropy',
  gradientNorm: 'hop/gradient_norm',
};

/** Means over the minibatches [S] of an update. */
export function trainingMetrics(outputs: NamedArrays): Metrics {
  const metrics: Metrics = { 'hop/steps': outputs['loss'].data.length };
  for (const [name, key] of Object.entries(NAMES)) {
    const { data } = outputs[name];
    metrics[key] = (data as Float32Array).reduce((sum, value) => sum + value, 0) / data.length;
  }
  return metrics;
}

/** What searches did since this was asked last. */
export function searchMetrics(searches: { readonly search: TreeSearch; counts: TreeSearch['counts'] }[]): Metrics {
  const sums = { simulations: 0, asked: 0, rows: 0 };
  for (const one of searches) {
    const { counts } = one.search;
    sums.simulations += counts.simulations - one.counts.simulations;
    sums.asked +=
      counts.focalRequests + counts.coPlayerRequests - one.counts.focalRequests - one.counts.coPlayerRequests;
    sums.rows +=
      counts.focalEvaluated + counts.coPlayerEvaluated - one.counts.focalEvaluated - one.counts.coPlayerEvaluated;
    one.counts = { ...counts };
  }
  return {
    'hop/simulations': sums.simulations,
    'hop/network_rows': sums.rows,
    ...(sums.asked > 0 && { 'hop/shared_answers': 1 - sums.rows / sums.asked }),
  };
}
