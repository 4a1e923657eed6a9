import { checkOptions, type Game } from '@coplay/core';
import { z } from 'zod';
import { whole } from '../game';

/** Options of {@link catchGame}. */
export interface CatchOptions {
  /** Rows of the board, 2 to 100; an episode takes one step less. Default 10 */
  readonly rows?: number | undefined;
  /** Columns of the board, 1 to 100. Default 5 */
  readonly columns?: number | undefined;
}

const schema = z.object({ rows: whole(2, 100).default(10), columns: whole(1, 100).default(5) }).strict();

/** Layout of a state: the index of each field, relative to its offset. The ball's row is the number of steps done. */
const STEPS = 0;
const BALL = 1;
const PADDLE = 2;

/**
 * Catch of bsuite (Osband et al. 2020): a ball falls down its column, and a paddle on the bottom row tries to be there.
 * One agent; for checking learning code.
 *
 * Actions: 0 left, 1 stay, 2 right; at the border the paddle stays. Observation: `planes` uint8 [rows, columns, 1], 1
 * where the ball or the paddle is. Reward: 0, and in the last step 1 if the ball is caught, else -1. Any player who
 * ignores the ball earns -0.6 on average. Start: ball in a random column of the top row, paddle in the middle of the
 * bottom row. End: terminated when the ball has reached the bottom row, after rows - 1 steps (9).
 *
 * @throws CoplayError for unknown options
 */
export function catchGame(options: CatchOptions = {}): Game<'int32'> {
  const { rows, columns } = checkOptions('catchGame', schema, options);
  const maxSteps = rows - 1;
  const cells = rows * columns;
  return {
    name: 'catch',
    agents: ['agent_0'],
    actions: 3,
    actionNames: ['left', 'stay', 'right'],
    observation: {
      planes: { shape: [rows, columns, 1], dtype: 'uint8', kind: 'planes', channels: ['ball and paddle'] },
    },
    stateType: 'int32',
    stateSize: 3,
    maxSteps,
    infos: [],
    options: { rows, columns },
    observesState: true,
    reset: (state, offset, generator) => {
      state[offset + STEPS] = 0;
      state[offset + BALL] = generator.integer(columns);
      state[offset + PADDLE] = Math.floor(columns / 2);
    },
    step: (state, offset, actions, actionsOffset, _generator, result, row) => {
      const moved = state[offset + PADDLE] + actions[actionsOffset] - 1;
      const paddle = Math.max(0, Math.min(columns - 1, moved));
      const isLast = ++state[offset + STEPS] === maxSteps;
      state[offset + PADDLE] = paddle;
      result.rewards[row] = !isLast ? 0 : paddle === state[offset + BALL] ? 1 : -1;
      result.terminated[row] = isLast ? 1 : 0;
      result.truncated[row] = 0;
    },
    legal: (state, offset, _agent, mask, maskOffset) => {
      const isOver = state[offset + STEPS] === maxSteps;
      for (let action = 0; action < 3; action++) mask[maskOffset + action] = isOver && action !== 1 ? 0 : 1;
    },
    observe: (state, offset, _agent, out, row) => {
      const planes = out['planes'];
      const base = row * cells;
      planes.fill(0, base, base + cells);
      planes[base + state[offset + STEPS] * columns + state[offset + BALL]] = 1;
      planes[base + (rows - 1) * columns + state[offset + PADDLE]] = 1;
    },
    isActive: (state, offset) => state[offset + STEPS] < maxSteps,
    elapsed: (state, offset) => state[offset + STEPS],
    scene: (state, offset) => ({
      rows,
      columns,
      items: [
        { kind: 'ball', symbol: 'o', row: state[offset + STEPS], column: state[offset + BALL] },
        { kind: 'agent', symbol: '1', row: rows - 1, column: state[offset + PADDLE] },
      ],
    }),
  };
}
