import type { Run } from '../runs';
import type { Curve } from '../statistics';
import { bandOf } from './band';
import { columnsOf } from './columns';
import type { PageCurve, PageGroup, PageLine, PageMetric, PageRun, PageSeries } from './data';
import { METRIC_DOCS } from './generated/metric-docs';
import { explain, type KnownNames, partsOf } from './keys';
import { packFloats, packPlaces } from './pack';
import { stretchMeans, subsample } from './subsample';

/** Points of a curve at most; fewer where there are so many curves that the page would become heavy. */
const MOST_POINTS = 500;
const FEWEST_POINTS = 40;
/** Characters for all curves together. */
const BUDGET = 6_500_000;
const CHARACTERS_PER_POINT = 8;
/** Points of the middle line. */
const LINE_POINTS = 100;
/** Steps of a run that curves point into. */
const PLACES = 2000;

const places = new WeakMap<Run['entries'], Map<number, number>>();

type Keyed = Readonly<{ group: number; agent: string; run: number; key: string }>;

/** All metrics of the runs, in the order of docs/metrics.md; other metrics come last. */
export function pageMetrics(runs: readonly Run[], groups: readonly PageGroup[], names: KnownNames): PageMetric[] {
  const byMetric = new Map<string, Map<string, Keyed[]>>();
  let curves = 0;
  groups.forEach(({ runs: members }, group) => {
    for (const run of members) {
      for (const key of columnsOf(runs[run]).keys()) {
        const { metric, agent } = partsOf(key, names);
        const series = byMetric.get(metric) ?? new Map<string, Keyed[]>();
        const id = `${group} ${agent}`;
        series.set(id, [...(series.get(id) ?? []), { group, agent, run, key }]);
        byMetric.set(metric, series);
        curves++;
      }
    }
  });
  const affordable = Math.floor(BUDGET / (CHARACTERS_PER_POINT * Math.max(1, curves)));
  const points = Math.min(MOST_POINTS, Math.max(FEWEST_POINTS, affordable));
  const found = [...byMetric].map(([key, series]) => ({ key, series: packAll([...series.values()], runs, points) }));
  return found.filter(({ series }) => series.length > 0).sort((a, b) => rank(a.key) - rank(b.key));
}

/** The steps of a run that its curves point into: every update's, or every `stride`-th. */
export function pageSteps({ entries }: Run): PageRun['steps'] {
  const stride = strideOf(entries.length);
  return entries.filter((_, i) => i % stride === 0).map(({ envSteps }) => envSteps);
}

function strideOf(entries: number): number {
  return Math.max(1, Math.ceil(entries / PLACES));
}

function rank(metric: string): number {
  const doc = explain(metric);
  return doc ? METRIC_DOCS.indexOf(doc) : METRIC_DOCS.length;
}

function packAll(series: readonly Keyed[][], runs: readonly Run[], points: number): PageSeries[] {
  const packed = series.flatMap((keyed) => packSeries(keyed, runs, points) ?? []);
  return packed.sort((a, b) => a.group - b.group || a.agent.localeCompare(b.agent, 'en', { numeric: true }));
}

function packSeries(keyed: readonly Keyed[], runs: readonly Run[], points: number): PageSeries | undefined {
  const curves: PageCurve[] = [];
  const smoothed: Curve[] = [];
  for (const { run, key } of keyed) {
    const curve = columnsOf(runs[run]).get(key)!;
    const kept = subsample(curve.values, points);
    if (kept.length === 0) continue; // nothing but NaN
    curves.push(packCurve(runs[run], run, curve, kept));
    smoothed.push(stretchMeans(curve, LINE_POINTS));
  }
  if (curves.length === 0) return undefined;
  return { group: keyed[0].group, agent: keyed[0].agent, line: packLine(smoothed), curves };
}

function packCurve(run: Run, index: number, { steps, values }: Curve, places: readonly number[]): PageCurve {
  const placeOf = placesOf(run);
  const at = packPlaces(places.map((place) => placeOf.get(steps[place])!));
  return { run: index, at, values: packFloats(places.map((place) => values[place])) };
}

/** The place of each step in {@link pageSteps}. */
function placesOf({ entries }: Run): Map<number, number> {
  const made = places.get(entries);
  if (made) return made;
  const stride = strideOf(entries.length);
  const found = new Map(entries.map(({ envSteps }, i) => [envSteps, Math.floor(i / stride)]));
  places.set(entries, found);
  return found;
}

/** The mean over runs with its interval; of a single run its means. */
function packLine(curves: readonly Curve[]): PageLine {
  if (curves.length === 1) return { x: packFloats(curves[0].steps), y: packFloats(curves[0].values) };
  const { steps, mean, lower, upper } = bandOf(curves, LINE_POINTS);
  return { x: packFloats(steps), y: packFloats(mean), lower: packFloats(lower), upper: packFloats(upper) };
}
