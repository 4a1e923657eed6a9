import { type AgentId, type AgentInput, type NamedArrays, ndarray } from '@coplay/core';
import type { PpoLearner } from './learner';

/**
 * The insight of an agent whose policy PPO trains: its probabilities `policy` [B, K] and, where the critic reads one
 * agent's observation of one step, its value `values` [B]. The networks are run once more for it.
 *
 * @param state   [B, stateSize] the policy's recurrent state
 * @param extras  [B, ...] inputs of the policy in addition to the observation
 */
export async function ppoInsight(
  learner: PpoLearner,
  id: AgentId,
  input: AgentInput,
  state: Float32Array,
  extras: NamedArrays,
): Promise<NamedArrays> {
  const { net, game, critic } = learner.setup;
  const seat = game.agents.indexOf(id);
  const isValued = net.stateSize === 0 && critic === 'own';
  const { logProbs, values }: { readonly logProbs: Float32Array; readonly values?: Float32Array } = isValued
    ? await learner.policyAndValues(input, seat, extras)
    : await learner.policy.act(input, seat, state, extras);
  const policy = ndarray(logProbs.map(Math.exp), [input.rows, net.actions]);
  return { policy, ...(values && { values: ndarray(values) }) };
}
