import type { AgentId, Game } from '@coplay/core';

/** Options of {@link countingGame}. */
export interface CountingOptions {
  /** A. Default 2 */
  readonly agents?: number;
  /** The step, counted from 1, in which each agent leaves; 0 stays. Default: all stay */
  readonly leaves?: readonly number[];
  /** Default 4 */
  readonly maxSteps?: number;
}

/** State: steps done, a random number of this step, and 1 for each agent that has left. */
const STEPS = 0;
const NOISE = 1;
const LEFT = 2;

/**
 * A game for tests of the machinery. Everyone sees the step count, this step's random number (0..999) and who is there,
 * and earns its action plus the random number. The action `step % 3` is illegal, but may be taken all the same.
 */
export function countingGame(options: CountingOptions = {}): Game<'int32'> {
  const { agents = 2, maxSteps = 4 } = options;
  const leaves = options.leaves ?? new Array<number>(agents).fill(0);
  const ids: AgentId[] = Array.from({ length: agents }, (_, i) => `agent_${i}`);
  const hasLeft = (state: Int32Array, offset: number, agent: number) => state[offset + LEFT + agent] === 1;
  return {
    name: 'counting',
    agents: ids,
    actions: 3,
    actionNames: ['zero', 'one', 'two'],
    observation: {
      count: { shape: [1], dtype: 'int32' },
      noise: { shape: [], dtype: 'float32' },
      present: { shape: [agents], dtype: 'uint8' },
    },
    stateType: 'int32',
    stateSize: LEFT + agents,
    maxSteps,
    infos: ['illegal'],
    options: { agents, leaves, maxSteps },
    reset(state, offset, generator) {
      state.fill(0, offset, offset + LEFT + agents);
      state[offset + NOISE] = generator.integer(1000);
    },
    step(state, offset, actions, actionsOffset, generator, result, row) {
      const illegal = state[offset + STEPS] % 3;
      const now = ++state[offset + STEPS];
      const noise = generator.integer(1000);
      state[offset + NOISE] = noise;
      for (let i = 0; i < agents; i++) {
        const at = row * agents + i;
        const plays = !hasLeft(state, offset, i);
        const action = actions[actionsOffset + i];
        if (now === leaves[i]) state[offset + LEFT + i] = 1;
        result.rewards[at] = plays ? action + noise : 0;
        result.infos['illegal'][at] = plays && action === illegal ? 1 : 0;
        result.terminated[at] = state[offset + LEFT + i];
        result.truncated[at] = now === maxSteps && result.terminated[at] === 0 ? 1 : 0;
      }
    },
    legal(state, offset, agent, mask, maskOffset) {
      const illegal = state[offset + STEPS] % 3;
      const gone = hasLeft(state, offset, agent);
      for (let k = 0; k < 3; k++) mask[maskOffset + k] = (gone ? k === 0 : k !== illegal) ? 1 : 0;
    },
    observe(state, offset, _agent, out, row) {
      out['count'][row] = state[offset + STEPS];
      out['noise'][row] = state[offset + NOISE];
      for (let i = 0; i < agents; i++) out['present'][row * agents + i] = 1 - state[offset + LEFT + i];
    },
    isActive: (state, offset, agent) => !hasLeft(state, offset, agent),
    elapsed: (state, offset) => state[offset + STEPS],
    readLayout(layout, state, offset) {
      // Spoils the state before it refuses: a careless game, from which callers must be safe.
      state.fill(0, offset, offset + LEFT + agents);
      const noise = Number(layout);
      if (!Number.isInteger(noise)) throw new RangeError('countingGame: the layout is the first random number');
      state[offset + NOISE] = noise;
    },
    writeLayout: (state, offset) => String(state[offset + NOISE]),
  };
}
