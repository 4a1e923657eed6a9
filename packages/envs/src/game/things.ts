import { fail, type Scene, type SceneItem } from '@coplay/core';
import { addCell, listCells } from './cell-set';
import { type Grid, OUTSIDE } from './grid';
import { cellOf, type Place, placeOf } from './layout';

/** A kind of things that lie on cells of their own. */
export interface Kind<Name extends string = string> {
  /** The field of a layout: `stags` */
  readonly name: Name;
  /** A renderer's name for one of them: `stag` */
  readonly item: string;
  /** One character for text */
  readonly symbol: string;
}

/** They block the way. */
export const OBSTACLES: Kind<'obstacles'> = { name: 'obstacles', item: 'obstacle', symbol: '#' };

/** Lists of places: of agents (null for an agent that isn't on the map), and of each kind of things. */
export type Places<Name extends string> = { readonly agents: readonly (Place | null)[] } & {
  readonly [Each in Name]?: readonly Place[] | undefined;
};

/** Reads the places of a set of cells. */
export function placesIn(state: Int32Array, offset: number, words: number, grid: Grid): Place[] {
  const cells: number[] = [];
  listCells(state, offset, words, cells);
  return cells.map((cell) => placeOf(cell, grid));
}

/**
 * Puts agents and things into a state.
 *
 * @param at  where the agents' cells begin in the state, and the set of each kind
 * @throws CoplayError for two things on a cell, an agent on an obstacle, or something outside of the grid
 */
export function putThings<Name extends string>(
  where: string,
  places: Places<Name>,
  kinds: readonly Kind<Name>[],
  at: { readonly cells: number } & Readonly<Record<Name, number>>,
  grid: Grid,
  state: Int32Array,
): void {
  const taken = new Map<number, string>();
  for (const { name: kind } of kinds) {
    for (const [i, place] of (places[kind] ?? []).entries()) {
      const name = `${kind}[${i}]`;
      const cell = cellOf(where, name, place, grid);
      if (taken.has(cell)) {
        fail(where, `${name} on a cell of its own`, `that of ${taken.get(cell)}`, 'Move one of them.');
      }
      taken.set(cell, name);
      addCell(state, at[kind], cell);
    }
  }
  for (const [agent, place] of places.agents.entries()) {
    const cell = place === null ? OUTSIDE : cellOf(where, `agents[${agent}]`, place, grid);
    const under = taken.get(cell);
    if (under?.startsWith(OBSTACLES.name)) {
      fail(where, `agents[${agent}] on a free cell`, under, 'Move one of them.');
    }
    state[at.cells + agent] = cell;
  }
}

/** The picture of a state: things in the order of the kinds, then agents, numbered from 1. */
export function gridScene<Name extends string>(grid: Grid, places: Places<Name>, kinds: readonly Kind<Name>[]): Scene {
  const item = (kind: string, symbol: string, [row, column]: Place): SceneItem => ({ kind, symbol, row, column });
  return {
    rows: grid.rows,
    columns: grid.columns,
    items: [
      ...kinds.flatMap((kind) => (places[kind.name] ?? []).map((place) => item(kind.item, kind.symbol, place))),
      ...places.agents.flatMap((place, i) => (place ? [item('agent', String(i + 1), place)] : [])),
    ],
  };
}
