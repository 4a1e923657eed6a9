import type { Game, TypedArray } from '@coplay/core';
import { paddedCount, takeRows } from '@coplay/core/rows';
import { allocateRows, type CoPlayerRows, type LeafRows, observeRows, type RowObservations } from '@coplay/planning';

/** The views of seats in states, filled up to one of few numbers of rows. */
export interface StateViews extends RowObservations {
  /** n, of which the first ones were asked for */
  readonly rows: number;
  /** [n, A] -1 for nothing */
  readonly previousActions: Int32Array;
}

/** Fewer rows are filled up to so many: a few more cost less than another graph to compile. */
const MIN_ROWS = 32;

/** Views of states, in arrays that the next call uses again. */
export function stateViewer(game: Game): (rows: LeafRows) => StateViews {
  /** By padded number of rows. */
  const buffers = new Map<number, RowObservations>();
  return (rows) => {
    const count = Math.max(MIN_ROWS, paddedCount(rows.rows));
    if (!buffers.has(count)) buffers.set(count, allocateRows(game, count));
    const { observations, masks } = observeRows(game, rows, buffers.get(count));
    return { rows: count, observations, masks, previousActions: paddedActions(rows, count, game.agents.length) };
  };
}

function paddedActions({ rows, previousActions }: LeafRows, count: number, agents: number): Int32Array {
  const padded = new Int32Array(count * agents).fill(-1);
  if (previousActions) padded.set(previousActions.subarray(0, rows * agents));
  return padded;
}

/**
 * Predicts what the co-player in a seat does.
 *
 * @param goals  [n] -1 for unknown
 * @returns [n, K] log-probabilities
 */
export type SeatPrediction = (seat: number, views: StateViews, goals: Int32Array) => Promise<Float32Array>;

/**
 * The query of a search or of beliefs to the models of co-players: [n, K] log-probabilities.
 *
 * @param sharedBy  a co-player's seat, where one network that doesn't read the co-player's id predicts all of them:
 *                  they are evaluated in one call. Undefined: a call for each co-player
 */
export function coPlayerQuery(
  game: Game,
  predict: SeatPrediction,
  sharedBy: number | undefined,
): (rows: CoPlayerRows) => Promise<Float32Array> {
  // One for each co-player: all of them are evaluated at once.
  const viewers = game.agents.map(() => stateViewer(game));

  const predictSeat = (rows: CoPlayerRows, seat: number): Promise<Float32Array> => {
    const views = viewers[seat](rows);
    const goals = new Int32Array(views.rows).fill(-1);
    goals.set(rows.goals.subarray(0, rows.rows));
    return predict(seat, views, goals);
  };

  return async (rows) => {
    if (sharedBy !== undefined) return predictSeat(rows, sharedBy);
    const K = game.actions;
    const answer = new Float32Array(rows.rows * K);
    const predictions = bySeat(rows).map(async ([part, places]) => {
      const logProbs = await predictSeat(part, part.seats[0]);
      places.forEach((place, i) => {
        answer.set(logProbs.subarray(i * K, (i + 1) * K), place * K);
      });
    });
    await Promise.all(predictions);
    return answer;
  };
}

/** The rows of each seat apart, and their places among all. */
function bySeat(rows: CoPlayerRows): [CoPlayerRows, number[]][] {
  const places = new Map<number, number[]>();
  for (let row = 0; row < rows.rows; row++) {
    const seat = rows.seats[row];
    const own = places.get(seat);
    if (own) own.push(row);
    else places.set(seat, [row]);
  }
  return [...places.values()].map((own) => [someRows(rows, own), own]);
}

/** Some of the rows. */
function someRows({ rows, states, seats, players, goals, previousActions }: CoPlayerRows, places: readonly number[]) {
  const of = <Data extends TypedArray>(data: Data) => takeRows(data, places, data.length / rows);
  return {
    rows: places.length,
    states: of(states),
    seats: of(seats),
    players: of(players),
    goals: of(goals),
    ...(previousActions && { previousActions: of(previousActions) }),
  };
}
