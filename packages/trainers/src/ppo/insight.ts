import { type ActionSpaces, type AgentId, type AgentInput, type NamedArrays, ndarray } from '@coplay/core';
import type { ActorCritic } from '@coplay/models';
import type { PpoLearner } from './learner';

/**
 * The insight of an agent whose policy PPO trains: its probabilities `policy` [B, K] (over a box `means` and `stds` [B,
 * w], of samples before they are clipped or squashed) and, where the critic reads one
 * agent's observation of one step, its value `values` [B]. The networks are run once more for it.
 *
 * @param state   [B, stateSize] the policy's recurrent state
 * @param extras  [B, ...] inputs of the policy in addition to the observation
 */
export async function ppoInsight(
  learner: PpoLearner,
  id: AgentId,
  input: AgentInput<ActionSpaces>,
  state: Float32Array,
  extras: NamedArrays,
): Promise<NamedArrays> {
  const { net, game, critic } = learner.setup;
  const seat = game.agents.indexOf(id);
  const isValued = net.stateSize === 0 && critic === 'own';
  const answer: { readonly policy: Float32Array; readonly values?: Float32Array } = isValued
    ? await learner.policyAndValues(input, seat, extras)
    : await learner.policy.act(input, seat, state, extras);
  const { policy, values } = answer;
  return { ...inWords(policy, input.rows, net), ...(values && { values: ndarray(values) }) };
}

function inWords(policy: Float32Array, rows: number, { actions, policySize }: ActorCritic): NamedArrays {
  if (actions > 0) return { policy: ndarray(policy.map(Math.exp), [rows, actions]) };
  const w = policySize / 2;
  const part = (start: number) => {
    return Float32Array.from({ length: rows * w }, (_, at) => policy[Math.floor(at / w) * 2 * w + start + (at % w)]);
  };
  return { means: ndarray(part(0), [rows, w]), stds: ndarray(part(w).map(Math.exp), [rows, w]) };
}
