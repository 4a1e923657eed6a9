import { checkOptions } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { colourOf, INK, tintOf } from './colours';
import { drawFigure, type FigureOptions, figureFields, type Plot } from './frame';
import { axisY, referenceMarks } from './marks';

/** Options of {@link boxPlot}. */
export interface BoxPlotOptions extends FigureOptions {
  /** Dashed horizontal lines to compare with, by label. */
  readonly references?: Readonly<Record<string, number>>;
}

const schema = z.object({ ...figureFields, references: z.record(z.string(), z.number()).default({}) }).strict();

/**
 * Box plots: median, quartiles, whiskers to the last value within 1.5 interquartile ranges (Tukey), and every value as
 * a dot, as seeds are few.
 *
 * @param groups  for each label its values, such as one per seed
 * @returns SVG as text
 */
export async function boxPlot(
  groups: Readonly<Record<string, readonly number[]>>,
  options: BoxPlotOptions = {},
): Promise<string> {
  return drawBoxes('boxPlot', groups, options);
}

/** @param where  the function that draws them, for messages */
export async function drawBoxes(
  where: string,
  groups: Readonly<Record<string, readonly number[]>>,
  options: BoxPlotOptions,
): Promise<string> {
  const checked = checkOptions(where, schema, options);
  checkArgument(where, 'groups', z.record(z.string(), z.array(z.number())), groups);
  const labels = Object.keys(groups);
  const boxWidth = (0.5 * (checked.width - 84)) / labels.length;
  return drawFigure(checked, [], (Plot) => ({
    x: { domain: labels, label: checked.x || null, padding: 0.4 },
    y: { grid: true, nice: true },
    marks: [
      ...referenceMarks(Plot, checked.references),
      ...labels.flatMap((label, i) => groupMarks(Plot, label, groups[label], i, boxWidth)),
      axisY(Plot, checked),
    ],
  }));
}

function groupMarks(Plot: Plot, label: string, values: readonly number[], index: number, boxWidth: number) {
  const rows = values.map((value) => ({ label, value }));
  const place = { x: 'label', y: 'value' };
  // Dots stand side by side in the order of the seeds, so that equal ones can be counted.
  const gap = Math.min(9, boxWidth / rows.length);
  const dots = rows.map((row, i) =>
    Plot.dot([row], {
      ...place,
      dx: gap * (i - (rows.length - 1) / 2),
      r: 3.5,
      fill: colourOf(index),
      stroke: INK.paper,
    }),
  );
  return [Plot.boxY(rows, { ...place, fill: tintOf(index), stroke: INK.text, r: 0 }), ...dots];
}
