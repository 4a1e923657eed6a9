import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { estimate, figure } from '../inputs';
import type { Estimate } from '../statistics';
import { colourOf, INK } from './colours';
import { checkFigure, drawFigure, type FigureOptions } from './frame';
import { axisY } from './marks';

/**
 * Bars with, where a value is an `Estimate`, its interval.
 *
 * @param bars  a height for each label
 * @returns SVG as text
 */
export async function barChart(
  bars: Readonly<Record<string, number | Estimate>>,
  options: FigureOptions = {},
): Promise<string> {
  checkArgument('barChart', 'bars', z.record(z.string(), z.union([figure, estimate])), bars);
  const checked = checkFigure('barChart', options);
  const rows = Object.entries(bars).map(([label, bar], i) => ({ label, colour: colourOf(i), ...toInterval(bar) }));
  const withInterval = rows.filter(({ lower, upper }) => Number.isFinite(lower) && Number.isFinite(upper));
  return drawFigure(checked, [], (Plot) => ({
    x: { domain: rows.map(({ label }) => label), label: checked.x || null, padding: 0.4 },
    y: { grid: true, nice: true },
    marks: [
      Plot.barY(rows, { x: 'label', y: 'value', fill: 'colour' }),
      Plot.ruleX(withInterval, { x: 'label', y1: 'lower', y2: 'upper', stroke: INK.text, strokeWidth: 1.5 }),
      Plot.ruleY([0], { stroke: INK.text }),
      axisY(Plot, checked),
    ],
  }));
}

function toInterval(bar: number | Estimate) {
  if (typeof bar === 'number') return { value: bar, lower: Number.NaN, upper: Number.NaN };
  return { value: bar.value, lower: bar.lower, upper: bar.upper };
}
