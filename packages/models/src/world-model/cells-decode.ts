import { type Generator, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { drawIndex } from '@coplay/core/rows';
import { type GridShape, gridAfter, gridOf, hasEnded, payByEvents } from './grid';
import { LEAVE, MOVES } from './moves';

/** The cell that each agent goes to, the things that are left, and what that pays. */
export function decodeCells(
  shape: GridShape,
  neighbours: Int32Array,
  imagined: NamedArrays,
  rows: NamedArrays,
  generator?: Generator,
): NamedArrays {
  const { agents, cells } = shape;
  const before = gridOf(rows).cells;
  const moves = imagined['moves'].data as Float32Array;
  const next = before.map((cell, i) => {
    if (cell === cells) return cells;
    const move = generator
      ? Math.max(0, drawIndex(moves, generator, i * MOVES, MOVES))
      : mostProbable(moves, i * MOVES);
    return move === LEAVE ? cells : neighbours[cell * LEAVE + move];
  });
  const things = imagined['things'];
  const present = things
    ? Uint8Array.from(things.data, (p) => (p > (generator ? generator.uniform() : 0.5) ? 1 : 0))
    : new Uint8Array(0);
  const count = before.length / agents;
  const after = gridAfter(rows, next, present);
  const rewards = imagined['rewards']
    ? paidWhilePlaying(imagined['rewards'].data, before, cells)
    : payByEvents(shape, rows, after);
  return {
    'next/cells': ndarray(next, [count, agents]),
    'next/things': ndarray(present, [count, shape.things, cells]),
    rewards: ndarray(rewards, [count, agents]),
    terminated: ndarray(hasEnded(shape, after), [count, agents]),
  };
}

/**
 * Raw planes [B, H, W, A + F + M]: the probability of each agent being in each cell, what stays as it was, the
 * probability of each thing.
 */
export function expectedPlanes(
  { parts, agents, cells, things, fixed }: GridShape,
  neighbours: Int32Array,
  imagined: NamedArrays,
  rows: NamedArrays,
): NDArray<Float32Array> {
  const { cells: before, fixed: stays } = gridOf(rows);
  const count = before.length / agents;
  const C = agents + fixed + things;
  const planes = new Float32Array(count * cells * C);
  const moves = imagined['moves'].data;
  for (let row = 0; row < count; row++) {
    const base = row * cells * C;
    for (let agent = 0; agent < agents; agent++) {
      const i = row * agents + agent;
      if (before[i] === cells) continue;
      for (let move = 0; move < LEAVE; move++) {
        const target = neighbours[before[i] * LEAVE + move];
        if (target >= 0) planes[base + target * C + agent] += moves[i * MOVES + move];
      }
    }
    for (let cell = 0; cell < cells; cell++) {
      const pixel = base + cell * C + agents;
      for (let f = 0; f < fixed; f++) planes[pixel + f] = stays[(row * fixed + f) * cells + cell];
      for (let m = 0; m < things; m++) {
        planes[pixel + fixed + m] = imagined['things'].data[(row * things + m) * cells + cell];
      }
    }
  }
  return ndarray(planes, [count, parts.rows, parts.columns, C]);
}

function paidWhilePlaying(rewards: ArrayLike<number>, before: Int32Array, cells: number): Float32Array {
  return Float32Array.from(rewards, (reward, i) => (before[i] === cells ? 0 : reward));
}

function mostProbable(probabilities: Float32Array, start: number): number {
  let best = 0;
  for (let move = 1; move < MOVES; move++) if (probabilities[start + move] > probabilities[start + best]) best = move;
  return best;
}
