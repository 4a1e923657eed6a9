import { fail, parseJson, type Scene, type SceneItem, show } from '@coplay/core';
import { cellOf, drawMap, type Grid, parseMap, placeOf } from '../../game';
import { AGENTS, type Board, cellOfThing, clear, kindOfThing, put, STEPS, STREAK } from './board';

/** Cells by kind: `agents` in their order, then each kind of the board by name; and the counters. */
interface BoardLayout {
  readonly cells: Readonly<Record<string, readonly number[]>>;
  readonly steps: number;
  readonly streak: number;
}

/**
 * Starts from a text map (`.` free, `1` and `2` the agents, one character for each kind of thing, below it lines such
 * as `steps: 3`), or, where several things share a cell, from `{ agents: [[row, column], ...], KIND: [...] }` or its JSON.
 *
 * @throws CoplayError, and then the state is as it was before
 */
export function readLayout(name: string, board: Board, layout: unknown, state: Int32Array, offset: number): void {
  const where = `${name} layout`;
  const isMap = typeof layout === 'string' && !layout.trimStart().startsWith('{');
  const { cells, steps, streak } = isMap ? fromText(where, board, layout) : fromObject(where, board, layout);
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

function fromText(where: string, { grid, kinds }: Board, text: string): BoardLayout {
  const map = parseMap(where, text, grid, `12${kinds.map((kind) => kind.symbol).join('')}`);
  const cells: Record<string, readonly number[]> = {
    agents: [...(map.cells.get('1') ?? []), ...(map.cells.get('2') ?? [])],
  };
  for (const { name, symbol } of kinds) cells[name] = map.cells.get(symbol) ?? [];
  return { cells, ...counters(where, Object.fromEntries(map.notes), []) };
}

function fromObject(where: string, { grid, kinds }: Board, layout: unknown): BoardLayout {
  const given =
    typeof layout === 'string'
      ? parseJson(where, layout, { expected: 'a text map, or JSON of lists of places' })
      : layout;
  if (given === null || typeof given !== 'object')
    fail(where, 'a text map or lists of places', show(given), 'Give a map.');
  const record = given as Record<string, unknown>;
  const names = ['agents', ...kinds.map((kind) => kind.name)];
  const cells = Object.fromEntries(names.map((name) => [name, placesOf(where, name, record[name], grid)]));
  return { cells, ...counters(where, record, names) };
}

function placesOf(where: string, name: string, places: unknown, grid: Grid): number[] {
  if (!Array.isArray(places)) fail(where, `${name}: a list of places [row, column]`, show(places), 'Give the list.');
  return places.map((place, i) => cellOf(where, `${name}[${i}]`, place, grid));
}

function counters(where: string, record: Record<string, unknown>, others: readonly string[]) {
  const unknown = Object.keys(record).find((name) => !['steps', 'streak', ...others].includes(name));
  if (unknown !== undefined) {
    fail(where, `the entries ${[...others, 'steps', 'streak'].join(', ')}`, show(unknown), 'Remove it.');
  }
  const count = (name: string): number => {
    const value = Number(record[name] ?? 0);
    if (!Number.isInteger(value) || value < 0)
      fail(where, `${name}: a whole number`, show(record[name]), 'Correct it.');
    return value;
  };
  return { steps: count('steps'), streak: count('streak') };
}

function checkCounts(where: string, { kinds, things }: Board, cells: BoardLayout['cells']): void {
  if (cells['agents'].length !== 2) fail(where, '1 and 2 once each', `${cells['agents'].length} agents`, 'Place both.');
  for (const { name, count } of kinds) {
    if (count !== undefined && cells[name].length !== count) {
      fail(where, `${count} of ${name}`, String(cells[name].length), 'The game always has that many.');
    }
    if (new Set(cells[name]).size !== cells[name].length) {
      fail(where, `${name} on different cells`, 'two on one', 'Move one of them.');
    }
  }
  const given = kinds.reduce((sum, { name }) => sum + cells[name].length, 0);
  if (given !== things) {
    const names = kinds.map((kind) => kind.name).join(' and ');
    fail(where, `${things} of ${names} together`, String(given), 'The game always has that many.');
  }
}
