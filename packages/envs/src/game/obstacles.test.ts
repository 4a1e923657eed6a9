import { createGenerator } from '@coplay/core';
import { expect, test } from 'vitest';
import { listCells, setWords } from './cell-set';
import { createGrid } from './grid';
import { obstacleDrawer } from './obstacles';

/** Draws obstacles many times; each draw is a list of cells in reading order. */
function draws(size: number, pieces: number, needed: number, count: number): number[][] {
  const grid = createGrid(size, size);
  const draw = obstacleDrawer('test', grid, pieces, needed);
  const generator = createGenerator(11);
  const words = setWords(grid.cells);
  return Array.from({ length: count }, () => {
    const state = new Int32Array(words + 2).fill(-1);
    draw(state, 1, generator);
    expect([state[0], state[words + 1]]).toEqual([-1, -1]);
    const cells: number[] = [];
    listCells(state, 1, words, cells);
    return cells;
  });
}

/** Whether all cells of a square grid that aren't blocked can be reached from one of them. */
function isConnected(size: number, blocked: ReadonlySet<number>): boolean {
  const free = Array.from({ length: size * size }, (_, cell) => cell).filter((cell) => !blocked.has(cell));
  const reached = new Set(free.slice(0, 1));
  for (const cell of reached) {
    const [row, column] = [Math.floor(cell / size), cell % size];
    const near = [
      row > 0 && cell - size,
      row < size - 1 && cell + size,
      column > 0 && cell - 1,
      column < size - 1 && cell + 1,
    ];
    for (const next of near) if (next !== false && !blocked.has(next)) reached.add(next);
  }
  return reached.size === free.length;
}

test('free cells stay 4-connected and enough', () => {
  for (const cells of draws(8, 8, 40, 300)) {
    expect(cells.length).toBeLessThanOrEqual(64 - 40);
    expect(isConnected(8, new Set(cells))).toBe(true);
  }
});

/** Probability of each set of cells for at most one piece, by listing all kinds, turns and places. */
function chancesOfOnePiece(size: number): Map<string, number> {
  const kinds = [
    [
      [0, 0],
      [0, 1],
      [0, 2],
    ],
    [
      [0, 0],
      [1, 0],
      [1, 1],
    ],
    [
      [0, 0],
      [0, 1],
      [0, 2],
      [0, 3],
    ],
    [
      [0, 0],
      [1, 0],
      [2, 0],
      [2, 1],
    ],
  ];
  const chances = new Map([['', 1 / 2]]);
  for (const kind of kinds) {
    for (let turn = 0; turn < 8; turn++) {
      // Four quarter turns, of the piece or of its mirror image.
      let points = turn < 4 ? kind : kind.map(([row, column]) => [row, -column]);
      for (let quarter = 0; quarter < turn % 4; quarter++) points = points.map(([row, column]) => [column, -row]);
      const places: string[] = [];
      for (let shift = 0; shift < 25 * size * size; shift++) {
        const [down, right] = [(shift % (5 * size)) - 2 * size, Math.floor(shift / (5 * size)) - 2 * size];
        const moved = points.map(([row, column]) => [row + down, column + right]);
        const isInside = moved.flat().every((value) => value >= 0 && value < size);
        if (isInside)
          places.push(
            moved
              .map(([row, column]) => row * size + column)
              .sort((a, b) => a - b)
              .join(' '),
          );
      }
      for (const place of places) chances.set(place, (chances.get(place) ?? 0) + 1 / 2 / 4 / 8 / places.length);
    }
  }
  for (const place of chances.keys()) {
    if (!isConnected(size, new Set(place === '' ? [] : place.split(' ').map(Number)))) chances.delete(place);
  }
  const total = [...chances.values()].reduce((sum, chance) => sum + chance, 0);
  return new Map([...chances].map(([place, chance]) => [place, chance / total]));
}

test('one piece on 4x4: every kind, turn and place as often as it should be', { tags: ['slow'] }, () => {
  const N = 40_000;
  const counts = new Map<string, number>();
  for (const cells of draws(4, 1, 9, N)) counts.set(cells.join(' '), (counts.get(cells.join(' ')) ?? 0) + 1);
  const chances = chancesOfOnePiece(4);
  expect([...counts.keys()].filter((cells) => !chances.has(cells))).toEqual([]);
  let chiSquare = 0;
  for (const [cells, chance] of chances) chiSquare += ((counts.get(cells) ?? 0) - N * chance) ** 2 / (N * chance);
  // With n degrees of freedom: mean n, standard deviation sqrt(2 n).
  const n = chances.size - 1;
  expect(n).toBeGreaterThan(80);
  expect(chiSquare).toBeLessThan(n + 5 * Math.sqrt(2 * n));
});

test('the number of pieces is uniform in 0..pieces', () => {
  // On a large grid two pieces hardly ever touch or cut: 0, 1 and 2 pieces have 0, 3 or 4, and 6 to 8 cells.
  const sizes = draws(24, 2, 100, 9000).map((cells) => cells.length);
  const share = (from: number, to: number) => sizes.filter((size) => size >= from && size <= to).length / 9000;
  // sd sqrt(2 / 9 / 9000) = 0.005
  for (const part of [share(0, 0), share(3, 4), share(6, 8)]) expect(Math.abs(part - 1 / 3)).toBeLessThan(0.025);
});
