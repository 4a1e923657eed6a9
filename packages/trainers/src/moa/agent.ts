import type { Agent, AgentId } from '@coplay/core';
import { sampleCategorical } from '@coplay/tensor';
import type { GoalChoice, MoaAgentState, MoaLearner } from './contract';

/** Plays a co-player's seat by the model of it. */
export function modelledAgent(
  learner: MoaLearner,
  coPlayer: AgentId,
  actions: number,
  stateSize: number,
  goalsOf: GoalChoice,
): Agent<MoaAgentState> {
  return {
    id: coPlayer,
    name: 'MOA',
    initialState: (rows) => ({ goals: new Int32Array(rows).fill(-1), memory: new Float32Array(rows * stateSize) }),
    async act(input, state, generator) {
      const goals = state.goals.slice();
      const memory = state.memory.slice();
      for (let row = 0; row < input.rows; row++) {
        if (input.isFirst[row] !== 1) continue;
        goals[row] = goalsOf(row, input, generator);
        memory.fill(0, row * stateSize, (row + 1) * stateSize);
      }
      const { logProbs, state: next } = await learner.step(coPlayer, { ...input, state: memory }, goals);
      return { actions: sampleCategorical(logProbs, input.rows, actions, generator), state: { goals, memory: next } };
    },
  };
}
