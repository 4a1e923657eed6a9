import type { Generator } from '@coplay/core';
import { addCell, hasCell, listCells, lowestBit, OUTSIDE, removeCell } from '../game';
import type { Rules } from './rules';

/** A probability is so many chances of 2^30: whole numbers, which the engine doesn't box as it may `uniform`'s. */
const CHANCES = 2 ** 30;

/**
 * Moves the prey that are left, after moves and hunts: one by one (stags before hares, each kind in reading order of
 * where they stand), each with probability `preyMoves` to a uniformly drawn neighbour that is free of obstacles and
 * other prey. Agents don't block it. A prey with no such neighbour stays.
 */
export function movePrey(rules: Rules, state: Int32Array, offset: number, generator: Generator): void {
  const { at, list, settings } = rules;
  // Listed before any prey moves, so that none moves twice.
  const stags = listCells(state, offset + at.stags, at.words, list);
  const prey = listCells(state, offset + at.hares, at.words, list, stags);
  for (let i = 0; i < prey; i++) {
    if (generator.integer(CHANCES) >= settings.preyMoves * CHANCES) continue;
    const next = openNeighbour(rules, state, offset, list[i], generator);
    if (next === OUTSIDE) continue;
    const kind = offset + (i < stags ? at.stags : at.hares);
    removeCell(state, kind, list[i]);
    addCell(state, kind, next);
  }
}

/** A neighbour where a prey can go, uniformly drawn; OUTSIDE if there is none. */
function openNeighbour(rules: Rules, state: Int32Array, offset: number, cell: number, generator: Generator): number {
  let open = 0; // a bit for each move
  let count = 0;
  for (let move = 0; move < 4; move++) {
    // At the border the neighbour is the cell itself, where the prey stands: not free.
    if (!isFree(rules, state, offset, rules.grid.neighbours[cell * 4 + move])) continue;
    open |= 1 << move;
    count++;
  }
  if (count === 0) return OUTSIDE;
  for (let skip = generator.integer(count); skip > 0; skip--) open &= open - 1;
  return rules.grid.neighbours[cell * 4 + lowestBit(open)];
}

/** Whether a cell holds neither obstacle nor prey. */
function isFree({ at }: Rules, state: Int32Array, offset: number, cell: number): boolean {
  if (hasCell(state, offset + at.obstacles, cell) === 1) return false;
  return hasCell(state, offset + at.stags, cell) === 0 && hasCell(state, offset + at.hares, cell) === 0;
}
