import { checkOptions, fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { beliefLine } from '../inputs';
import { colourOf, INK } from '../plots/colours';
import { drawFigure, type FigureOptions, figureFields, type Plot } from '../plots/frame';
import { axes, referenceMarks } from '../plots/marks';
import type { BeliefLine } from './lines';

/** Options of {@link beliefFigure}. */
export interface BeliefFigureOptions extends FigureOptions {
  /** Dashed horizontal lines to compare with, by label: `{ 'a few moves': 0.9 }`. */
  readonly references?: Readonly<Record<string, number>>;
}

const schema = z.strictObject({
  ...figureFields,
  x: z.string().default('step'),
  y: z.string().default('P(goal)'),
  references: z.record(z.string(), z.number()).default({}),
});

/** Pixels between two episodes' marks at least; closer ones would be a grey area. */
const LEAST_GAP = 6;

/**
 * Probabilities of a goal over steps or episodes, a line for each co-player: grey uprights where an episode begins
 * (left out where they'd stand closer than 6 pixels), dashed ones in the line's colour where the co-player changed its
 * behaviour.
 *
 * @param lines  by label, such as the co-player's id
 * @returns SVG as text
 * @throws CoplayError for no lines, a belief that isn't a probability, or wrong options
 */
export async function beliefFigure(
  lines: Readonly<Record<string, BeliefLine>>,
  options: BeliefFigureOptions = {},
): Promise<string> {
  const checked = checkOptions('beliefFigure', schema, options);
  checkArgument('beliefFigure', 'lines', z.record(z.string(), beliefLine), lines);
  const entries = Object.entries(lines);
  if (entries.length === 0) fail('beliefFigure', 'lines by label', 'none', 'Give the beliefs about a co-player.');
  for (const [label, line] of entries) checkLine(label, line);
  const legend = entries.map(([label], i) => ({ label, colour: colourOf(i) }));
  const starts = shownStarts(
    entries.map(([, line]) => line),
    checked.width,
  );
  return drawFigure(checked, legend, (Plot) => ({
    x: { nice: false },
    y: { grid: true, domain: [0, 1] },
    marks: [
      Plot.ruleX(starts, { stroke: INK.grid }),
      ...axes(Plot, checked, String),
      ...referenceMarks(Plot, checked.references),
      ...entries.flatMap(([, line], i) => lineMarks(Plot, line, colourOf(i))),
    ],
  }));
}

function lineMarks(Plot: Plot, { steps, belief, switches = [] }: BeliefLine, colour: string) {
  const points = steps.map((step, i) => ({ step, belief: belief[i] }));
  const look = { x: 'step', y: 'belief', stroke: colour, strokeWidth: 2 };
  return [
    points.length > 1 ? Plot.lineY(points, look) : Plot.dot(points, look),
    Plot.ruleX(switches, { stroke: colour, strokeDasharray: '4,3', strokeWidth: 1.5 }),
  ];
}

/** Where episodes begin, of all lines together, but for the left edge. */
function shownStarts(lines: readonly BeliefLine[], width: number): number[] {
  const steps = lines.flatMap((line) => line.steps);
  const first = steps.reduce((least, step) => Math.min(least, step), Number.POSITIVE_INFINITY);
  const starts = [...new Set(lines.flatMap((line) => line.starts ?? []))].filter((start) => start > first);
  return starts.length * LEAST_GAP > width ? [] : starts;
}

function checkLine(label: string, { steps, belief }: BeliefLine): void {
  const where = `beliefFigure: ${label}`;
  if (steps.length === 0 || steps.length !== belief.length) {
    const got = `${steps.length} steps and ${belief.length} beliefs`;
    fail(where, 'a belief for each of one or more steps', got, 'Give as many of both.');
  }
  const odd = belief.find((p) => p < 0 || p > 1 + 1e-6);
  if (odd !== undefined) fail(where, 'probabilities from 0 to 1, or NaN', show(odd), 'Give P(goal) for one goal.');
}
