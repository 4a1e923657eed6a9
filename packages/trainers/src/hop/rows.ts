import { gatherRows } from '@coplay/buffers';
import { type Experience, fail, type NamedArrays, ndarray } from '@coplay/core';
import { experienceRows, type InputEncoder, prefixed } from '@coplay/models';
import { indicesOf, seatRows } from '../ppo/rows';

/** Extras of HOP's agents: what the search found, and what was believed. */
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
 * The steps in which a seat played as rows to learn from: `in/NAME` [N, ...], `mask` and `policy` [N, K], `returns` [N].
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
  return gatherRows(rows, indicesOf(seatRows(active, seat, A).data));
}

/** Rows [S B, 1, ...] as `replay.sample` draws them, as S minibatches [S, B, ...]. */
export function inMinibatches(rows: NamedArrays, minibatches: number): NamedArrays {
  return Object.fromEntries(
    Object.entries(rows).map(([name, { data, shape }]) => [
      name,
      ndarray(data, [minibatches, shape[0] / minibatches, ...shape.slice(2)]),
    ]),
  );
}
