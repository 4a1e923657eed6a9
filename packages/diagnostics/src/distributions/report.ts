import { checkOptions, fail, type Metrics } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { origins as originsSchema } from '../inputs';
import { colourOf, INK } from '../plots/colours';
import { drawFigure, type FigureOptions, figureFields, type Plot } from '../plots/frame';
import { axes } from '../plots/marks';
import type { TableRow } from '../tables';
import type { Distribution } from './distribution';
import type { Origins } from './origins';

type Quantities = Readonly<Record<string, Origins>>;

const ORIGINS = ['real', 'imagined'] as const;

/** One row for each quantity and origin that has numbers: count, mean, variance, least, quantiles, greatest. */
export function distributionTable(quantities: Quantities): TableRow[] {
  checkQuantities('distributionTable', quantities);
  return present(quantities).map(({ name, origin, distribution }) => ({
    quantity: name,
    origin,
    count: distribution.count,
    mean: distribution.mean,
    variance: distribution.variance,
    min: distribution.min,
    ...Object.fromEntries(Object.entries(distribution.quantiles).map(([percent, value]) => [`${percent} %`, value])),
    max: distribution.max,
    ...(distribution.notFinite > 0 && { 'not finite': distribution.notFinite }),
  }));
}

/**
 * The same as metrics: `real/reward_mean`, `imagined/reward_mean`, and so on with `_count`, `_variance`, `_min`,
 * `_max`, `_not_finite` and quantiles such as `_p95`. Distributions without numbers are left out.
 */
export function distributionMetrics(quantities: Quantities): Metrics {
  checkQuantities('distributionMetrics', quantities);
  const metrics: Metrics = {};
  for (const { name, origin, distribution } of present(quantities)) {
    const { count, notFinite, mean, variance, min, max, quantiles } = distribution;
    const figures: Metrics = { count, not_finite: notFinite, mean, variance, min, max };
    for (const [percent, value] of Object.entries(quantiles)) figures[`p${percent}`] = value;
    for (const [figure, value] of Object.entries(figures)) metrics[`${origin}/${name}_${figure}`] = value;
  }
  return metrics;
}

function checkQuantities(where: string, quantities: Quantities): void {
  checkArgument(where, 'quantities', z.record(z.string(), originsSchema), quantities);
}

function present(quantities: Quantities): { name: string; origin: string; distribution: Distribution }[] {
  const all = Object.entries(quantities).flatMap(([name, origins]) =>
    ORIGINS.map((origin) => ({ name, origin, distribution: origins[origin] })),
  );
  return all.filter(({ distribution }) => distribution.count + distribution.notFinite > 0);
}

/** Options of {@link distributionFigure}. */
export interface DistributionFigureOptions extends FigureOptions {
  /** `sqrt` keeps rare values visible next to a frequent one, such as the few rewards among zeros. Default `linear` */
  readonly scale?: 'linear' | 'sqrt';
}

const schema = z.strictObject({
  ...figureFields,
  y: z.string().default('share of steps'),
  scale: z.enum(['linear', 'sqrt']).default('linear'),
});

/**
 * Histograms of one quantity, real and imagined side by side in each bin, as shares of their own count; dashed lines
 * are the means.
 *
 * @returns SVG as text
 * @throws CoplayError for wrong options
 */
export async function distributionFigure(origins: Origins, options: DistributionFigureOptions = {}): Promise<string> {
  checkArgument('distributionFigure', 'origins', originsSchema, origins);
  const checked = checkOptions('distributionFigure', schema, options);
  const shown = ORIGINS.filter((origin) => origins[origin].count > 0);
  if (shown.length === 0)
    fail('distributionFigure: origins', 'numbers, real or imagined', 'none', 'Record some steps first.');
  const legend = shown.map((origin) => ({ label: labelOf(origin, origins[origin]), colour: colourFor(origin) }));
  return drawFigure(checked, legend, (Plot) => ({
    x: { label: checked.x || null },
    y: { grid: true, type: checked.scale, zero: true },
    marks: [
      ...shown.flatMap((origin, i) => histogramMarks(Plot, origin, origins[origin], i, shown.length)),
      Plot.ruleY([0], { stroke: INK.text }),
      ...axes(Plot, checked, String),
    ],
  }));
}

function labelOf(origin: string, { count, mean }: Distribution): string {
  return `${origin}: ${count.toLocaleString('en-US')}, mean ${mean.toFixed(3)}`;
}

function colourFor(origin: (typeof ORIGINS)[number]): string {
  return colourOf(ORIGINS.indexOf(origin));
}

/** The bars of one origin: the i-th of n parts of each bin. */
function histogramMarks(
  Plot: Plot,
  origin: (typeof ORIGINS)[number],
  distribution: Distribution,
  i: number,
  n: number,
) {
  const { edges, counts } = distribution.histogram;
  const colour = colourFor(origin);
  const bars = counts.map((count, bin) => {
    const width = (0.9 * (edges[bin + 1] - edges[bin])) / n;
    const left = edges[bin] + 0.05 * n * width + i * width;
    return { left, right: left + width, share: count / distribution.count };
  });
  return [
    Plot.rectY(bars, { x1: 'left', x2: 'right', y1: 0, y2: 'share', fill: colour }),
    Plot.ruleX([distribution.mean], { stroke: colour, strokeDasharray: '5,4' }),
  ];
}
