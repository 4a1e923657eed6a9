/** Features with mean 0 and variance 1 over the rows that are fitted, and a constant. */
export interface Standardised {
  /** D + 1 */
  readonly width: number;
  /** [rows, D + 1] the last one 1 */
  take(rows: Int32Array): Float64Array;
}

/** Scales features [N, D] by the given rows; a feature that is constant there becomes 0. */
export function standardise(features: Float32Array, size: number, rows: Int32Array): Standardised {
  const means = new Float64Array(size);
  const scales = new Float64Array(size);
  for (let d = 0; d < size; d++) {
    let sum = 0;
    for (const row of rows) sum += features[row * size + d];
    means[d] = sum / Math.max(1, rows.length);
    let squares = 0;
    for (const row of rows) squares += (features[row * size + d] - means[d]) ** 2;
    const deviation = Math.sqrt(squares / Math.max(1, rows.length));
    scales[d] = deviation > 1e-9 ? 1 / deviation : 0;
  }
  const width = size + 1;
  return {
    width,
    take: (wanted) => {
      const taken = new Float64Array(wanted.length * width).fill(1);
      wanted.forEach((row, i) => {
        for (let d = 0; d < size; d++) taken[i * width + d] = (features[row * size + d] - means[d]) * scales[d];
      });
      return taken;
    },
  };
}
