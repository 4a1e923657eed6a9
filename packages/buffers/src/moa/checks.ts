import { checkArgument, fail, type NamedArrays, namedArrays, show } from '@coplay/core';
import { rowCount } from '@coplay/core/rows';

/** The columns that rows for a model of another agent need in addition to observations. */
const NEEDED = ['masks', 'previousActions', 'actions', 'goals', 'isFirst', 'terminated', 'active'];

/**
 * Refuses rows of steps after the agent left: where it can only stay, a model learns that it always stays (its recall
 * of every other action falls to 0).
 */
export function checkMoaRows(where: string, rows: NamedArrays): void {
  checkArgument(where, 'rows', namedArrays, rows);
  rowCount(where, rows);
  for (const name of NEEDED) {
    if (!rows[name]) fail(where, `a column ${name}`, show(rows), 'Make rows with moaRows(experience, seat).');
  }
  const { active, isFirst, terminated } = rows;
  const remedy = 'Leave out the steps after an agent left; moaRows(experience, seat) does.';
  for (let row = 0; row < active.data.length; row++) {
    const isAfterEnd = row > 0 && terminated.data[row - 1] === 1 && isFirst.data[row] === 0;
    if (active.data[row] === 1 && !isAfterEnd) continue;
    fail(where, 'steps in which the agent played', `a step after it had left, in row ${row}`, remedy);
  }
  if (active.data.length > 0 && isFirst.data[0] !== 1) {
    fail(where, 'whole episodes, the first row with isFirst 1', 'the rest of an episode', 'Push whole episodes.');
  }
}
