import { type Generator, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { type GridShape, gridAfter, gridOf, hasEnded } from './grid';

/** The state that planes are projected to: see {@link planesWorldModel}. */
export function decodePlanes(
  shape: GridShape,
  imagined: NamedArrays,
  rows: NamedArrays,
  generator?: Generator,
): NamedArrays {
  const { agents, cells, things, fixed } = shape;
  const before = gridOf(rows).cells;
  const C = agents + fixed + things;
  const planes = imagined['planes'].data;
  const leaving = imagined['terminated'].data;
  const count = before.length / agents;
  const next = before.map((cell, i) => {
    if (cell === cells || leaving[i] > (generator ? generator.uniform() : 0.5)) return cells;
    return greatest(planes, Math.floor(i / agents) * cells * C + (i % agents), C, cells);
  });
  const present = new Uint8Array(count * things * cells);
  for (let row = 0; row < count; row++) {
    for (let m = 0; m < things; m++) {
      for (let cell = 0; cell < cells; cell++) {
        const value = planes[(row * cells + cell) * C + agents + fixed + m];
        if (value > 0.5) present[(row * things + m) * cells + cell] = 1;
      }
    }
  }
  return {
    'next/cells': ndarray(next, [count, agents]),
    'next/things': ndarray(present, [count, things, cells]),
    rewards: ndarray(
      Float32Array.from(imagined['rewards'].data, (reward, i) => (before[i] === cells ? 0 : reward)),
      [count, agents],
    ),
    terminated: ndarray(hasEnded(shape, gridAfter(rows, next, present)), [count, agents]),
  };
}

/** [B, H, W, C] as they are. */
export function rawPlanes({ parts }: GridShape, imagined: NamedArrays): NDArray<Float32Array> {
  const { data, shape } = imagined['planes'];
  return ndarray(data as Float32Array, [shape[0], parts.rows, parts.columns, shape[2]]);
}

function greatest(values: ArrayLike<number>, start: number, stride: number, count: number): number {
  let best = 0;
  for (let i = 1; i < count; i++) if (values[start + i * stride] > values[start + best * stride]) best = i;
  return best;
}
