import type { Game } from '@coplay/core';

/**
 * The game with some functions replaced; the others stay bound to it, so that a game may be an instance of a class too.
 */
export function changedGame(game: Game, changes: Partial<Game>): Game {
  return new Proxy(game, {
    get(target, name) {
      if (name in changes) return changes[name as keyof Game];
      const part: unknown = target[name as keyof Game];
      return typeof part === 'function' ? part.bind(target) : part;
    },
  });
}
