import { checkOptions, type Game } from '@coplay/core';
import { z } from 'zod';
import { cellOfThing, createBoard, moveAgents, OVER, put, randomNeighbour, STREAK } from './board';
import { boardGame, standsOn } from './board-game';
import { boardOptions, checkBoard, type GymBoardOptions } from './options';

/** Options of {@link gymEscalation}; in brackets the names of the public environment. */
export interface GymEscalationOptions extends GymBoardOptions {
  /**
   * Punishment when the other agent breaks a streak: this times the streak's length (streak_break_punishment_factor).
   * Default 0.5
   */
  readonly breakPenalty?: number | undefined;
}

const schema = z.object({ ...boardOptions, breakPenalty: z.number().min(0).default(0.5) }).strict();

/** The only thing on the board. */
const MARK = 0;

/**
 * Escalation of Gym-Stag-Hunt (Nesterov-Rappoport 2022, after Peysakhovich and Lerer 2017): follow a mark together; the
 * longer it goes well, the more it hurts to be left alone.
 *
 * Actions: 0 left, 1 down, 2 right, 3 up; into the border nothing moves. Observation: `planes` uint8 [rows, columns, 3]
 * (self, other, mark), `time` float32 [1], `streak` float32 [1], its length. Step: both agents move. Both on the mark:
 * +1 each, the streak grows by 1 and the mark moves to a random neighbouring cell. Otherwise a streak of length T > 0
 * is broken: an agent that is on the mark alone loses T / 2, and the game ends. If both are off, neither agent is
 * punished. Without a streak nothing happens. Start: agents in the top corners, the mark on a random cell. End:
 * terminated when a streak is broken; truncated after 1,000 steps.
 *
 * @throws CoplayError for unknown options
 */
export function gymEscalation(options: GymEscalationOptions = {}): Game<'int32'> {
  const settings = checkOptions('gymEscalation', schema, options);
  const { rows, columns, maxSteps, breakPenalty } = settings;
  checkBoard('gymEscalation', rows, columns);
  const board = createBoard(rows, columns, [{ name: 'mark', symbol: 'M', count: 1 }], 1);
  return boardGame({
    name: 'gym-escalation',
    board,
    maxSteps,
    options: settings,
    showsStreak: true,
    start(state, offset, generator) {
      put(state, offset, 0, generator.integer(rows * columns), MARK);
    },
    play(state, offset, actions, actionsOffset, generator, rewards, at) {
      moveAgents(board, state, offset, actions, actionsOffset);
      const mark = cellOfThing(state, offset, 0);
      const first = standsOn(state, offset, 0, mark);
      const second = standsOn(state, offset, 1, mark);
      const streak = state[offset + STREAK];
      if (first && second) {
        rewards[at] = 1;
        rewards[at + 1] = 1;
        state[offset + STREAK] = streak + 1;
        put(state, offset, 0, randomNeighbour(board, mark, generator), MARK);
      } else if (streak > 0) {
        if (first) rewards[at] = -breakPenalty * streak;
        if (second) rewards[at + 1] = -breakPenalty * streak;
        state[offset + OVER] = 1;
      }
    },
  });
}
