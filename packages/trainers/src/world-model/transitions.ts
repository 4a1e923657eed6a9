import type { NamedArrays } from '@coplay/core';
import { checkNumbers, type NumbersRange } from '@coplay/core/checks';
import type { WorldModel } from '@coplay/models';

/**
 * Refuses saved transitions that no game gives: rewards that aren't finite, actions that the game doesn't have, and
 * grid parts off the grid. Columns that are absent aren't checked.
 *
 * @param where  the rows, for the message
 */
export function checkTransitions(where: string, { game, data }: WorldModel, rows: NamedArrays): void {
  const check = (name: string, range: NumbersRange) => {
    if (Object.hasOwn(rows, name)) checkNumbers(where, name, rows[name].data, range);
  };
  check('rewards', {});
  check('actions', { min: -1, max: game.actions - 1, whole: true }); // -1 for agents that had left
  const flag = { min: 0, max: 1, whole: true };
  if (data !== 'grid' || !game.grid) {
    for (const name of ['active', 'next/terminated']) check(name, flag);
    return;
  }
  const cell = { min: 0, max: game.grid.rows * game.grid.columns, whole: true }; // H*W for agents that have left
  for (const name of ['cells', 'next/cells']) check(name, cell);
  for (const name of ['things', 'fixed', 'next/things']) check(name, flag);
  check('elapsed', { min: 0, max: game.maxSteps, whole: true });
}
