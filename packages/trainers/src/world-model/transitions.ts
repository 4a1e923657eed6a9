import type { Experience, NamedArrays } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkNumbers, checkObservations, type NumbersRange } from '@coplay/core/checks';
import { rowCount } from '@coplay/core/rows';
import type { WorldModel } from '@coplay/models';

/**
 * Refuses transitions that no game gives: rewards that aren't finite, actions and seats that the game doesn't have,
 * grid parts off the grid, and observations that don't fit their kinds. Columns that are absent aren't checked.
 *
 * @param where  the rows, for the message
 */
export function checkTransitions(where: string, model: WorldModel, rows: NamedArrays): void {
  const { game, data } = model;
  const check = (name: string, range: NumbersRange) => {
    if (Object.hasOwn(rows, name)) checkNumbers(where, name, rows[name].data, range);
  };
  check('rewards', {});
  const action = { min: -1, max: game.actions - 1, whole: true }; // -1 for agents that had left, and before an episode
  for (const name of ['actions', 'past/actions']) check(name, action);
  check('elapsed', { min: 0, max: game.maxSteps, whole: true });
  const flag = { min: 0, max: 1, whole: true };
  if (data === 'grid' && game.grid) {
    const cell = { min: 0, max: game.grid.rows * game.grid.columns, whole: true }; // H*W for agents that have left
    for (const name of ['cells', 'next/cells']) check(name, cell);
    for (const name of ['things', 'fixed', 'next/things']) check(name, flag);
    return;
  }
  for (const name of ['active', 'masks', 'next/masks', 'next/terminated']) check(name, flag);
  if (model.ownView) check('seat', { min: 0, max: game.agents.length - 1, whole: true });
  checkViews(where, model, rows);
}

/** The observations in the rows, [N, V, ...] and past ones [N, L, V, ...]. */
function checkViews(where: string, { game, source = game }: WorldModel, rows: NamedArrays): void {
  for (const [name, field] of Object.entries(source.observation)) {
    for (const column of [name, `next/${name}`, `past/${name}`].filter((each) => Object.hasOwn(rows, each))) {
      const { data } = rows[column];
      const views = data.length / sizeOf(field.shape);
      const each = views / rowCount(where, rows);
      const check = { spec: { [column]: field }, observations: { [column]: data }, rows: views };
      checkObservations(where, check, (view) => `transition ${Math.floor(view / each)}`);
    }
  }
}

/** Whether the L steps before a step e T + t, or those since its episode's beginning, are in the experience. */
export function hasWholePast({ isFirst, steps }: Experience, step: number, history: number): boolean {
  const t = step % steps;
  return t >= history || isFirst.subarray(step - t, step + 1).includes(1);
}
