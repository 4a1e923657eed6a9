import { fail, show } from './errors';
import type { Game } from './game';

/**
 * Refuses what isn't a game at all, such as the function that makes one. What a game must keep is checked by
 * `gameContract`.
 *
 * @param where  the function that was given it, for the message
 */
export function checkGame(where: string, game: Game): void {
  if (typeof game === 'object' && game !== null && Array.isArray(game.agents) && typeof game.step === 'function')
    return;
  const remedy = typeof game === 'function' ? 'Call it.' : 'Give what stagHunt() or your own function returns.';
  fail(where, 'a game, such as stagHunt()', show(game), remedy);
}
