import { fail, show } from '@coplay/core';
import { cellOf, drawMap, type Grid, type Place, parseMap, placeOf } from '../game';
import type { StagHuntLayout } from './layout';

const OBSTACLE = '#';
const STAG = 'S';
const HARE = 'h';
const NOTES = ['steps', 'left', 'firstCatch', 'previousActions'];

/**
 * The text form of a layout: a map of `.` free, `#` obstacle, `S` stag, `h` hare and `1`..`8` agents, and below it,
 * where needed, the lines `steps: 12`, `left: 2 4` (agents that aren't on the map any more), `firstCatch: 9` and
 * `previousActions: 0 - 4 -`. Text that begins with `{` is JSON of the object form.
 *
 * @returns the object form; its values are still to be checked
 */
export function layoutFromText(where: string, text: string, agents: number, grid: Grid): unknown {
  if (text.trimStart().startsWith('{')) return parseJson(where, text);
  const names = Array.from({ length: agents }, (_, i) => String(i + 1));
  const { cells, notes } = parseMap(where, text, grid, OBSTACLE + STAG + HARE + names.join(''));
  const wrong = [...notes.keys()].find((name) => !NOTES.includes(name));
  if (wrong !== undefined)
    fail(where, `lines below the map named ${NOTES.join(', ')}`, show(wrong), 'Remove that line.');

  const left = words(notes.get('left'));
  for (const name of left) {
    if (!names.includes(name)) fail(where, `left: agents from 1 to ${agents}`, show(name), 'Correct that line.');
  }
  const places = (symbol: string): Place[] => (cells.get(symbol) ?? []).map((cell) => placeOf(cell, grid));
  const agentPlace = (name: string): Place | null => {
    const found = places(name);
    if (found.length + (left.includes(name) ? 1 : 0) !== 1) {
      const got = `${found.length} on the map${left.includes(name) ? ', and one that left' : ''}`;
      fail(where, `agent ${name} once, on the map or in the line "left:"`, got, `Put ${name} on the map once.`);
    }
    return found[0] ?? null;
  };
  const number = (name: string) => (notes.has(name) ? { [name]: Number(notes.get(name)) } : {});
  return {
    agents: names.map(agentPlace),
    obstacles: places(OBSTACLE),
    stags: places(STAG),
    hares: places(HARE),
    ...number('steps'),
    ...number('firstCatch'),
    ...(notes.has('previousActions') && {
      previousActions: words(notes.get('previousActions')).map((word) => (word === '-' ? null : Number(word))),
    }),
  };
}

/** The text form, or undefined where two things share a cell. */
export function textFromLayout(layout: StagHuntLayout, grid: Grid): string | undefined {
  const { agents, obstacles = [], stags = [], hares = [], steps, firstCatch, previousActions } = layout;
  const cell = (place: Place) => cellOf('textFromLayout', 'things', place, grid);
  const things = (symbol: string, list: readonly Place[]) => list.map((place) => [symbol, cell(place)] as const);
  const map = drawMap(grid, [
    ...things(OBSTACLE, obstacles),
    ...things(STAG, stags),
    ...things(HARE, hares),
    ...agents.flatMap((place, i) => (place ? things(String(i + 1), [place]) : [])),
  ]);
  if (map === undefined) return undefined;
  const left = agents.flatMap((place, i) => (place ? [] : [String(i + 1)]));
  const lines = [map];
  if (steps) lines.push(`steps: ${steps}`);
  if (left.length > 0) lines.push(`left: ${left.join(' ')}`);
  if (firstCatch) lines.push(`firstCatch: ${firstCatch}`);
  if (previousActions) lines.push(`previousActions: ${previousActions.map((action) => action ?? '-').join(' ')}`);
  return lines.join('\n');
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function parseJson(where: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return fail(where, 'a text map, or JSON of the object form', String(error), 'Correct the JSON.');
  }
}
