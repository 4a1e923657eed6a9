import { type Experience, fail, type Game, type NamedArrays, ndarray } from '@coplay/core';
import { checkNumbers } from '@coplay/core/checks';
import { checkRowSpec, gatherRows, nonZero, rowSpecOf, seatRows, takeRows } from '@coplay/core/rows';
import { cutRows, experienceRows, type InputEncoder, type RowSource } from '@coplay/models';
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

/** (A - 1) G, the numbers of an agent's beliefs that its network reads. */
export function beliefSize({ agents, goals }: Game): number {
  return (agents.length - 1) * (goals?.names.length ?? 0);
}

/**
 * An agent's beliefs as its network reads them: of the co-players only, in cyclic order from the seat on.
 *
 * @param beliefs  [N, A, G]
 * @returns [N, (A - 1) G]
 */
export function readBeliefs(beliefs: ArrayLike<number>, rows: number, seat: number, { agents }: Game): Float32Array {
  const A = agents.length;
  const G = beliefs.length / Math.max(1, rows * A);
  const read = new Float32Array(rows * (A - 1) * G);
  for (let row = 0, to = 0; row < rows; row++) {
    for (let i = 1; i < A; i++) {
      const from = (row * A + ((seat + i) % A)) * G;
      for (let goal = 0; goal < G; goal++) read[to++] = beliefs[from + goal];
    }
  }
  return read;
}

/**
 * Rows of an experience together with the beliefs that the agent had there.
 *
 * @param beliefs  [rows, A, G]
 */
function withBeliefs(source: RowSource, beliefs: ArrayLike<number>, game: Game): RowSource {
  const { rows, seat, offset, stride } = source;
  const size = beliefSize(game);
  const own = readBeliefs(beliefs, rows, seat, game); // [rows, size]
  const all = new Float32Array(rows * stride * size);
  for (let row = 0; row < rows; row++) {
    all.set(own.subarray(row * size, (row + 1) * size), (offset + row * stride) * size);
  }
  return { ...source, extras: { ...source.extras, [BELIEFS]: ndarray(all, [rows * stride, size]) } };
}

/** What the network of a seat reads in an experience. */
export interface SeatReading {
  readonly game: Game;
  readonly encoder: InputEncoder;
  /** Whether it reads the agent's beliefs. */
  readonly readsBeliefs: boolean;
}

/** A seat's inputs `NAME` [E T, ...] in all steps of an experience. */
function stepInputs(experience: Experience, seat: number, { game, encoder, readsBeliefs }: SeatReading): NamedArrays {
  const source = experienceRows(experience, seat);
  if (!readsBeliefs) return encoder.encode(source);
  return encoder.encode(withBeliefs(source, beliefsAt(experience, seat).data, game));
}

/** A seat's inputs `NAME` [N, ...] at the cuts of an experience; its beliefs are those in the step before. */
export function cutInputs(experience: Experience, seat: number, reading: SeatReading): NamedArrays {
  const { game, encoder, readsBeliefs } = reading;
  const source = cutRows(experience, seat);
  if (!readsBeliefs) return encoder.encode(source);
  const { env, step } = experience.cuts;
  const { data, shape } = beliefsAt(experience, seat);
  const rows = Array.from(env, (e, i) => e * experience.steps + step[i]);
  return encoder.encode(withBeliefs(source, takeRows(data, Int32Array.from(rows), shape[1]), game));
}

/** [E T, A G] */
function beliefsAt(experience: Experience, seat: number) {
  const A = experience.agents.length;
  const size = extraOf(experience, BELIEFS).length / experience.active.length;
  const { data } = seatRows(extraOf(experience, BELIEFS), seat, A, [size]);
  return ndarray(data as Float32Array, [experience.active.length / A, size]);
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
  reading: SeatReading,
  targets: Float32Array,
): NamedArrays {
  const { agents, actionCount, masks, active } = experience;
  const A = agents.length;
  const encoded = stepInputs(experience, seat, reading);
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
