import { type AgentId, type AgentInput, type Experience, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
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
  const [{ logProbs }, values] = await Promise.all([
    learner.policy.act(input, seat, state, extras),
    isValued ? valuesOf(learner, seat, input, extras) : undefined,
  ]);
  const policy = ndarray(logProbs.map(Math.exp), [input.rows, net.actions]);
  return { policy, ...(values && { values: ndarray(values) }) };
}

/** [B] the critic's, asked of an experience of one step in which only this seat saw anything. */
async function valuesOf(
  learner: PpoLearner,
  seat: number,
  input: AgentInput,
  extras: NamedArrays,
): Promise<Float32Array> {
  const { game } = learner.setup;
  const { rows } = input;
  const A = game.agents.length;
  const base = allocateExperience(game, rows, 1);
  const spread = (from: NDArray['data'], to: NDArray['data']) => {
    const size = from.length / rows;
    for (let row = 0; row < rows; row++) to.set(from.subarray(row * size, (row + 1) * size), (row * A + seat) * size);
  };
  for (const name of Object.keys(game.observation)) spread(input.observations[name], base.observations[name]);
  spread(input.masks, base.masks);
  base.previousActions.set(input.previousActions);
  const own = Object.entries(extras).map(([name, { data, shape }]) => {
    const all = new Float32Array(data.length * A);
    spread(data, all);
    return [name, ndarray(all, [rows, 1, A, ...shape.slice(1)])] as const;
  });
  const experience: Experience = { ...base, extras: Object.fromEntries(own) };
  const values = await learner.values(experience); // [E, 1, A]
  return Float32Array.from({ length: rows }, (_, row) => values[row * A + seat]);
}
