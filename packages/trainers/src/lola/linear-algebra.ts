/** Sum of products. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * The inverse of a small matrix [n, n] that is known to have one, by Gauss and Jordan, with the largest pivot of each
 * column.
 *
 * @param entry  of line s and column u
 */
export function inverse(n: number, entry: (s: number, u: number) => number): Float64Array {
  const width = 2 * n;
  const table = Float64Array.from({ length: n * width }, (_, i) => {
    const [s, u] = [Math.floor(i / width), i % width];
    return u < n ? entry(s, u) : u - n === s ? 1 : 0;
  });
  for (let pivot = 0; pivot < n; pivot++) {
    swapLines(table, width, pivot, largest(table, width, n, pivot));
    const factor = 1 / table[pivot * width + pivot];
    for (let u = 0; u < width; u++) table[pivot * width + u] *= factor;
    for (let s = 0; s < n; s++) {
      const share = table[s * width + pivot];
      for (let u = 0; u < width && s !== pivot; u++) table[s * width + u] -= share * table[pivot * width + u];
    }
  }
  return Float64Array.from({ length: n * n }, (_, i) => table[Math.floor(i / n) * width + n + (i % n)]);
}

/** The line from `pivot` on whose entry in that column is the largest in size. */
function largest(table: Float64Array, width: number, n: number, pivot: number): number {
  let best = pivot;
  for (let s = pivot; s < n; s++) {
    if (Math.abs(table[s * width + pivot]) > Math.abs(table[best * width + pivot])) best = s;
  }
  return best;
}

function swapLines(table: Float64Array, width: number, a: number, b: number): void {
  for (let u = 0; u < width && a !== b; u++) {
    const kept = table[a * width + u];
    table[a * width + u] = table[b * width + u];
    table[b * width + u] = kept;
  }
}
