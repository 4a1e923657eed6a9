import type { Game } from '@coplay/core';

/**
 * A game whose observation is its step count: an observation tells when it was made. State: step, and a number drawn at
 * the start. Agent i earns `rewards[i]` each step and ends by the rules after `ends[i]` steps, if that is given.
 */
export function clockGame(options: {
  readonly maxSteps?: number;
  readonly agents?: number;
  readonly ends?: readonly (number | undefined)[];
  readonly rewards?: readonly number[];
}): Game<'int32'> {
  const { maxSteps = 4, agents = 1, ends = [], rewards = [] } = options;
  const endOf = (agent: number) => ends[agent] ?? Infinity;
  return {
    name: 'clock',
    agents: Array.from({ length: agents }, (_, i) => `agent_${i}`),
    actions: 2,
    actionNames: ['left', 'right'],
    observation: { step: { shape: [], dtype: 'int32' }, drawn: { shape: [], dtype: 'int32' } },
    stateType: 'int32',
    stateSize: 2,
    maxSteps,
    infos: ['played'],
    options: {},
    reset: (state, offset, generator) => {
      state[offset] = 0;
      state[offset + 1] = generator.integer(1_000_000);
    },
    step: (state, offset, _actions, _at, _generator, result, row) => {
      const before = state[offset]++;
      for (let i = 0; i < agents; i++) {
        const at = row * agents + i;
        const played = before < endOf(i);
        result.rewards[at] = played ? (rewards[i] ?? 1) : 0;
        result.infos['played'][at] = played ? 1 : 0;
        result.terminated[at] = state[offset] >= endOf(i) ? 1 : 0;
        result.truncated[at] = state[offset] === maxSteps && state[offset] < endOf(i) ? 1 : 0;
      }
    },
    legal: (state, offset, agent, mask, at) => {
      mask[at] = 1;
      mask[at + 1] = state[offset] < endOf(agent) ? 1 : 0;
    },
    observe: (state, offset, _agent, out, row) => {
      out['step'][row] = state[offset];
      out['drawn'][row] = state[offset + 1];
    },
    isActive: (state, offset, agent) => state[offset] < endOf(agent),
    elapsed: (state, offset) => state[offset],
  };
}
