import { createGenerator, streamSeed } from '@coplay/core';
import { type Band, bandOverRuns, type Curve } from '../statistics';
import { quantileOfSorted } from '../statistics/summary';

const RESAMPLES = 1000;
/** By number of runs: [RESAMPLES, runs] how often each run is drawn. */
const drawn = new Map<number, Float64Array>();

/**
 * The mean over runs with its 95 % bootstrap interval, as {@link bandOverRuns} gives it. Runs of the same steps, which
 * is the rule, share their resamples: a page has thousands of such points.
 */
export function bandOf(curves: readonly Curve[], points: number): Band {
  const [{ steps }] = curves;
  const isAligned = curves.every(
    (curve) => curve.steps.length === steps.length && curve.steps.every((s, i) => s === steps[i]),
  );
  if (!isAligned || curves.length < 2) return bandOverRuns(curves, points);
  const estimates = steps.map((_, point) => estimate(curves, point));
  return {
    steps,
    mean: estimates.map(([mean]) => mean),
    lower: estimates.map(([, lower]) => lower),
    upper: estimates.map(([, , upper]) => upper),
  };
}

function estimate(curves: readonly Curve[], point: number): [mean: number, lower: number, upper: number] {
  const runs = curves.length;
  const draws = drawsOf(runs);
  const means = new Float64Array(RESAMPLES);
  for (let i = 0; i < RESAMPLES; i++) {
    let sum = 0;
    for (let run = 0; run < runs; run++) sum += draws[i * runs + run] * curves[run].values[point];
    means[i] = sum / runs;
  }
  means.sort();
  const mean = curves.reduce((sum, { values }) => sum + values[point], 0) / runs;
  return [mean, quantileOfSorted(means, 0.025), quantileOfSorted(means, 0.975)];
}

function drawsOf(runs: number): Float64Array {
  const made = drawn.get(runs);
  if (made) return made;
  const counts = new Float64Array(RESAMPLES * runs);
  const generator = createGenerator(streamSeed(0, 'band'));
  for (let i = 0; i < RESAMPLES; i++) for (let n = 0; n < runs; n++) counts[i * runs + generator.integer(runs)]++;
  drawn.set(runs, counts);
  return counts;
}
