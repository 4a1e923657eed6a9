import { scaleLinear, scaleLog } from 'd3-scale';
import { area, line } from 'd3-shape';
import { svg } from './dom';
import type { Line, Points } from './lines';

const [WIDTH, HEIGHT] = [480, 240];
const MARGIN = { top: 8, right: 12, bottom: 24, left: 52 };
const COLOURS = 7;
/** With seven colours and four dashes all of 28 lines look different, and neighbours differ in both. */
const DASHES = ['', '7 3', '2 3', '9 3 2 3'];

/** How the i-th line looks. */
export function lookOf(i: number): { readonly class: string; readonly 'stroke-dasharray': string } {
  return { class: `line k${i % COLOURS}`, 'stroke-dasharray': DASHES[i % DASHES.length] };
}

/** A chart and the data needed to point into it. */
export interface Chart {
  readonly element: SVGSVGElement;
  /** The step at a place of the drawing, 0 (left edge) to 1. */
  stepAt(share: number): number;
  /** Puts the cursor at a step; undefined takes it away. */
  point(step: number | undefined): void;
  readonly steps: readonly [first: number, last: number];
}

/** Draws lines over steps. A logarithmic scale is used where every value is above 0. */
export function drawChart(lines: readonly Line[], label: string, isLog: boolean): Chart {
  const all = lines.flatMap((one) => [one, ...one.singles]);
  const steps = extent(all.map(({ x }) => x));
  const values = extent([...all.map(({ y }) => y), ...lines.flatMap((one) => [one.lower ?? [], one.upper ?? []])]);
  const x = scaleLinear(steps, [MARGIN.left, WIDTH - MARGIN.right]);
  const range = [HEIGHT - MARGIN.bottom, MARGIN.top];
  const y = isLog && values[0] > 0 ? scaleLog(values, range).nice() : scaleLinear(values, range).nice();
  const place = ({ x: at, y: value }: Points) =>
    line<number>(
      (i) => x(at[i]),
      (i) => y(value[i]),
    ).defined((i) => Number.isFinite(value[i]))(indices(at.length)) ?? '';
  const cursor = svg('line', { class: 'cursor', y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom, visibility: 'hidden' });
  const element = svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, tabindex: 0 },
    ...y
      .ticks(5)
      .map((tick) =>
        svg('line', { class: 'grid', x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: y(tick), y2: y(tick) }),
      ),
    ...y.ticks(5).map((tick) => svg('text', { x: MARGIN.left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, short(tick))),
    ...x.ticks(5).map((tick) => svg('text', { x: x(tick), y: HEIGHT - 6, 'text-anchor': 'middle' }, short(tick))),
    svg('line', {
      class: 'axis',
      x1: MARGIN.left,
      x2: WIDTH - MARGIN.right,
      y1: HEIGHT - MARGIN.bottom,
      y2: HEIGHT - MARGIN.bottom,
    }),
    ...lines.flatMap((one, i) =>
      one.singles.map((single) => svg('path', { class: `single k${i % COLOURS}`, d: place(single) })),
    ),
    ...lines.flatMap((one, i) => bandOf(one, i, x, y)),
    ...lines.map((one, i) => svg('path', { ...lookOf(i), d: place(one), 'data-curve': one.label })),
    ...lines.flatMap((one, i) =>
      (one.marks ?? []).map((mark) =>
        svg('line', {
          ...lookOf(i),
          'stroke-dasharray': '4 3',
          x1: x(mark),
          x2: x(mark),
          y1: MARGIN.top,
          y2: HEIGHT - MARGIN.bottom,
        }),
      ),
    ),
    cursor,
  );
  return {
    element,
    steps,
    stepAt: (share) => Math.min(steps[1], Math.max(steps[0], x.invert(share * WIDTH))),
    point(step) {
      cursor.setAttribute('visibility', step === undefined ? 'hidden' : 'visible');
      if (step === undefined) return;
      cursor.setAttribute('x1', String(x(step)));
      cursor.setAttribute('x2', String(x(step)));
    },
  };
}

function bandOf({ x: at, lower, upper }: Line, i: number, x: (step: number) => number, y: (value: number) => number) {
  if (!lower || !upper) return [];
  const shape = area<number>(
    (k) => x(at[k]),
    (k) => y(lower[k]),
    (k) => y(upper[k]),
  ).defined((k) => Number.isFinite(lower[k]) && Number.isFinite(upper[k]));
  return [svg('path', { class: `band f${i % COLOURS}`, d: shape(indices(at.length)) ?? '' })];
}

function indices(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

/** The least and the greatest finite number; a unit around it where there is one only. */
function extent(lists: readonly ArrayLike<number>[]): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      if (!Number.isFinite(list[i])) continue;
      least = Math.min(least, list[i]);
      most = Math.max(most, list[i]);
    }
  }
  if (least > most) return [0, 1];
  return least === most ? [least - 0.5, most + 0.5] : [least, most];
}

/** `1.5M`, `20k`, `0.25`, `1e-5` */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${round(value / 1e6)}M`;
  if (size >= 1e4) return `${round(value / 1e3)}k`;
  return size !== 0 && size < 1e-3 ? value.toExponential(0) : String(round(value));
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
