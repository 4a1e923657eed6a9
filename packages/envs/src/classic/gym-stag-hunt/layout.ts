import { checkOptions, fail, type Scene, type SceneItem } from '@coplay/core';
import { z } from 'zod';
import { cellOf, countOf, drawMap, objectForm, type Place, parseMap, placeOf, placeSchema, whole } from '../../game';
import { AGENTS, type Board, cellOfThing, clear, kindOfThing, put, STEPS, STREAK } from './board';

/** The facts by which a layout is checked. */
interface LayoutRules {
  /** Of the game */
  readonly name: string;
  readonly board: Board;
  readonly maxSteps: number;
  /** Whether the game counts streaks. */
  readonly showsStreak: boolean;
}

/** Cells by kind: `agents` in their order, then each kind of the board by name; and the counters. */
interface BoardLayout {
  readonly cells: Readonly<Record<string, readonly number[]>>;
  readonly steps: number;
  readonly streak: number;
}

/**
 * Starts from a text map (`.` free, `1` and `2` the agents, one character for each kind of thing, below it lines such
 * as `steps: 3`), or, where several things share a cell, from `{ agents: [[row, column], ...], KIND: [...] }` or its
 * JSON.
 *
 * @throws CoplayError, and then the state is as it was before
 */
export function readLayout(rules: LayoutRules, layout: unknown, state: Int32Array, offset: number): void {
  const { name, board } = rules;
  const where = `${name} layout`;
  const given = objectForm(where, layout, (text) => fromText(where, board, text));
  const { cells, steps, streak } = checked(where, rules, given);
  checkCounts(where, board, cells);
  clear(board, state, offset);
  state[offset + STEPS] = steps;
  state[offset + STREAK] = streak;
  cells['agents'].forEach((cell, agent) => {
    state[offset + AGENTS + agent] = cell;
  });
  let thing = 0;
  board.kinds.forEach((kind, k) => {
    for (const cell of cells[kind.name]) put(state, offset, thing++, cell, k);
  });
}

/** A text map where each cell holds at most one thing, else JSON. */
export function writeLayout(board: Board, state: Int32Array, offset: number): string {
  const { grid, kinds } = board;
  const { cells, steps, streak } = layoutOf(board, state, offset);
  const counters = { ...(steps > 0 && { steps }), ...(streak > 0 && { streak }) };
  const map = drawMap(grid, [
    ...cells['agents'].map((cell, i) => [String(i + 1), cell] as const),
    ...kinds.flatMap(({ name, symbol }) => cells[name].map((cell) => [symbol, cell] as const)),
  ]);
  if (map !== undefined)
    return [map, ...Object.entries(counters).map(([name, count]) => `${name}: ${count}`)].join('\n');
  const places = Object.entries(cells).map(([name, list]) => [name, list.map((cell) => placeOf(cell, grid))]);
  return JSON.stringify({ ...Object.fromEntries(places), ...counters });
}

/** For renderers. */
export function scene(board: Board, state: Int32Array, offset: number): Scene {
  const { grid, kinds } = board;
  const { cells } = layoutOf(board, state, offset);
  const item = (kind: string, symbol: string, cell: number): SceneItem => {
    const [row, column] = placeOf(cell, grid);
    return { kind, symbol, row, column };
  };
  return {
    rows: grid.rows,
    columns: grid.columns,
    items: [
      ...kinds.flatMap(({ name, symbol }) => cells[name].map((cell) => item(name, symbol, cell))),
      ...cells['agents'].map((cell, i) => item('agent', String(i + 1), cell)),
    ],
  };
}

function layoutOf({ kinds, things }: Board, state: Int32Array, offset: number): BoardLayout {
  const all = Array.from({ length: things }, (_, thing) => thing);
  const ofKind = (k: number) => all.filter((thing) => kindOfThing(state, offset, thing) === k);
  const cells: Record<string, readonly number[]> = { agents: [state[offset + AGENTS], state[offset + AGENTS + 1]] };
  kinds.forEach(({ name }, k) => {
    cells[name] = ofKind(k).map((thing) => cellOfThing(state, offset, thing));
  });
  return { cells, steps: state[offset + STEPS], streak: state[offset + STREAK] };
}

function fromText(where: string, { grid, kinds }: Board, text: string): unknown {
  const map = parseMap(where, text, grid, `12${kinds.map((kind) => kind.symbol).join('')}`);
  const placesOf = (symbol: string) => (map.cells.get(symbol) ?? []).map((cell) => placeOf(cell, grid));
  const agents = ['1', '2'].map((name) => {
    const found = placesOf(name);
    if (found.length !== 1)
      fail(where, `agent ${name} once`, `${found.length} on the map`, `Put ${name} on the map once.`);
    return found[0];
  });
  const things = kinds.map(({ name, symbol }) => [name, placesOf(symbol)] as const);
  const notes = [...map.notes].map(([name, count]) => [name, countOf(count)] as const);
  return { agents, ...Object.fromEntries([...things, ...notes]) };
}

/** The object form of a layout: the object itself, or a parsed map. */
function checked(
  where: string,
  { board: { grid, kinds }, maxSteps, showsStreak }: LayoutRules,
  given: unknown,
): BoardLayout {
  const names = ['agents', ...kinds.map((kind) => kind.name)];
  const schema = z.strictObject({
    ...Object.fromEntries(names.map((name) => [name, z.array(placeSchema)])),
    steps: whole(0, maxSteps).default(0),
    streak: whole(0, showsStreak ? maxSteps : 0).default(0),
  });
  const { steps, streak, ...places } = checkOptions(where, schema, given);
  const cells: Record<string, readonly number[]> = {};
  for (const [name, list] of Object.entries(places as Readonly<Record<string, readonly Place[]>>)) {
    cells[name] = list.map((place, i) => cellOf(where, `${name}[${i}]`, place, grid));
  }
  return { cells, steps, streak };
}

function checkCounts(where: string, { kinds, things }: Board, cells: BoardLayout['cells']): void {
  if (cells['agents'].length !== 2) fail(where, '1 and 2 once each', `${cells['agents'].length} agents`, 'Place both.');
  for (const { name, count } of kinds) {
    if (count !== undefined && cells[name].length !== count) {
      fail(where, `${count} of ${name}`, String(cells[name].length), 'The game always has that many.');
    }
    checkApart(where, name, cells[name]);
  }
  // Things that change their kind never share a cell, of one kind or of two.
  const changing = kinds.filter(({ count }) => count === undefined).map(({ name }) => name);
  checkApart(
    where,
    changing.join(' and '),
    changing.flatMap((name) => cells[name]),
  );
  const given = kinds.reduce((sum, { name }) => sum + cells[name].length, 0);
  if (given !== things) {
    const names = kinds.map((kind) => kind.name).join(' and ');
    fail(where, `${things} of ${names} together`, String(given), 'The game always has that many.');
  }
}

function checkApart(where: string, names: string, cells: readonly number[]): void {
  if (new Set(cells).size === cells.length) return;
  fail(where, `${names} on different cells`, 'two on one', 'Move one of them.');
}
