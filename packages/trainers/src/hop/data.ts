import { type Experience, fail, type Game, type NamedArrays, ndarray } from '@coplay/core';
import { checkNumbers } from '@coplay/core/checks';
import { checkRowSpec, gatherRows, nonZero, rowSpecOf, seatRows } from '@coplay/core/rows';
import { experienceRows, type InputEncoder } from '@coplay/models';
import { prefixed } from '@coplay/models/layers';

/** Extras of HOP's agents: the search results, and the beliefs. */
export const SEARCH_POLICY = 'searchPolicy';
export const SEARCH_VALUES = 'searchValues';
export const BELIEFS = 'beliefs';

/** An extra of an experience. @throws CoplayError where there is none */
export function extraOf(experience: Experience, name: string): Float32Array {
  const extra = experience.extras[name];
  const remedy = 'Collect it with the agent of this learner.';
  return (extra ?? fail('HOP: update', `experience with the extra ${name}`, 'none', remedy)).data as Float32Array;
}

/**
 * The steps in which a seat played as rows to learn from: `in/NAME` [N, ...], `mask` and `policy` [N, K], `returns`
 * [N].
 *
 * @param targets  [E, T, A]
 */
export function hopRows(
  experience: Experience,
  seat: number,
  encoder: InputEncoder,
  targets: Float32Array,
): NamedArrays {
  const { agents, actionCount, masks, active } = experience;
  const A = agents.length;
  const encoded = encoder.encode(experienceRows(experience, seat));
  const rows: NamedArrays = {
    ...prefixed('in', encoded),
    mask: seatRows(masks, seat, A, [actionCount]),
    policy: seatRows(extraOf(experience, SEARCH_POLICY), seat, A, [actionCount]),
    returns: seatRows(targets, seat, A),
  };
  return gatherRows(rows, nonZero(seatRows(active, seat, A).data));
}

/** Rounding that the sum of a recorded policy may show. */
const TOLERANCE = 1e-3;

/**
 * Refuses rows that {@link hopRows} wouldn't make: of other fields, or with numbers that aren't finite, masks other
 * than 0 and 1, or policies that aren't distributions. One such row could make the parameters NaN in a later update.
 *
 * @param where  the function whose argument has them, for messages
 * @param path   of the rows in the argument
 */
export function checkHopRows(
  where: string,
  path: string,
  rows: NamedArrays,
  { game, encoder }: { readonly game: Game; readonly encoder: InputEncoder },
): void {
  checkRowSpec(`${where}: ${path}`, rowSpecOf(emptyRows(game, encoder)), rows);
  for (const [name, { data }] of Object.entries(rows)) checkNumbers(where, `${path}.${name}`, data, rangeOf(name));
  const { data: policy, shape } = rows['policy'];
  const K = game.actions;
  for (let row = 0; row < shape[0]; row++) {
    let sum = 0;
    for (let k = 0; k < K; k++) sum += policy[row * K + k];
    if (Math.abs(sum - 1) <= TOLERANCE) continue;
    const expected = `numbers that sum to 1 in row ${row}`;
    fail(`${where}: ${path}.policy`, expected, `a sum of ${sum}`, 'Give what state() returned.');
  }
}

function rangeOf(column: string) {
  if (column === 'mask') return { min: 0, max: 1, whole: true };
  return column === 'policy' ? { min: 0, max: 1 } : {};
}

/** The fields of {@link hopRows}, of no rows. */
function emptyRows(game: Game, encoder: InputEncoder): NamedArrays {
  return {
    ...prefixed('in', encoder.allocate(0)),
    mask: ndarray(new Uint8Array(0), [0, game.actions]),
    policy: ndarray(new Float32Array(0), [0, game.actions]),
    returns: ndarray(new Float32Array(0)),
  };
}
