import type { Agent } from '@coplay/core';
import { isLearning, type PpoAgent, PpoLearner } from '@coplay/trainers';

/**
 * The agent as one whose policy `exportOnnx` can write: the policy is PPO's, also in algorithms that wrap PPO, and
 * needs only the agent's observation.
 *
 * @returns why there is none, for the others
 */
export function policyOf(agent: Agent): PpoAgent | string {
  if (!isLearning(agent)) return 'it is not a learned one';
  const { learner } = agent;
  const ppo = learner instanceof PpoLearner ? learner : (learner as { readonly ppo?: unknown }).ppo;
  if (!(ppo instanceof PpoLearner)) return 'it acts by more than a policy of PPO';
  const extras = Object.keys(ppo.setup.inputs.extras ?? {});
  if (extras.length > 0) return `its policy reads what another network tells it (${extras.join(', ')})`;
  return {
    id: agent.id,
    name: agent.name,
    learner: ppo,
    initialState: (rows) => agent.initialState(rows) as Float32Array,
    act: (input, state, generator) => agent.act(input, state, generator) as ReturnType<PpoAgent['act']>,
  };
}
