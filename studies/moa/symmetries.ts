import { type Generator, type NamedArrays, ndarray } from '@coplay/core';
import { DOWN, LEFT, RIGHT, UP } from './rules';

/** How one symmetry of the square moves cells and actions. */
interface Symmetry {
  /** [N*N] where each cell goes */
  readonly cells: Int32Array;
  /** [K] the image of each action */
  readonly actions: Int32Array;
}

/**
 * The eight symmetries of a square board of N x N cells: turns and reflections. The rules of the stag hunt know no
 * direction.
 */
export function squareSymmetries(size: number, actions: number): Symmetry[] {
  const symmetries: Symmetry[] = [];
  for (let turns = 0; turns < 4; turns++) {
    for (const isMirrored of [false, true]) {
      const place = (row: number, column: number): [number, number] => {
        let [r, c] = isMirrored ? [row, size - 1 - column] : [row, column];
        for (let turn = 0; turn < turns; turn++) [r, c] = [c, size - 1 - r];
        return [r, c];
      };
      const cells = Int32Array.from({ length: size * size }, (_, cell) => {
        const [row, column] = place(Math.floor(cell / size), cell % size);
        return row * size + column;
      });
      symmetries.push({ cells, actions: movedActions(place, actions) });
    }
  }
  return symmetries;
}

/** A move becomes the one that leads from the image of a cell to the image of its neighbour. */
function movedActions(place: (row: number, column: number) => [number, number], count: number): Int32Array {
  const steps: Record<number, readonly [number, number]> = {
    [UP]: [-1, 0],
    [DOWN]: [1, 0],
    [LEFT]: [0, -1],
    [RIGHT]: [0, 1],
  };
  const actions = Int32Array.from({ length: count }, (_, action) => action);
  for (const action of [UP, DOWN, LEFT, RIGHT]) {
    const [from, to] = [place(1, 1), place(1 + steps[action][0], 1 + steps[action][1])];
    const isImage = (other: number) => to[0] - from[0] === steps[other][0] && to[1] - from[1] === steps[other][1];
    actions[action] = [UP, DOWN, LEFT, RIGHT].find(isImage) as number;
  }
  return actions;
}

/** Rows seen under symmetries drawn at random, one for each episode. */
export function turnedRows(rows: NamedArrays, generator: Generator): NamedArrays {
  const planes = rows['observations/planes'];
  const [count, size, , channels] = planes.shape;
  const kinds = rows['masks'].shape[1];
  const symmetries = squareSymmetries(size, kinds);
  const turned = { planes: new Uint8Array(planes.data.length), masks: new Uint8Array(count * kinds) };
  const actions = new Int32Array(count);
  let symmetry = symmetries[0];
  for (let row = 0; row < count; row++) {
    if (rows['isFirst'].data[row] === 1) symmetry = symmetries[generator.integer(symmetries.length)];
    for (let cell = 0; cell < size * size; cell++) {
      const from = (row * size * size + cell) * channels;
      const to = (row * size * size + symmetry.cells[cell]) * channels;
      for (let c = 0; c < channels; c++) turned.planes[to + c] = planes.data[from + c];
    }
    for (let k = 0; k < kinds; k++)
      turned.masks[row * kinds + symmetry.actions[k]] = rows['masks'].data[row * kinds + k];
    actions[row] = symmetry.actions[rows['actions'].data[row]];
  }
  return {
    ...rows,
    'observations/planes': ndarray(turned.planes, planes.shape),
    masks: ndarray(turned.masks, rows['masks'].shape),
    actions: ndarray(actions),
  };
}
