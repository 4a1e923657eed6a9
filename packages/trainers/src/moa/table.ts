import type { MoaHeld } from '@coplay/buffers';
import {
  allocate,
  checkArgument,
  type DType,
  fail,
  type Game,
  type NamedArrays,
  namedArrays,
  ndarray,
  type ObservationArrays,
  show,
} from '@coplay/core';
import { concatRows } from '@coplay/core/rows';
import { type InputEncoder, prefixed } from '@coplay/models';
import type { EpisodeList } from './batches';

/** Rows as a network reads them, and which of them are in use. */
export interface MoaTable {
  /** `in/<input>` [R, ...], `masks` [R, K], `actions` int32 [R], `isFirst` [R] */
  readonly table: NamedArrays;
  readonly list: EpisodeList;
}

/** Rows of one co-player as a table. */
export function tableOf(game: Game, encoder: InputEncoder, seat: number, held: MoaHeld): MoaTable {
  const { columns, places, lengths } = held;
  const rows = columns['actions'].shape[0];
  const observations: ObservationArrays = {};
  for (const name in game.observation) observations[name] = columns[`observations/${name}`].data;
  const masks = columns['masks'].data as Uint8Array;
  const previousActions = columns['previousActions'].data as Int32Array;
  const encoded = encoder.encode({
    ...{ rows, seat, offset: 0, stride: 1, observations, masks, previousActions },
    extras: {},
  });
  const { actions, isFirst } = columns;
  const table: NamedArrays = { ...prefixed('in', encoded), masks: columns['masks'], actions, isFirst };
  const goals = Int32Array.from(places, (place) => columns['goals'].data[place]);
  return { table, list: { places, goals, lengths } };
}

/** Rows as the buffer holds them, of arrays that are in order already. */
export function heldRows(rows: NamedArrays): MoaHeld {
  const isFirst = rows['isFirst'].data;
  const lengths: number[] = [];
  for (let row = 0; row < isFirst.length; row++) {
    if (isFirst[row] === 1) lengths.push(1);
    else lengths[lengths.length - 1]++;
  }
  const serials = lengths.map((_, i) => i);
  return { columns: rows, places: Int32Array.from(isFirst, (_, row) => row), lengths, serials };
}

/** The columns of a co-player's rows as `moaRows` makes them, of no rows. */
export function noMoaRows({ observation, actions, agents }: Game): NamedArrays {
  const column = (dtype: DType, ...shape: readonly number[]) => ndarray(allocate(dtype, 0), [0, ...shape]);
  const seen = Object.entries(observation).map(([name, { dtype, shape }]) => {
    return [`observations/${name}`, column(dtype, ...shape)] as const;
  });
  return {
    ...Object.fromEntries(seen),
    ...{ masks: column('uint8', actions), previousActions: column('int32', agents.length) },
    ...{ actions: column('int32'), goals: column('int32') },
    ...{ active: column('uint8'), isFirst: column('uint8'), terminated: column('uint8') },
  };
}

/** Several tables below one another. */
export function joinTables(parts: readonly MoaTable[]): MoaTable {
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
    },
  };
}

/** Refuses rows of another form than `moaRows` makes them for a game. */
export function checkMoaRows(where: string, game: Game, rows: NamedArrays): void {
  checkArgument(where, 'rows', namedArrays, rows);
  const N = rows['isFirst']?.shape[0] ?? 0;
  const seen = Object.entries(game.observation).map(([name, { shape }]) => [`observations/${name}`, shape] as const);
  const shapes: Readonly<Record<string, readonly number[]>> = {
    ...{ isFirst: [], actions: [], goals: [], masks: [game.actions], previousActions: [game.agents.length] },
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
