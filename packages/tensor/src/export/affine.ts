/** A size that grows with the batch: slope x batch + offset. */
export interface Affine {
  readonly slope: number;
  readonly offset: number;
}

/**
 * The line through sizes that were seen at different batch sizes.
 *
 * @param batches  at least three, else any two sizes lie on a line
 * @param sizes    one for each
 * @returns undefined if there is none with whole numbers
 */
export function fitAffine(batches: readonly number[], sizes: readonly number[]): Affine | undefined {
  const slope = (sizes[1] - sizes[0]) / (batches[1] - batches[0]);
  const offset = sizes[0] - slope * batches[0];
  const isLine = Number.isInteger(slope) && sizes.every((size, i) => size === slope * batches[i] + offset);
  return isLine ? { slope, offset } : undefined;
}

/** The same for each axis of shapes; undefined if one has none. */
export function fitShape(batches: readonly number[], shapes: readonly (readonly number[])[]): Affine[] | undefined {
  if (shapes.some(({ length }) => length !== shapes[0].length)) return undefined;
  const axes = shapes[0].map((_, axis) =>
    fitAffine(
      batches,
      shapes.map((shape) => shape[axis]),
    ),
  );
  return axes.every((axis) => axis !== undefined) ? (axes as Affine[]) : undefined;
}

/** `batch`, `2*batch`, `batch+1`: the name of an axis in a file; undefined where the size is fixed. */
export function nameOfSize({ slope, offset }: Affine): string | undefined {
  if (slope === 0) return undefined;
  const product = slope === 1 ? 'batch' : `${slope}*batch`;
  if (offset === 0) return product;
  return offset > 0 ? `${product}+${offset}` : `${product}${offset}`;
}
