import type { TypedArray } from '@coplay/core';
import { paddedCount, takeRows } from '@coplay/core/rows';
import { prefixed } from '@coplay/models/layers';
import {
  allocateRows,
  type CoPlayerRows,
  type FocalAnswer,
  type LeafRows,
  observeRows,
  type RowObservations,
  type SearchNetworks,
} from '@coplay/planning';
import type { HopLearner } from './learner';

/** The networks of one agent, as its search and its beliefs call them: states in, numbers out. */
export interface NetworkQueries extends Required<SearchNetworks> {
  /** @returns [n, K] log-probabilities */
  coPlayers(rows: CoPlayerRows): Promise<Float32Array>;
}

/** Fewer rows are filled up to so many: a few more cost less than another graph to compile. */
const MIN_ROWS = 32;

/** Arrays for observations, by padded number of rows. */
type ViewBuffers = Map<number, RowObservations>;

/**
 * Queries of the learner's network, and of the models that the agent in `seat` has of its co-players, with the present
 * parameters.
 */
export function networkQueries(learner: HopLearner, seat: number): NetworkQueries {
  const { game, encoder, isShared, net } = learner.setup;
  const own: ViewBuffers = new Map();
  // One for each co-player: all of them are evaluated at once.
  const others: ViewBuffers[] = game.agents.map(() => new Map());

  const look = (rows: LeafRows, buffers: ViewBuffers) => {
    const count = Math.max(MIN_ROWS, paddedCount(rows.rows));
    if (!buffers.has(count)) buffers.set(count, allocateRows(game, count));
    const { observations, masks } = observeRows(game, rows, buffers.get(count));
    return { rows: count, observations, masks, previousActions: paddedActions(rows, count, game.agents.length) };
  };

  const focal = async (rows: LeafRows): Promise<FocalAnswer> => {
    const seen = look(rows, own);
    const encoded = encoder.encode({ ...seen, seat, offset: 0, stride: 1, extras: {} });
    const { logits, values } = await learner.network.functions.act(prefixed('in', encoded));
    return { logits: logits.data as Float32Array, values: values.data as Float32Array };
  };

  const predict = (rows: CoPlayerRows, coPlayer: number): Promise<Float32Array> => {
    const seen = look(rows, others[coPlayer]);
    const goals = new Int32Array(seen.rows).fill(-1);
    goals.set(rows.goals.subarray(0, rows.rows));
    return learner.coPlayerModelsOf(seat).predict(game.agents[coPlayer], seen, goals);
  };

  const coPlayers = async (rows: CoPlayerRows): Promise<Float32Array> => {
    // One network for all co-players, which doesn't read the co-player's id.
    if (isShared) return predict(rows, (seat + 1) % game.agents.length);
    const answer = new Float32Array(rows.rows * net.actions);
    const predictions = bySeat(rows).map(async ([part, places]) => {
      const logProbs = await predict(part, part.seats[0]);
      places.forEach((place, i) => {
        answer.set(logProbs.subarray(i * net.actions, (i + 1) * net.actions), place * net.actions);
      });
    });
    await Promise.all(predictions);
    return answer;
  };

  return { focal, coPlayers };
}

function paddedActions({ rows, previousActions }: LeafRows, count: number, agents: number): Int32Array {
  const padded = new Int32Array(count * agents).fill(-1);
  if (previousActions) padded.set(previousActions.subarray(0, rows * agents));
  return padded;
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
