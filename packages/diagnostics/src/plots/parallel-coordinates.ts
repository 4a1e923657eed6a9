import { fail } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { INK } from './colours';
import { checkFigure, drawFigure, type FigureOptions } from './frame';

/** Things with several properties, such as the settings and the return of runs. R rows, A axes. */
export interface ParallelCoordinatesData {
  /** [A] names, from the left; the last one gives the lines their colours */
  readonly axes: readonly string[];
  /** [R, A] numbers or names; null where a row has none: its line has a gap there. Numbers only on the last axis */
  readonly rows: readonly (readonly (number | string | null)[])[];
  /**
   * Scales of axes of numbers, by name; all numbers of a logarithmic axis are above 0. Default: logarithmic where all
   * are above 0 and differ by a factor of 50 or more
   */
  readonly scales?: Readonly<Record<string, 'linear' | 'log'>>;
}

const schema = z.looseObject({
  axes: z
    .array(z.string())
    .min(2)
    .refine((axes) => new Set(axes).size === axes.length, 'names that differ'),
  rows: z.array(z.array(z.union([z.number(), z.string(), z.null()]))).min(1),
  scales: z.record(z.string(), z.enum(['linear', 'log'])).optional(),
});

/** Ratio of the ends from which an axis is logarithmic. */
const LOGARITHMIC = 50;
/** Colours in the key. */
const BANDS = 64;
/** Most names that an axis writes. */
const MOST_TICKS = 12;

/**
 * Every row as a line across vertical axes, one axis for each property (Inselberg 1985): shows which settings the best
 * runs share. Numbers run from the least to the greatest of their axis; names are spread evenly, in the order in which
 * they come. The last axis is drawn as a band in the colours of the lines, as their key.
 *
 * @returns SVG as text
 * @throws CoplayError if rows don't fit the axes, or a logarithmic axis has a number that isn't above 0
 */
export async function parallelCoordinates(data: ParallelCoordinatesData, options: FigureOptions = {}): Promise<string> {
  const checked = checkFigure('parallelCoordinates', options);
  checkArgument('parallelCoordinates', 'data', schema, data);
  const { axes, rows, scales: given = {} } = data;
  const last = axes.length - 1;
  const wrong = rows.findIndex((row) => row.length !== axes.length || typeof row[last] === 'string');
  if (wrong >= 0) {
    const expected = `${axes.length} values in each row, a number or null in the last`;
    const remedy = 'Give a value for each axis, null where there is none.';
    fail('parallelCoordinates', expected, `${JSON.stringify(rows[wrong])} in row ${wrong}`, remedy);
  }
  const scales = axes.map((axis, a) => {
    const values = rows.map((row) => row[a]).filter((value) => value !== null);
    const isLog = Object.hasOwn(given, axis) ? given[axis] === 'log' : undefined;
    const low = isLog ? values.find((value) => typeof value === 'number' && value <= 0) : undefined;
    if (low !== undefined) {
      fail('parallelCoordinates', `numbers above 0 on the logarithmic axis ${axis}`, String(low), 'Draw it linearly.');
    }
    return scaleOf(values, isLog);
  });
  const points = rows.flatMap((row, r) =>
    row.map((value, a) => ({
      ...{ row: r, axis: axes[a], colour: row[last] },
      height: value === null ? Number.NaN : scales[a].heightOf(value),
    })),
  );
  const ticks = scales.flatMap(({ ticks }, a) => ticks.map((tick) => ({ ...tick, axis: axes[a] })));
  const { valueAt } = scales[last];
  const key = Array.from({ length: valueAt ? BANDS : 0 }, (_, i) => {
    return { axis: axes[last], from: i / BANDS, to: (i + 1) / BANDS, colour: valueAt!((i + 0.5) / BANDS) };
  });
  return drawFigure(checked, [], (Plot) => ({
    ...{ marginTop: 16, marginLeft: 50, marginRight: 60 },
    x: { type: 'point', domain: axes, label: null },
    y: { domain: [0, 1], axis: null },
    color: { scheme: 'Viridis', reverse: true },
    marks: [
      Plot.ruleX(axes, { stroke: INK.grid }),
      Plot.ruleX(key, { x: 'axis', y1: 'from', y2: 'to', stroke: 'colour', strokeWidth: 8 }),
      Plot.line(points, { x: 'axis', y: 'height', z: 'row', stroke: 'colour', strokeWidth: 1.5, strokeOpacity: 0.8 }),
      Plot.text(ticks, {
        x: 'axis',
        y: 'height',
        text: 'label',
        dx: 7,
        textAnchor: 'start',
        stroke: INK.paper,
        fill: INK.text,
      }),
      Plot.axisX({ label: null, tickSize: 0 }),
    ],
  }));
}

/** Heights, 0 to 1, of an axis's values, and where its names stand. */
interface Scale {
  heightOf(value: number | string): number;
  /** The number at a height; absent for names, and for an axis with one number. */
  valueAt?(height: number): number;
  readonly ticks: readonly { readonly height: number; readonly label: string }[];
}

function scaleOf(values: readonly (number | string)[], given?: boolean): Scale {
  if (values.some((value) => typeof value === 'string')) return scaleOfNames([...new Set(values.map(String))]);
  const numbers = values as readonly number[];
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const isLog = given ?? (least > 0 && most / least >= LOGARITHMIC);
  const place = (value: number) => (isLog ? Math.log(value) : value);
  const span = place(most) - place(least);
  const heightOf = (value: number | string) => (span > 0 ? (place(value as number) - place(least)) / span : 0.5);
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const shown =
    distinct.length <= 5 ? distinct : [least, ...(isLog ? decades(least, most) : [(least + most) / 2]), most];
  const valueAt = (height: number) => {
    const placed = place(least) + height * span;
    return isLog ? Math.exp(placed) : placed;
  };
  return {
    heightOf,
    ...(span > 0 && { valueAt }),
    ticks: shown.map((value) => ({ height: heightOf(value), label: String(Number(value.toPrecision(3))) })),
  };
}

/** Powers of ten between two numbers, as far from both as a label is high. */
function decades(least: number, most: number): number[] {
  const [from, to] = [Math.log10(least), Math.log10(most)];
  const gap = (to - from) / 20;
  const all = Array.from({ length: Math.floor(to) - Math.ceil(from) + 1 }, (_, i) => Math.ceil(from) + i);
  const inner = all.filter((power) => power > from + gap && power < to - gap);
  return inner.length <= MOST_TICKS ? inner.map((power) => 10 ** power) : [];
}

function scaleOfNames(names: readonly string[]): Scale {
  const heightOf = (value: number | string) =>
    names.length > 1 ? names.indexOf(String(value)) / (names.length - 1) : 0.5;
  const shown = names.length <= MOST_TICKS ? names : [names[0], names[names.length - 1]];
  return { heightOf, ticks: shown.map((label) => ({ height: heightOf(label), label })) };
}
