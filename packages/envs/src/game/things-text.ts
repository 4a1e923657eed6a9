import { fail, show } from '@coplay/core';
import { parseJson } from '@coplay/core/checks';
import type { Grid } from './grid';
import { cellOf, drawMap, type Place, parseMap, placeOf } from './layout';
import type { Kind, Places } from './things';

/** The unchecked content of a text map of agents and things. */
export interface ThingsText<Name extends string> {
  readonly places: Places<Name>;
  /** The lines below the map, by name. */
  readonly notes: ReadonlyMap<string, string>;
}

/**
 * Reads a map of `.` free, `1`..`8` agents and the symbols of the kinds, with lines `name: value` below it.
 *
 * @param noteNames  names that the lines below the map may have
 * @param hasLeft    reads off the notes which agents, by their names from `1`, aren't on the map; default: all are
 * @throws CoplayError for another map or line, or an agent that isn't there once
 */
export function thingsFromText<Name extends string>(
  where: string,
  text: string,
  agents: number,
  grid: Grid,
  kinds: readonly Kind<Name>[],
  noteNames: readonly string[],
  hasLeft: (notes: ReadonlyMap<string, string>) => readonly string[] = () => [],
): ThingsText<Name> {
  const names = Array.from({ length: agents }, (_, i) => String(i + 1));
  const symbols = kinds.map(({ symbol }) => symbol).join('');
  const { cells, notes } = parseMap(where, text, grid, symbols + names.join(''));
  const wrong = [...notes.keys()].find((name) => !noteNames.includes(name));
  if (wrong !== undefined) {
    fail(where, `lines below the map named ${noteNames.join(', ')}`, show(wrong), 'Remove that line.');
  }
  const left = hasLeft(notes);
  for (const name of left) {
    if (!names.includes(name)) fail(where, `left: agents from 1 to ${agents}`, show(name), 'Correct that line.');
  }
  const placesOf = (symbol: string): Place[] => (cells.get(symbol) ?? []).map((cell) => placeOf(cell, grid));
  const placeOfAgent = (name: string): Place | null => {
    const found = placesOf(name);
    if (found.length + (left.includes(name) ? 1 : 0) !== 1) {
      const got = `${found.length} on the map${left.includes(name) ? ', and one that left' : ''}`;
      const expected = `agent ${name} once, on the map${noteNames.includes('left') ? ' or in the line "left:"' : ''}`;
      fail(where, expected, got, `Put ${name} on the map once.`);
    }
    return found[0] ?? null;
  };
  const lists = kinds.map(({ name, symbol }) => [name, placesOf(symbol)]);
  const places = { agents: names.map(placeOfAgent), ...Object.fromEntries(lists) } as Places<Name>;
  return { places, notes };
}

/** The map of agents and things, or undefined where two of them share a cell. */
export function textFromThings<Name extends string>(
  places: Places<Name>,
  kinds: readonly Kind<Name>[],
  grid: Grid,
): string | undefined {
  const things = (symbol: string, list: readonly Place[]) =>
    list.map((place) => [symbol, cellOf('textFromThings', 'things', place, grid)] as const);
  return drawMap(grid, [
    ...kinds.flatMap(({ name, symbol }) => things(symbol, places[name] ?? [])),
    ...places.agents.flatMap((place, i) => (place ? things(String(i + 1), [place]) : [])),
  ]);
}

/** The object form of a layout that was given as it is, as its JSON, or as a map that `read` reads. */
export function objectForm(where: string, layout: unknown, read: (text: string) => unknown): unknown {
  if (typeof layout !== 'string') return layout;
  if (!layout.trimStart().startsWith('{')) return read(layout);
  return parseJson(where, layout, { expected: 'a text map, or JSON of the object form' });
}
