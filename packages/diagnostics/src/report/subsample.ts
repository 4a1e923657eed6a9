import type { Curve } from '../statistics';

/**
 * Places of at most `points` values of a curve: the first, the last, and in each of equally long stretches the least
 * and the greatest, so that no spike is lost. NaN and infinities are left out.
 *
 * @param points  at least 4
 */
export function subsample(values: ArrayLike<number>, points: number): number[] {
  const finite: number[] = [];
  for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) finite.push(i);
  if (finite.length <= 2) return finite;
  if (finite.every((place) => values[place] === values[finite[0]])) return [finite[0], finite[finite.length - 1]];
  if (finite.length <= points) return finite;
  const stretches = Math.floor((points - 2) / 2);
  const kept = new Set([finite[0], finite[finite.length - 1]]);
  for (let s = 0; s < stretches; s++) {
    const start = Math.floor((s * finite.length) / stretches);
    const end = Math.floor(((s + 1) * finite.length) / stretches);
    const [least, greatest] = extremes(values, finite, start, end);
    kept.add(least).add(greatest);
  }
  return [...kept].sort((a, b) => a - b);
}

function extremes(values: ArrayLike<number>, places: readonly number[], start: number, end: number): [number, number] {
  let [least, greatest] = [places[start], places[start]];
  for (let i = start; i < end; i++) {
    if (values[places[i]] < values[least]) least = places[i];
    if (values[places[i]] > values[greatest]) greatest = places[i];
  }
  return [least, greatest];
}

/** Means over at most `count` stretches of as many points each; a stretch stands at its mean step. */
export function stretchMeans({ steps, values }: Curve, count: number): Curve {
  const rows = steps.map((step, i) => [step, values[i]]).filter(([, value]) => Number.isFinite(value));
  const stretches = Math.min(count, rows.length);
  const means: Curve = {
    steps: Array.from({ length: stretches }, (_, s) => meanOf(rows, 0, s, stretches)),
    values: Array.from({ length: stretches }, (_, s) => meanOf(rows, 1, s, stretches)),
  };
  return means;
}

function meanOf(rows: readonly (readonly number[])[], column: 0 | 1, stretch: number, stretches: number): number {
  const start = Math.floor((stretch * rows.length) / stretches);
  const end = Math.floor(((stretch + 1) * rows.length) / stretches);
  let sum = 0;
  for (let i = start; i < end; i++) sum += rows[i][column];
  return sum / (end - start);
}
