/*
 * The replay: experience becomes records, a stream for each agent of each environment. Shapes: A agents, R records of a
 * piece.
 */
import { createSequenceReplay, type SequenceReplay, type SequenceSample } from '@coplay/buffers';
import { type Records, streamRecords } from '@coplay/buffers/records';
import {
  type Experience,
  fail,
  type NamedArrays,
  type NDArray,
  ndarray,
  type Saved,
  type SavedState,
} from '@coplay/core';
import { checkRowSpec, rowSpecOf, seatRows, sliceRows } from '@coplay/core/rows';
import type { RowSource } from '@coplay/models';
import type { DreamerSetup } from './setup';

/** The part of a sequence replay's state that is read here. */
interface SavedReplay {
  readonly buffer: { readonly rows: NamedArrays; readonly pushed: Float64Array };
}

/**
 * An empty replay of a number of streams.
 *
 * @throws CoplayError if it can never hold the windows that training waits for
 */
export function createReplay(where: string, { options }: DreamerSetup, streams: number): SequenceReplay {
  const { replayCapacity: capacity, sequenceLength: length, replayOnline: online, startAfter } = options;
  const replay = createSequenceReplay({ capacity, length, online, streams });
  const windows = streams * (Math.floor(capacity / streams) - length + 1);
  if (startAfter <= windows || startAfter > capacity) return replay;
  const expected = `at most ${windows} windows to wait for, as many as ${capacity} steps in ${streams} streams hold`;
  return fail(where, expected, `startAfter ${startAfter}`, 'Give more replayCapacity, or a lower startAfter.');
}

/**
 * A saved replay.
 *
 * @param streams  their number in the state; 0 or absent in a state with another learner's replay
 * @throws CoplayError for a replay with other fields or actions than this learner's, or of another number of streams
 */
export function restoredReplay(
  where: string,
  setup: DreamerSetup,
  saved: SavedState,
  streams: unknown,
): SequenceReplay {
  checkReplay(where, setup, saved);
  const found = streamsOf(saved);
  if (streams && streams !== found) {
    const place = `${where}: restore: saved.replay.buffer.pushed`;
    fail(place, `${streams} streams`, `${found}`, 'Give what state() returned.');
  }
  const replay = createReplay(where, setup, found);
  replay.restore(saved);
  return replay;
}

/** Names of the acting agent's extras: its state after the observation. */
export function latentNames(learner: string) {
  return { deter: `dreamer/${learner}/deter`, stoch: `dreamer/${learner}/stoch` };
}

/**
 * Adds the experience of the learner's agents to the replay: a stream for each agent of each environment. What lies
 * after an agent's end is left out, so that its next episode follows at once.
 *
 * @returns steps that these agents played
 */
export function pushExperience(
  setup: DreamerSetup,
  name: string,
  replay: SequenceReplay,
  experience: Experience,
): number {
  const { ids, game } = setup;
  const { records, envs } = streamRecords(experience);
  let played = 0;
  ids.forEach((id, i) => {
    const seat = game.agents.indexOf(id);
    const rows = recordRows(setup, name, records, seat);
    for (let piece = 0; piece < records.envs; piece++) {
      const [from, to] = newRecords(records, piece, seat);
      if (to > from)
        replay.push(
          sliceRows(rows, piece * records.records + from, piece * records.records + to),
          envs[piece] * ids.length + i,
        );
    }
    for (let row = seat; row < experience.active.length; row += game.agents.length) played += experience.active[row];
  });
  return played;
}

/**
 * The records of a piece that aren't in the replay yet: a piece that goes on with an episode begins with the last one
 * of the piece before. An agent's records end with the one that it left in.
 */
function newRecords({ records: R, agents, isFirst, active }: Records, piece: number, seat: number): [number, number] {
  const from = isFirst[piece * R] === 1 ? 0 : 1;
  let to = from;
  while (to < R && active[(piece * R + to) * agents.length + seat] === 1) to++;
  return [from, to];
}

/** Streams of a saved replay. */
export function streamsOf(saved: Saved): number {
  return (saved as unknown as SavedReplay).buffer.pushed.length;
}

/**
 * Refuses a saved replay whose fields differ from this learner's records, or whose actions its game doesn't have.
 *
 * @throws CoplayError naming the field, and both shapes and dtypes
 */
function checkReplay(where: string, setup: DreamerSetup, saved: Saved): void {
  const { rows } = (saved as unknown as SavedReplay).buffer;
  if (Object.keys(rows).length === 0) return;
  checkRowSpec(`${where}: restore: saved.replay.buffer.rows`, rowSpecOf(noRows(setup)), rows);
  const { actions } = setup.game;
  for (const name of ['previousActions', 'coPlayerActions']) {
    const strange = rows[name]?.data.find((action) => !Number.isInteger(action) || action < -1 || action >= actions);
    if (strange !== undefined)
      fail(
        where,
        `a replay with actions below ${actions}`,
        `${strange} in ${name}`,
        'Give the replay of a learner of the same game, or none.',
      );
  }
}

/** The fields of the replay as {@link recordRows} makes them, of no rows. */
function noRows({ encoder, game, nets, options }: DreamerSetup): NamedArrays {
  const A = game.agents.length;
  const seen = encoder.allocate(0);
  const { deter, stoch } = nets.sizes;
  return {
    ...{ previousActions: ndarray(new Int32Array(0)), rewards: ndarray(new Float32Array(0)) },
    ...Object.fromEntries(['isFirst', 'isLast', 'isTerminal'].map((name) => [name, ndarray(new Uint8Array(0))])),
    ...Object.fromEntries(Object.entries(seen).map(([field, array]) => [`obs/${field}`, array])),
    ...('legal' in nets && { legal: ndarray(new Uint8Array(0), [0, game.actions]) }),
    ...(nets.coPlayers && {
      coPlayerActions: ndarray(new Int32Array(0), [0, A - 1]),
      coPlayersActive: ndarray(new Uint8Array(0), [0, A - 1]),
    }),
    ...(options.replayLatents && {
      startDeter: ndarray(new Float32Array(0), [0, deter]),
      startStoch: ndarray(new Uint8Array(0), [0, stoch]),
    }),
  };
}

/** One seat's records, [pieces R, ...] for each field of the replay. */
function recordRows(setup: DreamerSetup, name: string, records: Records, seat: number): NamedArrays {
  const { encoder, options, nets } = setup;
  const count = records.agents.length;
  const rows = records.envs * records.records;
  const fields: NamedArrays = {
    ...previousActions(setup, records.previousActions, seat),
    rewards: seatRows(records.rewards, seat, count),
    isFirst: ndarray(records.isFirst),
    isLast: seatRows(records.isLast, seat, count),
    isTerminal: seatRows(records.isTerminal, seat, count),
  };
  for (const [field, array] of Object.entries(encoder.encode(sourceOf(records, seat)))) fields[`obs/${field}`] = array;
  if ('legal' in nets) fields['legal'] = seatRows(records.masks, seat, count, [records.actionCount]);
  if (nets.coPlayers) fields['coPlayersActive'] = coPlayersActive(records, seat);
  if (options.replayLatents) {
    const names = latentNames(name);
    const { deter, stoch } = nets.sizes;
    fields['startDeter'] = entering(records, names.deter, seat, new Float32Array(rows * deter), deter);
    fields['startStoch'] = entering(records, names.stoch, seat, new Uint8Array(rows * stoch), stoch);
  }
  return fields;
}

/**
 * The actions that led to each row, -1 for none: a seat's own, and where co-players are modelled, theirs in cyclic
 * order of seats.
 *
 * @param given [rows, A]
 */
export function previousActions({ game, nets }: DreamerSetup, given: Int32Array, seat: number): NamedArrays {
  const A = game.agents.length;
  const rows = given.length / A;
  const own = seatRows(given, seat, A);
  if (!nets.coPlayers) return { previousActions: own };
  const others = ndarray(ofCoPlayers(given, A, seat, new Int32Array(rows * (A - 1))), [rows, A - 1]);
  return { previousActions: own, coPlayerActions: others };
}

/** Which of a seat's co-players act after each record: those present for whom it isn't the last. [rows, A - 1] */
function coPlayersActive({ active, isLast, agents, envs, records: R }: Records, seat: number): NDArray {
  const acts = active.map((isThere, row) => isThere & ~isLast[row]);
  const [rows, A] = [envs * R, agents.length];
  return ndarray(ofCoPlayers(acts, A, seat, new Uint8Array(rows * (A - 1))), [rows, A - 1]);
}

/** [rows, A] to [rows, A - 1], in cyclic order of seats after one's own. */
function ofCoPlayers<T extends Uint8Array | Int32Array>(from: T, A: number, seat: number, to: T): T {
  for (let i = 0; i < to.length; i++) {
    const row = Math.floor(i / (A - 1));
    to[i] = from[row * A + ((seat + 1 + (i % (A - 1))) % A)];
  }
  return to;
}

function sourceOf(records: Records, seat: number): RowSource {
  const { agents, observations, masks, previousActions, extras, active } = records;
  const rows = records.envs * records.records;
  return { rows, seat, offset: seat, stride: agents.length, observations, masks, previousActions, extras, active };
}

/** The state in which each record was entered: the agent's after the record before; zeros in the first of a piece. */
function entering<T extends Float32Array | Uint8Array>(
  { extras, agents, records: R }: Records,
  name: string,
  seat: number,
  data: T,
  size: number,
) {
  const rows = data.length / size;
  const from = extras[name]?.data;
  for (let row = 0; from && row < rows; row++) {
    if (row % R === 0) continue;
    const start = ((row - 1) * agents.length + seat) * size;
    for (let i = 0; i < size; i++) data[row * size + i] = from[start + i];
  }
  return ndarray(data, [rows, size]);
}

/** The states that an update met in a sample, put where they are entered from: each into the record after its own. */
export function storeLatents(replay: SequenceReplay, sample: SequenceSample, deter: NDArray, stoch: NDArray): void {
  const steps = sample.steps.map((step) => step + 1);
  const { streams } = sample;
  replay.overwrite({ streams, steps }, { startDeter: deter, startStoch: stoch });
}
