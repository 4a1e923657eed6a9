/*
 * HOP (Huang et al., ICML 2024), top to bottom: the targets of policy and value, the loss, the update and its metrics.
 * The likelihoods that update beliefs over co-players' goals are in `training/goal-beliefs.ts`; the belief itself and
 * the tree search are in `@coplay/planning`: `beliefs/` and `search/`. Shapes: E environments, T steps, A agents, B
 * rows, K actions, G goals.
 */
import {
  bootstrapValues,
  continuation,
  type Experience,
  type Metrics,
  monteCarloReturns,
  type NamedArrays,
} from '@coplay/core';
import { within } from '@coplay/models/layers';
import type { TreeSearch } from '@coplay/planning';
import { type Optimiser, type StepFunction, type TensorRecord, tf, valueAndGradients } from '@coplay/tensor';
import { categoricalEntropy, maskedLogProbs } from '@coplay/tensor/distributions';
import type { PolicyValueNet } from './net';
import type { ResolvedHopNumbers } from './options';

/** Values that {@link valueTargets} bootstraps from. */
export interface TargetParts {
  /** [E, T, A] the value that the search found in each step; only read for `n-step` */
  readonly searchValues: Float32Array;
  /** [N, A] the network's value of the observation after each cut */
  readonly cutValues: Float32Array;
}

type TargetOptions = Pick<ResolvedHopNumbers, 'gamma' | 'valueTarget' | 'steps' | 'truncation'>;

/**
 * The value's targets z_t, each agent on its own steps until its last one, T - 1:
 *
 *   return   sum_k gamma^k r_{t+k}, with the network's value where a time limit cut the episode
 *   final    gamma^(T-1-t) sum_k r_k over the whole episode
 *   n-step   sum_{k<n} gamma^k r_{t+k} + gamma^n V_{t+n}, V that of the search; shorter at the end
 *
 * @param episodes  whole ones, each in a row [E, T, A]
 * @returns [E, T, A]; 0 where the agent was not active
 */
export function valueTargets(episodes: Experience, parts: TargetParts, options: TargetOptions): Float32Array {
  const { valueTarget, gamma, truncation, steps } = options;
  if (valueTarget === 'final') return finalTargets(episodes, episodeReturns(episodes), gamma);
  const nextValues = bootstrapValues(episodes, parts.searchValues, parts.cutValues, { truncation });
  if (valueTarget === 'return') return monteCarloReturns({ ...episodes, nextValues }, { gamma });
  return nStepReturns({ ...episodes, nextValues }, { gamma, steps });
}

/** [E, A] undiscounted. */
export function episodeReturns({ envs, steps, agents, rewards, active }: Experience): Float64Array {
  const A = agents.length;
  const returns = new Float64Array(envs * A);
  for (let row = 0; row < rewards.length; row++) {
    if (active[row] === 1) returns[Math.floor(row / (steps * A)) * A + (row % A)] += rewards[row];
  }
  return returns;
}

/** [E, T, A] an outcome [E, A] of each episode, discounted back from each agent's last step. */
export function finalTargets(
  { envs, steps, agents, active }: Experience,
  outcomes: ArrayLike<number>,
  gamma: number,
): Float32Array {
  const A = agents.length;
  const targets = new Float32Array(envs * steps * A);
  for (let e = 0; e < envs; e++) {
    for (let a = 0; a < A; a++) {
      let target = outcomes[e * A + a];
      for (let t = steps - 1; t >= 0; t--) {
        const row = (e * steps + t) * A + a;
        if (active[row] === 0) continue;
        targets[row] = target;
        target *= gamma;
      }
    }
  }
  return targets;
}

function nStepReturns(
  steps: Experience & { readonly nextValues: Float32Array },
  { gamma, steps: n }: { readonly gamma: number; readonly steps: number },
): Float32Array {
  const { rewards, nextValues, active } = steps;
  const A = steps.agents.length;
  const goesOn = continuation(steps);
  return rewards.map((_, start) => {
    if (active[start] === 0) return 0;
    let sum = 0;
    let factor = 1;
    for (let row = start, k = 1; ; row += A, k++) {
      sum += factor * rewards[row];
      factor *= gamma;
      if (k === n || goesOn[row] === 0) return sum + factor * nextValues[row];
    }
  });
}

/**
 * Inputs of one minibatch: `in/NAME` [B, ...], `mask` [B, K], `policy` [B, K], `returns` [B]; shared: `learningRate`
 * [].
 */
export type HopUpdateInputs = {
  readonly each: TensorRecord;
  readonly shared: TensorRecord;
};

/** Prior and value of B rows: inputs `in/NAME` [B, ...]; outputs `logits` [B, K], `values` [B]. */
export function hopForward(net: PolicyValueNet): StepFunction<'params'> {
  return (state, inputs) => ({ outputs: net.apply(state.params, within('in', inputs)) });
}

/**
 * HOP's loss (Huang et al. 2024): cross-entropy of the policy with the search's policy, and the value's squared error,
 *
 *   L = mean(-sum_a pi(a) log p(a)) + w mean((v - z)^2)
 *
 * @param policy   [B, K] pi, 0 where illegal
 * @param returns  [B] z
 * @param weight   w
 */
export function hopLoss(
  net: PolicyValueNet,
  params: TensorRecord,
  inputs: TensorRecord,
  weight: number,
): { loss: tf.Scalar; metrics: Record<'policyLoss' | 'valueLoss' | 'entropy' | 'targetEntropy', tf.Scalar> } {
  const { logits, values } = net.apply(params, within('in', inputs)); // [B, K], [B]
  const mask = inputs['mask'] as tf.Tensor2D; // [B, K]
  const logProbs = maskedLogProbs(logits, mask) as tf.Tensor2D; // [B, K]
  const target = inputs['policy'] as tf.Tensor2D; // [B, K]
  const policyLoss = tf.neg(tf.mean(tf.sum(tf.mul(target, logProbs), 1))) as tf.Scalar;
  const valueLoss = tf.mean(tf.squaredDifference(values, inputs['returns'])) as tf.Scalar;
  const logTarget = tf.log(tf.maximum(target, 1e-12)); // 0 log 0 = 0
  return {
    loss: tf.add(policyLoss, tf.mul(weight, valueLoss)) as tf.Scalar,
    metrics: {
      policyLoss,
      valueLoss,
      entropy: tf.mean(categoricalEntropy(logProbs, mask)) as tf.Scalar,
      targetEntropy: tf.neg(tf.mean(tf.sum(tf.mul(target, logTarget), 1))) as tf.Scalar,
    },
  };
}

/** One gradient step of {@link hopLoss} on a minibatch. */
export function hopUpdate(
  net: PolicyValueNet,
  optimiser: Optimiser,
  weight: number,
): StepFunction<'params' | 'slots', HopUpdateInputs> {
  return (state, { each, shared }) => {
    const { loss, gradients, metrics } = valueAndGradients(
      (params) => hopLoss(net, params, each, weight),
      state.params,
    );
    const learningRate = shared['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, learningRate);
    return { state: { params, slots }, outputs: { loss, gradientNorm, ...metrics } };
  };
}

/** Names of an update's outputs, and the metric that each becomes. */
const TRAINING_METRICS: Readonly<Record<string, string>> = {
  policyLoss: 'hop/policy_loss',
  valueLoss: 'hop/value_loss',
  entropy: 'hop/entropy',
  targetEntropy: 'hop/target_entropy',
  gradientNorm: 'hop/gradient_norm',
};

/** Means over the minibatches [S] of an update. */
export function trainingMetrics(outputs: NamedArrays): Metrics {
  const metrics: Metrics = { 'hop/steps': outputs['loss'].data.length };
  for (const [name, key] of Object.entries(TRAINING_METRICS)) {
    const { data } = outputs[name];
    metrics[key] = (data as Float32Array).reduce((sum, value) => sum + value, 0) / data.length;
  }
  return metrics;
}

/** Counters of searches since the last call. */
export function searchMetrics(searches: { readonly search: TreeSearch; counts: TreeSearch['counts'] }[]): Metrics {
  const sums = { simulations: 0, requests: 0, rows: 0 };
  for (const one of searches) {
    const { counts } = one.search;
    sums.simulations += counts.simulations - one.counts.simulations;
    sums.requests +=
      counts.focalRequests + counts.coPlayerRequests - one.counts.focalRequests - one.counts.coPlayerRequests;
    sums.rows +=
      counts.focalEvaluated + counts.coPlayerEvaluated - one.counts.focalEvaluated - one.counts.coPlayerEvaluated;
    one.counts = { ...counts };
  }
  return {
    'hop/simulations': sums.simulations,
    'hop/network_rows': sums.rows,
    ...(sums.requests > 0 && { 'hop/shared_answers': 1 - sums.rows / sums.requests }),
  };
}
