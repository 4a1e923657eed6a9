import { checkOptions } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { curve } from '../inputs';
import { type Band, bandOverRuns, type Curve } from '../statistics';
import { colourOf } from './colours';
import { drawFigure, type FigureOptions, figureFields, type Plot } from './frame';
import { axes, referenceMarks } from './marks';

/** Options of {@link learningCurves}. */
export interface LearningCurvesOptions extends FigureOptions {
  /** Dashed horizontal lines to compare with, by label: `{ 'four NearestStag': 2.85 }`. */
  readonly references?: Readonly<Record<string, number>>;
  /** Points of each curve; at least 2. Default 200 */
  readonly points?: number;
}

const schema = z
  .object({
    ...figureFields,
    x: z.string().default('environment steps'),
    y: z.string().default('mean return'),
    references: z.record(z.string(), z.number()).default({}),
    points: z.number().int().min(2).default(200),
  })
  .strict();

const curvesByLabel = z
  .record(z.string(), z.array(curve).min(1))
  .refine((curves) => Object.keys(curves).length > 0, 'curves of one label or more');

/**
 * Learning curves: for each label the mean over its runs (seeds), with a band of 95 % bootstrap intervals where there
 * are two or more. Give agents as labels for curves per agent.
 *
 * @param curves  for each label one curve per seed
 * @returns SVG as text
 * @throws CoplayError for no curves or wrong options
 */
export async function learningCurves(
  curves: Readonly<Record<string, readonly Curve[]>>,
  options: LearningCurvesOptions = {},
): Promise<string> {
  const checked = checkOptions('learningCurves', schema, options);
  checkArgument('learningCurves', 'curves', curvesByLabel, curves);
  const labels = Object.keys(curves);
  const bands = labels.map((label) => bandOverRuns(curves[label], checked.points));
  const legend = labels.map((label, i) => ({ label, colour: colourOf(i) }));
  return drawFigure(checked, legend, (Plot) => ({
    x: { nice: false },
    y: { grid: true, nice: true },
    marks: [
      ...axes(Plot, checked, formatSteps),
      ...referenceMarks(Plot, checked.references),
      ...bands.flatMap((band, i) => bandMarks(Plot, band, colourOf(i))),
    ],
  }));
}

interface BandPoint {
  readonly step: number;
  readonly mean: number;
  readonly lower: number;
  readonly upper: number;
}

function bandMarks(Plot: Plot, band: Band, colour: string) {
  const points: BandPoint[] = band.steps.map((step, i) => ({
    step,
    mean: band.mean[i],
    lower: band.lower[i],
    upper: band.upper[i],
  }));
  const line = { x: 'step', y: 'mean', stroke: colour, strokeWidth: 2 };
  const middle = points.length > 1 ? Plot.lineY(points, line) : Plot.dot(points, line);
  return [Plot.areaY(points, { x: 'step', y1: 'lower', y2: 'upper', fill: colour, fillOpacity: 0.2 }), middle];
}

/** `0`, `500k`, `1.5M` */
function formatSteps(steps: number): string {
  if (steps >= 1e6) return `${steps / 1e6}M`;
  return steps >= 1e3 ? `${steps / 1e3}k` : String(steps);
}
