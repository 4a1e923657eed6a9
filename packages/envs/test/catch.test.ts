import { assertGame, createGenerator, type Generator, parallelEnv } from '@coplay/core';
import { catchGame } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

/** A generator whose integers are all `value`: the ball starts in that column. */
function fixed(value: number): Generator {
  return { ...createGenerator(0), integer: () => value };
}

describe('catchGame', () => {
  it('keeps the contract', () => {
    assertGame(catchGame());
    assertGame(catchGame({ rows: 3, columns: 1 }));
  });

  it('pays in the ninth step, and shows ball and paddle', () => {
    const env = parallelEnv(catchGame(), { seed: 2 });
    const board = env.reset().observations['agent_0']['planes'];
    const ball = board.indexOf(1);
    expect(ball).toBeLessThan(5); // on the top row
    expect(board[9 * 5 + 2]).toBe(1); // row 9, column 2: the middle of the bottom row
    for (let t = 1; t <= 9; t++) {
      const paddle = t === 1 ? 2 : env.state()[2];
      const step = env.step({ agent_0: 1 + Math.sign(ball - paddle) });
      expect(step.rewards['agent_0']).toBe(t === 9 ? 1 : 0);
      expect(step.terminations['agent_0']).toBe(t === 9);
      if (t < 9) expect(step.observations['agent_0']['planes'][t * 5 + ball]).toBe(1);
    }
  });

  it('stops the paddle at the borders', () => {
    const env = parallelEnv(catchGame());
    for (const [action, column] of [
      [0, 0],
      [2, 4],
    ]) {
      env.reset();
      for (let t = 0; t < 8; t++) env.step({ agent_0: action });
      expect(env.state()[2]).toBe(column);
    }
  });

  // Brute force: all 3^9 ways to move, for each of the 5 balls. The ball doesn't depend on the moves, so that a player
  // that ignores it catches one in five: 0.2 * 1 + 0.8 * -1 = -0.6.
  it('pays -0.6 on average to one who ignores the ball', () => {
    const game = catchGame();
    const state = new Int32Array(3);
    const result = {
      rewards: new Float32Array(1),
      terminated: new Uint8Array(1),
      truncated: new Uint8Array(1),
      infos: {},
    };
    const action = new Int32Array(1);
    const generator = createGenerator(0);
    let sum = 0;
    for (let ball = 0; ball < 5; ball++) {
      for (let moves = 0; moves < 3 ** 9; moves++) {
        game.reset(state, 0, fixed(ball));
        for (let t = 0, rest = moves; t < 9; t++, rest = Math.floor(rest / 3)) {
          action[0] = rest % 3;
          game.step(state, 0, action, 0, generator, result, 0);
          sum += result.rewards[0];
        }
      }
    }
    expect(sum / (5 * 3 ** 9)).toBeCloseTo(-0.6, 12);
  });
});
