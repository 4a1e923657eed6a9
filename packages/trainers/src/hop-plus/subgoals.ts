import {
  allocateObservations,
  type Cuts,
  copyObservation,
  type Experience,
  type NamedArrays,
  type NDArray,
} from '@coplay/core';
import { putSeat, takeRows } from '@coplay/core/rows';
import type { OmgLearner, OwnView } from '../omg';
import { extraAt } from './starts';

/** Names under which an agent records its subgoals, and the memory with which it entered the step. */
export const SUBGOALS = 'subgoals';
export const MEMORY = 'subgoalMemory';

/** Rows of arrays [B, A, ...] as one seat sees them. */
function viewAt(
  experience: Experience,
  from: Pick<Experience | Cuts, 'observations' | 'previousActions'>,
  seat: number,
  rows: ArrayLike<number>,
  isFirst: Uint8Array,
): OwnView {
  const agents = experience.agents.length;
  const observations = allocateObservations(experience.observation, rows.length);
  for (let i = 0; i < rows.length; i++) {
    copyObservation(experience.observation, from.observations, rows[i] * agents + seat, observations, i);
  }
  const previousActions = takeRows(from.previousActions, rows, agents);
  return { rows: rows.length, observations, previousActions, isFirst };
}

/**
 * The subgoals that one seat would infer from its observations at the cuts of an experience.
 *
 * @returns [N, size] in the order of the cuts
 */
async function subgoalsAtCuts(omg: OmgLearner, experience: Experience, seat: number): Promise<Float32Array> {
  const { cuts, steps, agents, extras, isFirst } = experience;
  const rows = Int32Array.from(cuts.env, (env, n) => env * steps + cuts.step[n]);
  if (rows.length === 0) return new Float32Array(0);
  const entered = extraAt(extras[MEMORY], agents.length, seat, rows).map((x) => (Number.isNaN(x) ? 0 : x));
  const before = viewAt(experience, experience, seat, rows, takeRows(isFirst, rows, 1));
  const { state } = await omg.infer(before, entered);
  const places = Int32Array.from(cuts.env.keys());
  const after = viewAt(experience, cuts, seat, places, new Uint8Array(rows.length));
  return (await omg.infer(after, state)).subgoals;
}

/** The same experience with the subgoals at its cuts, for the seats that infer any: critics read them there. */
export async function withCutSubgoals(
  experience: Experience,
  seats: readonly number[],
  omgOf: (seat: number) => OmgLearner,
): Promise<Experience> {
  const agents = experience.agents.length;
  const count = experience.cuts.env.length;
  const size = omgOf(seats[0]).subgoalSize;
  const data = new Float32Array(count * agents * size);
  await Promise.all(
    seats.map(async (seat) => {
      putSeat(data, seat, agents, await subgoalsAtCuts(omgOf(seat), experience, seat), size);
    }),
  );
  const extras: NamedArrays = { ...experience.cuts.extras, [SUBGOALS]: { data, shape: [count, agents, size] } };
  return { ...experience, cuts: { ...experience.cuts, extras } };
}

/** The same experience with other subgoals [E, T, size] for one seat. */
export function withSubgoals(experience: Experience, seat: number, subgoals: Float32Array): Experience {
  const old = experience.extras[SUBGOALS] as NDArray<Float32Array>;
  const data = old.data.slice();
  putSeat(data, seat, experience.agents.length, subgoals, old.shape[3]);
  return { ...experience, extras: { ...experience.extras, [SUBGOALS]: { data, shape: old.shape } } };
}
