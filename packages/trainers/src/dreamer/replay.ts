/*
 * The replay: experience becomes records, a stream for each agent of each environment. Shapes: A agents, R records of a
 * piece.
 */
import { createSequenceReplay, type SequenceReplay, type SequenceSample } from '@coplay/buffers';
import { type Records, streamRecords } from '@coplay/buffers/records';
import {
  type ActionArray,
  type ActionSpaces,
  allocate,
  type Experience,
  fail,
  type NamedArrays,
  type NDArray,
  ndarray,
  type Saved,
  type SavedState,
} from '@coplay/core';
import { actionLayout, maskSizeOf } from '@coplay/core/arrays';
import { checkRowSpec, rowSpecOf, seatRows, sliceRows } from '@coplay/core/rows';
import type { RowSource } from '@coplay/models';
import { recordedActions, recordedFault } from './actions';
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
  experience: Experience<ActionSpaces>,
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
function newRecords(
  { records: R, agents, isFirst, active }: Records<ActionSpaces>,
  piece: number,
  seat: number,
): [number, number] {
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
  const { space } = setup;
  for (const name of ['previousActions', 'coPlayerActions']) {
    const fault = rows[name] && recordedFault(space, rows[name].data);
    if (fault) {
      const remedy = 'Give the replay of a learner of the same game, or none.';
      fail(where, `a replay with actions ${fault.expected}`, `${fault.got} in ${name}`, remedy);
    }
  }
}

/** The fields of the replay as {@link recordRows} makes them, of no rows. */
function noRows({ encoder, game, space, nets, options }: DreamerSetup): NamedArrays {
  const A = game.agents.length;
  const { width, dtype } = actionLayout(game);
  const seen = encoder.allocate(0);
  const { deter, stoch } = nets.sizes;
  return {
    previousActions: recordedActions(space, allocate(dtype, 0) as ActionArray, 0, A, width),
    rewards: ndarray(new Float32Array(0)),
    ...Object.fromEntries(['isFirst', 'isLast', 'isTerminal'].map((name) => [name, ndarray(new Uint8Array(0))])),
    ...Object.fromEntries(Object.entries(seen).map(([field, array]) => [`obs/${field}`, array])),
    ...('legal' in nets && { legal: ndarray(new Uint8Array(0), [0, maskSizeOf(space)]) }),
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
function recordRows(setup: DreamerSetup, name: string, records: Records<ActionSpaces>, seat: number): NamedArrays {
  const { encoder, options, nets, space } = setup;
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
  if ('legal' in nets) fields['legal'] = legalOptions(records, seat, maskSizeOf(space));
  if (nets.coPlayers) fields['coPlayersActive'] = coPlayersActive(records, seat);
  if (options.replayLatents) {
    const names = latentNames(name);
    const { deter, stoch } = nets.sizes;
    fields['startDeter'] = entering(records, names.deter, seat, new Float32Array(rows * deter), deter);
    fields['startStoch'] = entering(records, names.stoch, seat, new Uint8Array(rows * stoch), stoch);
  }
  return fields;
}

/** One seat's masks [rows, K], without the bytes that its space lacks. */
function legalOptions({ masks, agents, actionCount }: Records<ActionSpaces>, seat: number, K: number): NDArray {
  const all = seatRows(masks, seat, agents.length, [actionCount]); // [rows, actionCount]
  if (K === actionCount) return all;
  const [rows] = all.shape;
  const own = (_: unknown, i: number) => all.data[Math.floor(i / K) * actionCount + (i % K)];
  return ndarray(Uint8Array.from({ length: rows * K }, own), [rows, K]);
}

/**
 * The actions that led to each row, as the replay keeps them: a seat's own, and where co-players are modelled, theirs
 * [rows, A - 1] in cyclic order of seats, -1 for none.
 *
 * @param given [rows, A, W]
 */
export function previousActions({ game, space, nets }: DreamerSetup, given: ActionArray, seat: number): NamedArrays {
  const A = game.agents.length;
  const own = recordedActions(space, given, seat, A, actionLayout(game).width);
  if (!nets.coPlayers) return { previousActions: own };
  const [rows] = own.shape;
  const all = given as Int32Array; // co-players are modelled in games of discrete actions
  const others = ndarray(ofCoPlayers(all, A, seat, new Int32Array(rows * (A - 1))), [rows, A - 1]);
  return { previousActions: own, coPlayerActions: others };
}

/** Which of a seat's co-players act after each record: those present for whom it isn't the last. [rows, A - 1] */
function coPlayersActive({ active, isLast, agents, envs, records: R }: Records<ActionSpaces>, seat: number): NDArray {
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

function sourceOf(records: Records<ActionSpaces>, seat: number): RowSource {
  const { agents, observations, masks, previousActions, extras, active } = records;
  const rows = records.envs * records.records;
  return { rows, seat, offset: seat, stride: agents.length, observations, masks, previousActions, extras, active };
}

/** The state in which each record was entered: the agent's after the record before; zeros in the first of a piece. */
function entering<T extends Float32Array | Uint8Array>(
  { extras, agents, records: R }: Records<ActionSpaces>,
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
