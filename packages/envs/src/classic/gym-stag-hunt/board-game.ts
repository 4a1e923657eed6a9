import type { Game, Generator, ObservationSpec } from '@coplay/core';
import { ACTION_NAMES, AGENTS, type Board, clear, OVER, STEPS, STREAK, writePlanes } from './board';
import { readLayout, scene, writeLayout } from './layout';

/** What differs between the games of Gym-Stag-Hunt. */
export interface BoardRules {
  readonly name: string;
  readonly board: Board;
  readonly maxSteps: number;
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether agents see the length of the streak. */
  readonly showsStreak: boolean;
  /** Puts the things on the board; the agents are there already. */
  start(state: Int32Array, offset: number, generator: Generator): void;
  /** Plays a step: moves everyone, adds to `rewards[at]` and `rewards[at + 1]` (0 before), sets OVER. */
  play(
    state: Int32Array,
    offset: number,
    actions: Int32Array,
    actionsOffset: number,
    generator: Generator,
    rewards: Float32Array,
    at: number,
  ): void;
}

/** The game of two agents that these rules make. */
export function boardGame(rules: BoardRules): Game<'int32'> {
  const { name, board, maxSteps, options, showsStreak } = rules;
  return {
    name,
    agents: ['agent_0', 'agent_1'],
    actions: ACTION_NAMES.length,
    actionNames: ACTION_NAMES,
    observation: observationSpec(board, showsStreak),
    stateType: 'int32',
    stateSize: board.stateSize,
    maxSteps,
    infos: [],
    options,
    reset: (state, offset, generator) => {
      clear(board, state, offset);
      rules.start(state, offset, generator);
    },
    step: (state, offset, actions, actionsOffset, generator, { rewards, terminated, truncated }, row) => {
      rewards[row * 2] = 0;
      rewards[row * 2 + 1] = 0;
      const steps = ++state[offset + STEPS];
      if (state[offset + OVER] === 0) rules.play(state, offset, actions, actionsOffset, generator, rewards, row * 2);
      const isOver = state[offset + OVER];
      for (let at = row * 2; at < row * 2 + 2; at++) {
        terminated[at] = isOver;
        truncated[at] = steps >= maxSteps ? 1 - isOver : 0;
      }
    },
    // A move into the border is legal and leads nowhere. After the end one action is left.
    legal: (state, offset, _agent, mask, maskOffset) => {
      mask.fill(1 - state[offset + OVER], maskOffset, maskOffset + ACTION_NAMES.length);
      mask[maskOffset] = 1;
    },
    observe: (state, offset, agent, out, row) => {
      writePlanes(board, state, offset, agent, out, row);
      out['time'][row] = Math.min(1, state[offset + STEPS] / maxSteps);
      if (showsStreak) out['streak'][row] = state[offset + STREAK];
    },
    isActive: (state, offset) => state[offset + OVER] === 0,
    elapsed: (state, offset) => state[offset + STEPS],
    readLayout: (layout, state, offset) => readLayout(rules, layout, state, offset),
    writeLayout: (state, offset) => writeLayout(board, state, offset),
    scene: (state, offset) => scene(board, state, offset),
  };
}

function observationSpec({ grid, kinds }: Board, showsStreak: boolean): ObservationSpec {
  const channels = ['self', 'other', ...kinds.map((kind) => kind.name)];
  return {
    planes: { shape: [grid.rows, grid.columns, channels.length], dtype: 'uint8', kind: 'planes', channels },
    time: { shape: [1], dtype: 'float32', kind: 'vector', channels: ['elapsed'] },
    ...(showsStreak && {
      streak: { shape: [1], dtype: 'float32' as const, kind: 'vector' as const, channels: ['streak'] },
    }),
  };
}

/** 1 where an agent stands on a cell. */
export function standsOn(state: Int32Array, offset: number, agent: number, cell: number): boolean {
  return state[offset + AGENTS + agent] === cell;
}
