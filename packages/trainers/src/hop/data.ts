import { type Experience, fail, type Game, type NamedArrays, ndarray } from '@coplay/core';
import { gatherRows, nonZero, seatRows } from '@coplay/core/rows';
import { experienceRows, type InputEncoder, prefixed } from '@coplay/models';

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

/** The fields of {@link hopRows}, of no rows. */
export function noHopRows(game: Game, encoder: InputEncoder): NamedArrays {
  return {
    ...prefixed('in', encoder.allocate(0)),
    mask: ndarray(new Uint8Array(0), [0, game.actions]),
    policy: ndarray(new Float32Array(0), [0, game.actions]),
    returns: ndarray(new Float32Array(0)),
  };
}
