import { fail, show } from '@coplay/core';
import { createGrid, type Grid } from '../game';

/** Layouts of overcooked-ai, in its characters; counter-circuit is its counter_circuit_o_1order. */
export const LAYOUTS = {
  'cramped-room': `
    XXPXX
    O  2O
    X1  X
    XDXSX`,
  'asymmetric-advantages': `
    XXXXXXXXX
    O XSXOX S
    X   P 1 X
    X2  P   X
    XXXDXDXXX`,
  'coordination-ring': `
    XXXPX
    X 1 P
    D2X X
    O   X
    XOSXX`,
  'forced-coordination': `
    XXXPX
    O X1P
    O2X X
    D X X
    XXXSX`,
  'counter-circuit': `
    XXXPPXXX
    X  2   X
    D XXXX S
    X  1   X
    XXXOOXXX`,
} as const;

/** What stands in a cell. */
export const FLOOR = 0;
export const COUNTER = 1;
export const POT = 2;
export const ONIONS = 3;
export const DISHES = 4;
export const SERVING = 5;
/** A character for each of them, in a map. */
export const TERRAIN = ' XPODS';

/** Where agents cook. */
export interface Kitchen {
  readonly grid: Grid;
  /** [cells] FLOOR to SERVING */
  readonly terrain: Uint8Array;
  /** [P] cells of the pots, in reading order */
  readonly pots: readonly number[];
  /** [cells] the index of the pot in a cell, -1 for none */
  readonly potIn: Int32Array;
  /** [2] cells where the agents start */
  readonly starts: readonly number[];
}

/**
 * Reads a map: `X` counter, `P` pot, `O` onions, `D` dishes, `S` serving, blank floor, `1` and `2` agents. Blanks
 * before and behind lines don't count, so that lines begin and end with counters.
 *
 * @throws CoplayError for lines of different lengths, other characters, a floor at the edge, or missing agents
 */
export function readKitchen(where: string, map: string): Kitchen {
  const lines = map
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const columns = lines[0]?.length ?? 0;
  const odd = lines.find((line) => line.length !== columns);
  if (lines.length < 3 || columns < 3 || odd !== undefined || lines.length > 64 || columns > 64) {
    const expected = 'lines of the same length, 3 to 64 by 3 to 64';
    fail(where, expected, odd === undefined ? show(map) : show(odd), 'Begin and end each line with X, P, O, D or S.');
  }
  const characters = [...lines.join('')];
  const strange = characters.find((character) => !`${TERRAIN}12`.includes(character));
  if (strange !== undefined) {
    fail(where, `the characters "${TERRAIN}" for the kitchen, 1 and 2 for agents`, show(strange), 'Change it.');
  }
  const grid = createGrid(lines.length, columns);
  const terrain = Uint8Array.from(characters, (character) => Math.max(FLOOR, TERRAIN.indexOf(character)));
  const open = terrain.findIndex(
    (kind, cell) => kind === FLOOR && grid.isInside.subarray(cell * 4, cell * 4 + 4).includes(0),
  );
  if (open >= 0) {
    const got = `floor in row ${Math.floor(open / columns)}, column ${open % columns}`;
    fail(where, 'no floor at the edge', got, 'Put a counter there: X.');
  }
  const starts = ['1', '2'].map((agent) => {
    const found = characters.filter((character) => character === agent).length;
    if (found !== 1) fail(where, `agent ${agent} once`, `${found} of them`, `Write ${agent} in one cell.`);
    return characters.indexOf(agent);
  });
  const pots = Array.from(terrain.keys()).filter((cell) => terrain[cell] === POT);
  const potIn = new Int32Array(grid.cells).fill(-1);
  for (const [pot, cell] of pots.entries()) potIn[cell] = pot;
  return { grid, terrain, pots, potIn, starts };
}
