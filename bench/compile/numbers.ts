import { type NDArray, ndarray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';

/** An array made by a formula, so that every language can make the same one from its line of JSON. */
export type Draw = { readonly shape: readonly number[] } & (
  | { readonly kind: 'uniform'; readonly scale: number; readonly offset: number }
  | { readonly kind: 'gumbel' }
  | { readonly kind: 'index'; readonly below: number }
);

/** Arrays by name. */
export type Draws = Readonly<Record<string, Draw>>;

/** Numbers of offset +- scale. */
export function numbers(shape: readonly number[], scale = 1, offset = 0): Draw {
  return { shape, kind: 'uniform', scale, offset };
}

/**
 * A weight matrix, or a filter, of outputs as large as inputs: +-sqrt(3 / fan-in). The last dimension counts outputs.
 */
export function kernel(...shape: readonly number[]): Draw {
  return numbers(shape, Math.sqrt(3 / sizeOf(shape.slice(-3, -1))));
}

/** A small bias. */
export function bias(...shape: readonly number[]): Draw {
  return numbers(shape, 0.1);
}

/** Gumbel noise -ln(-ln u): the largest of logits plus noise is a sample of their distribution. */
export function gumbel(...shape: readonly number[]): Draw {
  return { shape, kind: 'gumbel' };
}

/** int32 in 0..below-1 */
export function indices(shape: readonly number[], below: number): Draw {
  return { shape, kind: 'index', below };
}

/** The arrays of a record; each has its place in the record, counted on from `first`, as its seed. */
export function drawAll(draws: Draws, first: number): Record<string, NDArray> {
  return Object.fromEntries(Object.entries(draws).map(([name, draw], i) => [name, drawOne(draw, first + i)]));
}

function drawOne(draw: Draw, seed: number): NDArray {
  const u = Float64Array.from({ length: sizeOf(draw.shape) }, (_, i) => uniform(seed, i));
  switch (draw.kind) {
    case 'uniform':
      return ndarray(
        Float32Array.from(u, (x) => draw.offset + draw.scale * (2 * x - 1)),
        draw.shape,
      );
    case 'gumbel':
      return ndarray(
        Float32Array.from(u, (x) => -Math.log(-Math.log(x))),
        draw.shape,
      );
    case 'index':
      return ndarray(
        Int32Array.from(u, (x) => Math.floor(x * draw.below)),
        draw.shape,
      );
  }
}

/** In (0, 1): the i-th number of a seed, mixed as MurmurHash3 ends (Appleby). */
function uniform(seed: number, i: number): number {
  let x = (Math.imul(seed, 0x9e3779b9) + i) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (((x ^ (x >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}
