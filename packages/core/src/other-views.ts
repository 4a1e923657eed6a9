import { z } from 'zod';
import { allocate, sizeOf } from './arrays';
import { checkGame } from './check-game';
import { checkCount, checkNumber, checkNumbers } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { fail } from './errors';
import { allocateObservations } from './experience';
import type { Game } from './game';
import { allocateGrid } from './grid-parts';
import type { ObservationArrays } from './observations';

/**
 * Computes another agent's observation from one's own observation: for models of other agents, which read the other's
 * own view.
 *
 * @param observations  [B, ...] for each field, as seat `seat` saw them
 * @param rows          B
 * @returns [B, ...] for each field as seat `other` saw it, and [B, K] its legal actions
 * @throws CoplayError for a game whose observations don't show the whole state
 */
export function otherView(
  game: Game,
  observations: ObservationArrays,
  rows: number,
  seat: number,
  other: number,
): { observations: ObservationArrays; masks: Uint8Array } {
  checkGame('otherView', game, 'discrete', 'play');
  const { grid } = game;
  if (!grid) {
    const remedy = `Give models the observer's own view, or give the game grid parts ("Optional parts" in docs/writing-an-environment.md).`;
    fail('otherView', 'a game with grid parts', game.name, remedy);
  }
  const fields = Object.fromEntries(Object.keys(game.observation).map((name) => [name, typedArrays()]));
  checkArgument('otherView', 'observations', z.looseObject(fields), observations);
  checkCount('otherView', 'rows', rows);
  for (const [name, { shape }] of Object.entries(game.observation)) {
    const length = rows * sizeOf(shape);
    checkNumbers('otherView', `observations.${name}`, observations[name], { length, nan: true });
  }
  const seats = { min: 0, max: game.agents.length - 1, whole: true };
  checkNumber('otherView', 'seat', seat, seats);
  checkNumber('otherView', 'other', other, seats);
  const parts = allocateGrid(grid, game.agents.length, 1);
  const state = allocate(game.stateType, game.stateSize);
  const seen = allocateObservations(game.observation, rows);
  const masks = new Uint8Array(rows * game.actions);
  for (let row = 0; row < rows; row++) {
    grid.see(observations, row, seat, parts, 0);
    grid.write(parts, 0, state, 0);
    game.observe(state, 0, other, seen, row);
    game.legal(state, 0, other, masks, row * game.actions);
  }
  return { observations: seen, masks };
}
