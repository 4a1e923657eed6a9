import type { DType, Game } from '@coplay/core';

/**
 * The same game with a mistake in it: every catch pays its worth divided by the number of hares that are left, which
 * may be 0.
 */
export function withEndlessRewards<State extends DType>(game: Game<State>): Game<State> {
  return {
    ...game,
    name: `${game.name}-endless`,
    step(state, offset, actions, actionsOffset, generator, result, row) {
      game.step(state, offset, actions, actionsOffset, generator, result, row);
      const left = game.scene?.(state, offset).items.filter(({ kind }) => kind === 'hare').length ?? 0;
      const width = game.agents.length;
      for (let i = row * width; i < (row + 1) * width; i++) {
        if (result.rewards[i] > 0) result.rewards[i] /= left;
      }
    },
  };
}
