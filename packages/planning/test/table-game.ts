import type { Game, Generator } from '@coplay/core';

/** One place of a {@link tableGame}: for each joint action, in base K with agent 0 first, what follows. */
export interface Place {
  /** [K^A] the next place; -1 ends the game for everyone */
  readonly next: readonly number[];
  /** [K^A][A] */
  readonly rewards: readonly (readonly number[])[];
  /** [A][K] 1 where legal. Default: everything is */
  readonly legal?: readonly (readonly number[])[];
}

/** Options of {@link tableGame}. */
export interface TableOptions {
  readonly agents: number;
  readonly actions: number;
  readonly places: readonly Place[];
  readonly maxSteps?: number;
  /** Replaces what the table says comes next, by chance. */
  readonly chance?: (place: number, generator: Generator) => number;
}

const PLACE = 0;
const STEPS = 1;

/** A game written as a table, for tests: state [place, steps]; it begins at place 0. */
export function tableGame({ agents, actions, places, maxSteps = 1000, chance }: TableOptions): Game<'int32'> {
  return {
    name: 'table',
    agents: Array.from({ length: agents }, (_, i) => `agent_${i}`),
    actions,
    actionNames: Array.from({ length: actions }, (_, i) => `action_${i}`),
    observation: { place: { shape: [], dtype: 'int32' }, seat: { shape: [], dtype: 'int32' } },
    stateType: 'int32',
    stateSize: 2,
    maxSteps,
    infos: [],
    options: {},
    reset: (state, offset) => state.fill(0, offset, offset + 2),
    step(state, offset, chosen, from, generator, result, row) {
      const { next, rewards } = places[state[offset + PLACE]];
      let joint = 0;
      for (let i = 0; i < agents; i++) joint = joint * actions + chosen[from + i];
      const isOver = next[joint] < 0;
      result.rewards.set(rewards[joint], row * agents);
      const steps = ++state[offset + STEPS];
      state[offset + PLACE] = isOver ? places.length : (chance?.(next[joint], generator) ?? next[joint]);
      result.terminated.fill(isOver ? 1 : 0, row * agents, (row + 1) * agents);
      result.truncated.fill(!isOver && steps >= maxSteps ? 1 : 0, row * agents, (row + 1) * agents);
    },
    legal(state, offset, agent, mask, maskOffset) {
      const legal = places[state[offset + PLACE]]?.legal?.[agent];
      for (let k = 0; k < actions; k++) mask[maskOffset + k] = legal?.[k] ?? 1;
    },
    observe(state, offset, agent, out, row) {
      out['place'][row] = state[offset + PLACE];
      out['seat'][row] = agent;
    },
    isActive: (state, offset) => state[offset + PLACE] < places.length,
    elapsed: (state, offset) => state[offset + STEPS],
  };
}

/** A game of `depth` levels in which every joint action leads to a place of its own, with rewards in -1..1. */
export function randomTree(agents: number, actions: number, depth: number, generator: Generator): TableOptions {
  const joints = actions ** agents;
  const places: Place[] = [];
  const add = (level: number): number => {
    const index = places.length;
    const rewards = Array.from({ length: joints }, () =>
      Array.from({ length: agents }, () => Math.fround(2 * generator.uniform() - 1)),
    );
    const next = new Array<number>(joints).fill(-1);
    places.push({ next, rewards });
    if (level + 1 < depth) for (let joint = 0; joint < joints; joint++) next[joint] = add(level + 1);
    return index;
  };
  add(0);
  return { agents, actions, places };
}
