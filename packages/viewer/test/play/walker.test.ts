import { allocate } from '@coplay/core';
import { matrixGame, snowdrift, stagHunt } from '@coplay/envs';
import { goalWalker } from '@coplay/viewer';
import { describe, expect, it } from 'vitest';

const [DOWN, RIGHT, STAY, SHOVEL] = [1, 3, 4, 5];
/** What an action weighs that costs 0, 1, 2 steps. */
const [W0, W1, W2] = [1, Math.exp(-2), Math.exp(-4)];

function likelihoods(game: ReturnType<typeof stagHunt>, layout: unknown, actions: readonly number[]) {
  const state = allocate('int32', game.stateSize);
  game.readLayout!(layout, state, 0);
  return goalWalker(game)!.likelihoods(state, actions);
}

describe('goalWalker', () => {
  it('walks around obstacles', () => {
    const game = stagHunt({ size: 3, agents: 1, stags: 1, hares: 0, obstaclePieces: 1 });
    // Right is blocked; the way to the stag is down, 6 steps. Legal: down and staying.
    const map = '1#S\n.#.\n...';
    expect(likelihoods(game, map, [DOWN])[0]).toBeCloseTo(W0 / (W0 + W1), 12);
    expect(likelihoods(game, map, [STAY])[0]).toBeCloseTo(W1 / (W0 + W1), 12);
  });

  it('takes all actions with equal probability where its goal cannot be reached, and has no row for agents that have left', () => {
    const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 0 });
    const places = {
      agents: [[0, 0], null],
      stags: [[2, 2]],
      obstacles: [
        [1, 2],
        [2, 1],
      ],
    };
    const found = likelihoods(game, places, [RIGHT, -1]);
    expect(found[0]).toBeCloseTo(1 / 3, 12); // down, right, stay
    expect([...found.subarray(1)]).toEqual([1, 1, 1]); // no hares: that goal isn't open
  });

  it('takes each drift for a goal, and who will not shovel for somebody who strolls', () => {
    const game = snowdrift({ size: 3, agents: 1, drifts: 1 });
    const walking = likelihoods(game, '1.d\n...\n...', [RIGHT]);
    expect(walking[2]).toBeCloseTo(W0 / (W0 + W1 + W2), 12); // right, stay, down
    expect(walking[9]).toBeCloseTo(1 / 3, 12);
    expect(walking.filter((_, goal) => goal !== 2 && goal !== 9)).toEqual(new Float64Array(8).fill(1));
    // On the drift: shovelling costs nothing to who is after it, and two steps to who isn't.
    const standing = likelihoods(game, { agents: [[0, 2]], drifts: [[0, 2]] }, [SHOVEL]);
    expect(standing[2]).toBeCloseTo(W0 / (W0 + W1 + 2 * W2), 12); // shovel, stay, down and left
    expect(standing[9]).toBeCloseTo(W2 / (3 * W0 + W2), 12);
  });

  it('is none for games without a grid that all can see', () => {
    expect(goalWalker(matrixGame({ kind: 'stag-hunt' }))).toBeUndefined();
    expect(goalWalker(stagHunt({ viewRadius: 2 }))).toBeUndefined();
  });
});
