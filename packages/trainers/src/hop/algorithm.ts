/*
 * HOP (Huang et al., ICML 2024), top to bottom: the likelihoods that update beliefs over co-players' goals, the targets
 * of policy and value, the loss, the update and its metrics. The belief itself and the tree search are in
 * `@coplay/planning`: `beliefs/` and `search/`. Shapes: E environments, T steps, A agents, B rows, K actions, G goals.
 */
import {
  type ArrayOf,
  allocate,
  bootstrapValues,
  continuation,
  type DType,
  type Experience,
  type Game,
  type Generator,
  type Metrics,
  monteCarloReturns,
  type NamedArrays,
} from '@coplay/core';
import { within } from '@coplay/models/layers';
import { type CoPlayerRows, openGoals, type TreeSearch } from '@coplay/planning';
import { type Optimiser, type StepFunction, type TensorRecord, tf, valueAndGradients } from '@coplay/tensor';
import { categoricalEntropy, maskedLogProbs } from '@coplay/tensor/distributions';
import type { PolicyValueNet } from './net';
import type { ResolvedHopNumbers } from './options';

/** The previous step of B games, as an agent knows it in the present one. */
export interface PlayedStep {
  /** [B, S] before the step */
  readonly states: ArrayOf<DType>;
  /** [B, A] the actions of all agents in the step; -1 in rows that begin, and for agents that had left */
  readonly actions: Int32Array;
  /** [B, A] the actions of all agents in the step before it, for models that read them */
  readonly previousActions: Int32Array;
}

/**
 * Likelihoods of the co-players' actions under each goal, by the models of them: Pr(a | s, g) of intra-OM (Huang et al.
 * 2024, eq. 3). Goals that couldn't be reached any more aren't evaluated: their belief is 0 for any likelihood.
 *
 * @param coPlayers  the models: [n, K] log-probabilities
 * @returns [B, A, G]; 1 for the agent itself, where there was no action, and for goals that were not open
 */
export async function stepLikelihoods(
  game: Game,
  seat: number,
  goals: number,
  step: PlayedStep,
  coPlayers: (rows: CoPlayerRows) => Promise<Float32Array>,
): Promise<Float64Array> {
  const { actions } = step;
  const likelihoods = new Float64Array(actions.length * goals).fill(1);
  const places = unknownPlaces(game, seat, goals, step);
  if (places.length === 0) return likelihoods;
  const logProbs = await coPlayers(rowsAt(game, goals, step, places));
  places.forEach((place, row) => {
    likelihoods[place] = Math.exp(logProbs[row * game.actions + actions[Math.floor(place / goals)]]);
  });
  return likelihoods;
}

/** Places in [B, A, G]: of each co-player that took an action, the goals that were open. */
function unknownPlaces(game: Game, seat: number, goals: number, { states, actions }: PlayedStep): number[] {
  const places: number[] = [];
  const A = game.agents.length;
  const open = openGoals(game, states, actions.length / A);
  for (let at = 0; at < actions.length; at++) {
    if (at % A === seat || actions[at] < 0) continue;
    const from = Math.floor(at / A) * goals;
    for (let goal = 0; goal < goals; goal++) if (open[from + goal] === 1) places.push(at * goals + goal);
  }
  return places;
}

/** One row for each of the places [N], numbered (b A + a) G + g. */
function rowsAt(game: Game, goals: number, step: PlayedStep, places: readonly number[]): CoPlayerRows {
  const rows = places.length;
  const { stateSize: S, stateType } = game;
  const A = game.agents.length;
  const states = allocate(stateType, rows * S);
  const previousActions = new Int32Array(rows * A);
  const seats = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const at = Math.floor(places[row] / goals);
    const env = Math.floor(at / A);
    seats[row] = at % A;
    for (let i = 0; i < S; i++) states[row * S + i] = step.states[env * S + i];
    for (let i = 0; i < A; i++) previousActions[row * A + i] = step.previousActions[env * A + i];
  }
  const wanted = Int32Array.from(places, (place) => place % goals);
  return { rows, states, seats, players: seats, goals: wanted, previousActions };
}

/**
 * In a random fraction of rows, replaces beliefs by the uniform distribution over open goals (`uniformGoals`:
 * exploration, not in the paper).
 *
 * @param beliefs  [B, A, G] replaced; a goal is taken to be open where its belief isn't 0
 * @param generators  [B]
 * @param goals    G
 * @param chance   of each row, in [0, 1]
 */
export function replaceByUniform(
  beliefs: Float64Array,
  generators: readonly Generator[],
  goals: number,
  chance: number,
): void {
  const size = beliefs.length / generators.length;
  generators.forEach((generator, row) => {
    if (!(chance > 0) || generator.uniform() >= chance) return;
    for (let from = row * size; from < (row + 1) * size; from += goals) {
      const own = beliefs.subarray(from, from + goals);
      const open = own.reduce((count, belief) => count + (belief > 0 ? 1 : 0), 0);
      for (let goal = 0; goal < goals; goal++) own[goal] = own[goal] > 0 ? 1 / open : 0;
    }
  });
}

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
  return (state, inputs) => ({ outputs: net.apply(state.params, within(inputs, 'in')) });
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
  const { logits, values } = net.apply(params, within(inputs, 'in')); // [B, K], [B]
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
