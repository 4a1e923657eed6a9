import { attemptRows, type MoaCounts, type MoaHeld, moaRows } from '@coplay/buffers';
import {
  type ActionArray,
  type ActionSpaces,
  type AgentId,
  type AnyGame,
  type DType,
  type Experience,
  fail,
  type Generator,
  type NamedArrays,
  ndarray,
  type ObservationArrays,
  show,
} from '@coplay/core';
import { actionLayout, widthOf } from '@coplay/core/arrays';
import { checkArgument, checkExperienceOf, checkRecord, namedArrays } from '@coplay/core/checks';
import { concatRows, type RowSpec } from '@coplay/core/rows';
import { prefixed } from '@coplay/models/layers';
import type { MoaSetup } from './options';

/** Rows in use, in episodes that follow one another. */
export interface EpisodeList {
  /** [n] where each row is in the table */
  readonly places: Int32Array;
  /** [n] goal of each row, in -1..G-1 */
  readonly goals: Int32Array;
  /** They sum to n. */
  readonly lengths: readonly number[];
  /** The episodes' numbers, counted from the first that a buffer was pushed; [] for other data. */
  readonly serials: readonly number[];
}

/** Rows as a network reads them, and which of them are in use. */
export interface MoaTable {
  /**
   * `in/<input>` [R, ...], `masks` [R, K] but for a box, `actions` as they are learned from (discrete ones int32 [R]),
   * `isFirst` [R]
   */
  readonly table: NamedArrays;
  readonly list: EpisodeList;
}

/** Rows of one co-player as a table. */
export function tableOf(setup: MoaSetup, coPlayer: AgentId, held: MoaHeld): MoaTable {
  const { game, encoder } = setup;
  const { columns, places, lengths, serials } = held;
  const seat = game.agents.indexOf(coPlayer);
  const rows = columns['actions'].shape[0];
  const observations: ObservationArrays = {};
  for (const name in game.observation) observations[name] = columns[`observations/${name}`].data;
  const masks = columns['masks'].data as Uint8Array;
  const previousActions = columns['previousActions'].data as ActionArray;
  const encoded = encoder.encode({
    ...{ rows, seat, offset: 0, stride: 1, observations, masks, previousActions },
    extras: {},
  });
  const { isFirst } = columns;
  const table: NamedArrays = { ...prefixed('in', encoded), ...ownColumns(setup, columns), isFirst };
  const goals = Int32Array.from(places, (place) => columns['goals'].data[place]);
  return { table, list: { places, goals, lengths, serials } };
}

/** Masks and actions without the numbers that the co-player's space lacks. */
function ownColumns({ game, space, net, distribution }: MoaSetup, { masks, actions }: NamedArrays): NamedArrays {
  if (typeof game.actions === 'number') return { masks, actions };
  const { width, maskSize } = actionLayout(game);
  const [rows] = actions.shape;
  const { dtype, shape } = distribution.action;
  const w = widthOf(space);
  const K = net.actions;
  const own = (_: unknown, i: number) => actions.data[Math.floor(i / w) * width + (i % w)];
  const length = rows * w;
  const values = dtype === 'int32' ? Int32Array.from({ length }, own) : Float32Array.from({ length }, own);
  const legal = (_: unknown, i: number) => masks.data[Math.floor(i / K) * maskSize + (i % K)];
  return {
    actions: ndarray(values, [rows, ...shape]),
    ...(K > 0 && { masks: ndarray(Uint8Array.from({ length: rows * K }, legal), [rows, K]) }),
  };
}

/**
 * Whole episodes, as `moaRows` makes them, as a table.
 *
 * @throws CoplayError for rows of another form
 */
export function tableOfRows(where: string, setup: MoaSetup, coPlayer: AgentId, rows: NamedArrays): MoaTable {
  checkMoaRows(where, setup.game, rows);
  const isFirst = rows['isFirst'].data;
  const lengths: number[] = [];
  for (let row = 0; row < isFirst.length; row++) {
    if (isFirst[row] === 1) lengths.push(1);
    else lengths[lengths.length - 1]++;
  }
  const places = Int32Array.from(isFirst, (_, row) => row);
  return tableOf(setup, coPlayer, { columns: rows, places, lengths, serials: [] });
}

/** The episodes that a model was not trained on yet; undefined if there are none. */
export function newEpisodes({ table, list }: MoaTable, seen: MoaCounts): MoaTable | undefined {
  const { places, goals, lengths, serials } = list;
  const old = serials.findIndex((serial) => serial >= seen.episodes);
  if (old < 0) return undefined;
  const skipped = lengths.slice(0, old).reduce((sum, length) => sum + length, 0);
  const rest = { places: places.slice(skipped), goals: goals.slice(skipped) };
  return { table, list: { ...rest, lengths: lengths.slice(old), serials: serials.slice(old) } };
}

/** The data of each network: of one co-player, or of all of them where they share one. */
export function perNetwork(
  { coPlayers, options }: MoaSetup,
  of: (coPlayer: AgentId) => MoaTable | undefined,
): (MoaTable | undefined)[] {
  const tables = coPlayers.map(of);
  if (!options.share) return tables;
  const known = tables.filter((table) => table !== undefined);
  return [known.length === 0 ? undefined : joinTables(known)];
}

/** The columns of a co-player's rows as `moaRows` makes them. */
export function moaRowSpec(game: AnyGame): RowSpec {
  const { observation, agents } = game;
  const { dtype: ofActions, width, maskSize } = actionLayout(game);
  const values = typeof game.actions === 'number' ? [] : [width];
  const column = (dtype: DType, ...shape: readonly number[]) => ({ dtype, shape });
  const seen = Object.entries(observation).map(([name, { dtype, shape }]) => {
    return [`observations/${name}`, column(dtype, ...shape)] as const;
  });
  return {
    ...Object.fromEntries(seen),
    ...{ masks: column('uint8', maskSize), previousActions: column(ofActions, agents.length, ...values) },
    ...{ actions: column(ofActions, ...values), goals: column('int32') },
    ...{ active: column('uint8'), isFirst: column('uint8'), terminated: column('uint8') },
  };
}

/** Several tables below one another. */
function joinTables(parts: readonly MoaTable[]): MoaTable {
  if (parts.length === 1) return parts[0];
  const table = concatRows(parts.map((part) => part.table));
  let above = 0;
  const places: number[] = [];
  for (const { table: own, list } of parts) {
    for (const place of list.places) places.push(above + place);
    above += own['actions'].shape[0];
  }
  return {
    table,
    list: {
      places: Int32Array.from(places),
      goals: Int32Array.from(parts.flatMap(({ list }) => [...list.goals])),
      lengths: parts.flatMap(({ list }) => list.lengths),
      serials: [],
    },
  };
}

/** Refuses rows of another form than `moaRows` makes them for a game. */
function checkMoaRows(where: string, game: AnyGame, rows: NamedArrays): void {
  checkArgument(where, 'rows', namedArrays, rows);
  const N = rows['isFirst']?.shape[0] ?? 0;
  const seen = Object.entries(game.observation).map(([name, { shape }]) => [`observations/${name}`, shape] as const);
  const { width, maskSize } = actionLayout(game);
  const values = typeof game.actions === 'number' ? [] : [width];
  const shapes: Readonly<Record<string, readonly number[]>> = {
    ...{ isFirst: [], actions: values, goals: [], masks: [maskSize] },
    previousActions: [game.agents.length, ...values],
    ...Object.fromEntries(seen),
  };
  for (const [name, shape] of Object.entries(shapes)) {
    const expected = [N, ...shape].join(', ');
    const got = rows[name]?.shape;
    if (got?.join(', ') === expected) continue;
    fail(
      `${where}: rows.${name}`,
      `an array [${expected}]`,
      show(got),
      `Make the rows with moaRows() of ${game.name}.`,
    );
  }
  if (N === 0 || rows['isFirst'].data[0] === 1) return;
  fail(
    `${where}: rows.isFirst`,
    'whole episodes, from a first step on',
    'rows that begin later',
    'Give whole episodes.',
  );
}

/** A data set as rows by co-player. */
export function pretrainingRows(
  data: Experience<ActionSpaces> | Readonly<Record<AgentId, NamedArrays>>,
  { game, coPlayers, options }: MoaSetup,
): Readonly<Record<AgentId, NamedArrays>> {
  checkRecord('moa.pretrain', 'data', data);
  if (isExperience(data)) checkExperienceOf('moa.pretrain', game, data, 'data', 'any');
  const goals = options.goals === 'hindsight' ? game.goals : undefined;
  const rows = isExperience(data)
    ? Object.fromEntries(
        coPlayers.map((coPlayer) => {
          const seat = data.agents.indexOf(coPlayer);
          const own = moaRows(data, seat, { goals, caughtOnly: options.caughtOnly });
          return [coPlayer, options.attempts && goals ? concatRows([own, attemptRows(own, seat, goals)]) : own];
        }),
      )
    : data;
  const unknown = Object.keys(rows).find((coPlayer) => !coPlayers.includes(coPlayer));
  if (unknown !== undefined) fail('moa.pretrain', `rows of ${coPlayers.join(', ')}`, show(unknown), 'Leave it out.');
  return rows;
}

function isExperience(
  data: Experience<ActionSpaces> | Readonly<Record<AgentId, NamedArrays>>,
): data is Experience<ActionSpaces> {
  return 'observations' in data && 'isImagined' in data;
}

/** How minibatches are made. */
export interface BatchSettings {
  /** S */
  readonly count: number;
  /** B, rows of each (steps of a recurrent model) */
  readonly size: number;
  /** L, steps of a window of a recurrent model; 0 for single rows */
  readonly window: number;
  /** Share of rows (of episodes, for windows) whose goal is hidden */
  readonly unknownShare: number;
}

/** S minibatches, one behind the other. */
export interface Batches {
  /** Of places: [S, B], or [S, W, L] of windows. */
  readonly shape: readonly number[];
  readonly places: Int32Array;
  readonly goals: Int32Array;
  /** 0 where there is no row. */
  readonly weights: Float32Array;
}

/** Minibatches that one pass over the rows takes. */
export function batchesPerEpoch(list: EpisodeList, size: number, window: number): number {
  if (window === 0) return Math.ceil(list.places.length / size);
  const order = list.lengths.map((_, i) => i);
  return Math.ceil(packEpisodes(list.lengths, order, window).length / windowsOf(size, window));
}

/**
 * Minibatches over one pass after another, each row once in a pass, in a fresh order; a short last one of a pass is
 * filled up with weight 0.
 */
export function planBatches(list: EpisodeList, settings: BatchSettings, generator: Generator): Batches {
  const { count, size, window } = settings;
  const width = window === 0 ? 1 : window;
  const units = window === 0 ? size : windowsOf(size, window);
  const perBatch = units * width;
  const shape = window === 0 ? [count, size] : [count, units, window];
  const places = new Int32Array(count * perBatch);
  const goals = new Int32Array(count * perBatch).fill(-1);
  const weights = new Float32Array(count * perBatch);
  const isEmpty = list.places.length === 0;
  let pass: readonly (readonly number[])[] = [];
  let next = 0;
  for (let batch = 0; batch < count && !isEmpty; batch++) {
    if (next >= pass.length) {
      pass = passOver(list, window, generator);
      next = 0;
    }
    const taken = pass.slice(next, next + units);
    next += units;
    taken.forEach((rows, unit) => {
      rows.forEach((row, i) => {
        const at = batch * perBatch + unit * width + i;
        places[at] = list.places[row];
        goals[at] = list.goals[row];
        weights[at] = 1;
      });
    });
  }
  return { shape, places, goals: hideGoals(goals, list, settings, places, generator), weights };
}

/** Windows of L steps that make a minibatch of about `size` steps. */
function windowsOf(size: number, window: number): number {
  return Math.max(1, Math.round(size / window));
}

/** All rows, one by one or in windows of whole episodes, in a fresh order. */
function passOver(list: EpisodeList, window: number, generator: Generator): readonly (readonly number[])[] {
  if (window === 0) {
    const order = generator.shuffle(Int32Array.from(list.places, (_, i) => i));
    return Array.from(order, (row) => [row]);
  }
  const order = generator.shuffle(Int32Array.from(list.lengths, (_, i) => i));
  return packEpisodes(list.lengths, order, window);
}

/**
 * Whole episodes packed into windows of L steps, in the order given, each into the last window if it fits there.
 *
 * @returns for each window the rows in it
 */
export function packEpisodes(lengths: readonly number[], order: ArrayLike<number>, window: number): number[][] {
  const starts: number[] = [];
  lengths.reduce((start, length) => {
    starts.push(start);
    return start + length;
  }, 0);
  const windows: number[][] = [];
  for (let i = 0; i < order.length; i++) {
    const length = lengths[order[i]];
    let last = windows.at(-1);
    if (!last || last.length + length > window) {
      last = [];
      windows.push(last);
    }
    for (let step = 0; step < length; step++) last.push(starts[order[i]] + step);
  }
  return windows;
}

/** Goals with some hidden: row by row, or the whole episode where there is memory of it. */
function hideGoals(
  goals: Int32Array,
  { places, lengths }: EpisodeList,
  { unknownShare, window }: BatchSettings,
  taken: Int32Array,
  generator: Generator,
): Int32Array {
  if (unknownShare === 0) return goals;
  if (window === 0) return goals.map((goal) => (generator.uniform() < unknownShare ? -1 : goal));
  const hidden = new Set<number>();
  let row = 0;
  for (const length of lengths) {
    const isHidden = generator.uniform() < unknownShare;
    for (let step = 0; step < length; step++) if (isHidden) hidden.add(places[row + step]);
    row += length;
  }
  return goals.map((goal, i) => (hidden.has(taken[i]) ? -1 : goal));
}
