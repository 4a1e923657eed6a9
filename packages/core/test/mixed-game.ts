import { type AnyGame, box, multiDiscrete } from '@coplay/core';

/** Where the values of the last actions of each agent lie in the state: one, two and two of them. */
const PLACES = [0, 1, 3];
const WIDTHS = [1, 2, 2];
const STEPS = 5;
const SIZE = 6;
/** The step with which the walker leaves. */
export const LEAVES = 3;

/**
 * Three agents with a space of their own each: `walker` has three discrete actions, `arm` a box of two numbers, the
 * second without bounds, and `clerk` two choices of two and three options. In even steps the clerk's option 0 of the
 * second choice is illegal. The walker leaves with step 3; an episode has `maxSteps` steps, 5 by default.
 *
 * Rewards: walker 1 for action 1; arm -(x - 1/2)^2 - (y + 1)^2; clerk 1 for option 1 of the first choice, 1 for option
 * 2 of the second. The observation is the last action of all: five numbers, and the number of steps.
 */
export function mixedGame(maxSteps = 5): AnyGame<'float64'> {
  const hasLeft = (steps: number, agent: number) => agent === 0 && steps >= LEAVES;
  return {
    name: 'mixed-game',
    agents: ['walker', 'arm', 'clerk'],
    actions: {
      walker: 3,
      arm: box({ shape: [2], low: [-1, -Infinity], high: [1, Infinity] }),
      clerk: multiDiscrete([2, 3]),
    },
    actionNames: ['first', 'second'],
    observation: { last: { shape: [SIZE], dtype: 'float32', kind: 'vector' } },
    stateType: 'float64',
    stateSize: SIZE,
    maxSteps,
    infos: [],
    options: { maxSteps },
    reset: (state, offset) => {
      state.fill(0, offset, offset + SIZE);
    },
    step: (state, offset, actions, at, _generator, { rewards, terminated, truncated }, row) => {
      const before = state[offset + STEPS];
      const value = (agent: number, i: number) => actions[at + 2 * agent + i];
      for (let agent = 0; agent < 3; agent++) {
        const plays = !hasLeft(before, agent);
        for (let i = 0; i < WIDTHS[agent]; i++) state[offset + PLACES[agent] + i] = plays ? value(agent, i) : 0;
      }
      rewards[row * 3] = before < LEAVES && value(0, 0) === 1 ? 1 : 0;
      rewards[row * 3 + 1] = -((value(1, 0) - 0.5) ** 2) - (value(1, 1) + 1) ** 2;
      rewards[row * 3 + 2] = (value(2, 0) === 1 ? 1 : 0) + (value(2, 1) === 2 ? 1 : 0);
      const steps = ++state[offset + STEPS];
      for (let agent = 0; agent < 3; agent++) {
        terminated[row * 3 + agent] = hasLeft(steps, agent) ? 1 : 0;
        truncated[row * 3 + agent] = steps >= maxSteps && !hasLeft(steps, agent) ? 1 : 0;
      }
    },
    legal: (state, offset, agent, mask, at) => {
      const steps = state[offset + STEPS];
      if (agent === 0) for (let k = 0; k < 3; k++) mask[at + k] = k === 0 || !hasLeft(steps, 0) ? 1 : 0;
      if (agent !== 2) return;
      mask.fill(1, at, at + 5);
      if (steps % 2 === 0) mask[at + 2] = 0;
    },
    observe: (state, offset, _agent, out, row) => {
      for (let i = 0; i < SIZE; i++) out['last'][row * SIZE + i] = state[offset + i];
    },
    isActive: (state, offset, agent) => !hasLeft(state[offset + STEPS], agent),
    elapsed: (state, offset) => state[offset + STEPS],
  };
}
