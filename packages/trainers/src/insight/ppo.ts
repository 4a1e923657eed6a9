import {
  type AgentId,
  type AgentInput,
  allocateExperience,
  type Experience,
  type NamedArrays,
  type NDArray,
  ndarray,
} from '@coplay/core';
import { SUBGOALS } from '../hop-plus';
import type { PpoLearner } from '../ppo';
import type { Insight } from './with-insight';

/** Probabilities and, where the critic can be asked, the value of what is seen, by a second look of the networks. */
export function ppoInsight(learner: PpoLearner, id: AgentId): Insight {
  const { net, game, critic } = learner.setup;
  const seat = game.agents.indexOf(id);
  const isValued = net.stateSize === 0 && critic === 'own';
  return async (input, state, { extras = {} }) => {
    const seen: NamedArrays = extras[SUBGOALS] ? { [SUBGOALS]: extras[SUBGOALS] } : {};
    // The policy inside of HOP+ is feedforward: the state there is of the inference.
    const memory = net.stateSize > 0 ? (state as Float32Array) : new Float32Array(0);
    const [{ logProbs }, values] = await Promise.all([
      learner.ready().policy.act(input, seat, memory, seen),
      isValued ? valuesOf(learner, seat, input, seen) : undefined,
    ]);
    const policy = ndarray(logProbs.map(Math.exp), [input.rows, net.actions]);
    return { policy, ...(values && { values: ndarray(values) }) };
  };
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
