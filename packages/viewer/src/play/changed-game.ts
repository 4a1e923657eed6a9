import type { ActionSpaces, DType, Game } from '@coplay/core';

/**
 * The game with some functions replaced; the others stay bound to it, so that a game may be an instance of a class too.
 */
export function changedGame<Spaces extends ActionSpaces>(
  game: Game<DType, Spaces>,
  changes: Partial<Game<DType, Spaces>>,
): Game<DType, Spaces> {
  return new Proxy(game, {
    get(target, name) {
      if (name in changes) return changes[name as keyof typeof game];
      const part: unknown = target[name as keyof typeof game];
      return typeof part === 'function' ? part.bind(target) : part;
    },
  });
}
