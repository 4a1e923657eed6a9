import { INK } from './colours';
import type { FigureOptions, Plot } from './frame';

/** Both axes of a figure whose horizontal one is a number. */
export function axes(Plot: Plot, options: Required<FigureOptions>, tickFormat: (value: number) => string) {
  return [
    Plot.axisX({ label: options.x, labelArrow: 'none', labelAnchor: 'center', tickFormat }),
    axisY(Plot, options),
  ];
}

/** The vertical axis; its label stands above it. */
export function axisY(Plot: Plot, options: Required<FigureOptions>) {
  return Plot.axisY({ label: options.y, labelArrow: 'none' });
}

/** Dashed lines with their labels at the left, where learning curves mostly leave room. */
export function referenceMarks(Plot: Plot, references: Readonly<Record<string, number>>) {
  const lines = Object.entries(references).map(([label, value]) => ({ label, value }));
  return [
    Plot.ruleY(lines, { y: 'value', stroke: INK.faint, strokeDasharray: '5,4' }),
    Plot.text(lines, { y: 'value', text: 'label', frameAnchor: 'left', dx: 6, dy: -8, fill: INK.faint }),
  ];
}
