/** The number of ways to choose `size` of `total`. */
export function countSplits(total: number, size: number): number {
  let count = 1;
  for (let i = 1; i <= size; i++) count = (count * (total - size + i)) / i;
  return Math.round(count);
}

/** Visits the sum of every choice of `size` values. */
export function forEachSplit(values: ArrayLike<number>, size: number, visit: (sum: number) => void): void {
  const descend = (start: number, left: number, sum: number) => {
    if (left === 0) return visit(sum);
    for (let i = start; i <= values.length - left; i++) descend(i + 1, left - 1, sum + values[i]);
  };
  descend(0, size, 0);
}
