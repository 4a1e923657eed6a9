import type { Game } from '@coplay/core';

/** Options of {@link leavingGame}. */
export interface LeavingOptions {
  /** [A] the step after which each agent leaves for good; Infinity for never. Their number is A */
  readonly leaves: readonly number[];
  readonly maxSteps?: number;
  readonly actions?: number;
  /** What an agent earns in a step. Default: its index + the step / 10 */
  readonly reward?: (agent: number, step: number, action: number) => number;
  /** Legal actions of an agent that plays, in a step. Default: all */
  readonly legal?: (agent: number, step: number) => readonly number[];
  /** Legal actions of one that has left. Default: the first */
  readonly legalAfterwards?: readonly number[];
}

/** Entries of the observation. */
export const SELF = 0;
export const NONCE = 1;
const STEP = 2;
/** What an agent that has left sees in every entry. */
const GONE = -5;

/**
 * A game for tests, in which agents leave one after the other. Everyone sees its own index, a number that the episode
 * drew at its start, and the step / 10, so that no two rows of a batch look the same. State: step, number.
 */
export function leavingGame(options: LeavingOptions): Game<'float64'> {
  const { leaves, maxSteps = 7, actions = 3, legalAfterwards = [0] } = options;
  const reward = options.reward ?? ((agent, step) => agent + step / 10);
  const all = Array.from({ length: actions }, (_, k) => k);
  const legal = options.legal ?? (() => all);
  const isActive = (step: number, agent: number): boolean => step < leaves[agent];
  return {
    name: 'leaving',
    agents: leaves.map((_, i) => `agent_${i}`),
    actions,
    actionNames: all.map((k) => `action ${k}`),
    observation: { view: { shape: [3], dtype: 'float32' } },
    stateType: 'float64',
    stateSize: 2,
    maxSteps,
    infos: [],
    options: { leaves: leaves.map((step) => (Number.isFinite(step) ? step : null)), maxSteps, actions },
    reset: (state, offset, generator) => {
      state[offset] = 0;
      state[offset + 1] = generator.uniform();
    },
    step: (state, offset, chosen, at, _generator, result, row) => {
      const step = state[offset]++;
      for (let i = 0; i < leaves.length; i++) {
        const to = row * leaves.length + i;
        const hasLeft = !isActive(step + 1, i);
        result.rewards[to] = isActive(step, i) ? reward(i, step, chosen[at + i]) : 0;
        result.terminated[to] = hasLeft ? 1 : 0;
        result.truncated[to] = !hasLeft && step + 1 === maxSteps ? 1 : 0;
      }
    },
    legal: (state, offset, agent, mask, at) => {
      const step = state[offset];
      mask.fill(0, at, at + actions);
      for (const k of isActive(step, agent) ? legal(agent, step) : legalAfterwards) mask[at + k] = 1;
    },
    observe: (state, offset, agent, out, row) => {
      const isThere = isActive(state[offset], agent);
      out['view'][row * 3 + SELF] = isThere ? agent : GONE;
      out['view'][row * 3 + NONCE] = isThere ? state[offset + 1] : GONE;
      out['view'][row * 3 + STEP] = isThere ? state[offset] / 10 : GONE;
    },
    isActive: (state, offset, agent) => isActive(state[offset], agent),
    elapsed: (state, offset) => state[offset],
  };
}
