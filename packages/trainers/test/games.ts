import type { Game } from '@coplay/core';

/** Options of {@link tinyGame}. */
interface TinyOptions {
  readonly agents?: number;
  readonly actions?: number;
  readonly maxSteps?: number;
  /** What an agent earns for an action; `first` is the cue that was shown in the first step only. */
  readonly reward: (agent: number, action: number, cue: number) => number;
  /** Ends every agent by the rules at the last step instead of the time limit. */
  readonly terminates?: boolean;
}

/**
 * A game for tests: in the first step everyone sees a random cue (one of two, as a one-hot), later nothing; rewards
 * are a function of agent, action and cue. State: step, cue.
 */
export function tinyGame({
  agents = 2,
  actions = 2,
  maxSteps = 4,
  reward,
  terminates = false,
}: TinyOptions): Game<'uint8'> {
  return {
    name: 'tiny',
    agents: Array.from({ length: agents }, (_, i) => `agent_${i}`),
    actions,
    actionNames: Array.from({ length: actions }, (_, k) => `action ${k}`),
    observation: { cue: { shape: [2], dtype: 'float32' } },
    stateType: 'uint8',
    stateSize: 2,
    maxSteps,
    infos: [],
    options: { agents, actions, maxSteps },
    reset: (state, offset, generator) => {
      state[offset] = 0;
      state[offset + 1] = generator.integer(2);
    },
    step: (state, offset, chosen, at, _generator, result, row) => {
      state[offset]++;
      const isLast = state[offset] === maxSteps;
      for (let i = 0; i < agents; i++) {
        result.rewards[row * agents + i] = reward(i, chosen[at + i], state[offset + 1]);
        result.terminated[row * agents + i] = isLast && terminates ? 1 : 0;
        result.truncated[row * agents + i] = isLast && !terminates ? 1 : 0;
      }
    },
    legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + actions),
    observe: (state, offset, _agent, out, row) => {
      out['cue'][row * 2] = 0;
      out['cue'][row * 2 + 1] = 0;
      if (state[offset] === 0) out['cue'][row * 2 + state[offset + 1]] = 1;
    },
    isActive: () => true,
    elapsed: (state, offset) => state[offset],
  };
}
