import { fail } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { moaEvaluation, moaEvaluations } from '../inputs';
import { barChart, heatMap, learningCurves } from '../plots';
import type { Curve } from '../statistics';
import type { MoaEvaluation } from './evaluation';

/** Figures of an evaluation, SVG as text. */
export interface MoaFigures {
  /** Shares of the guesses (columns) for each action (rows); next to the optimal predictor's, where that is given. */
  readonly confusion: string;
  /** How often each class occurs. */
  readonly classes: string;
  /** Recall of each class by epoch. */
  readonly recall: string;
  /** F1 of each class by epoch. */
  readonly f1: string;
}

/**
 * Draws evaluations, one an epoch; confusion and classes belong to the last.
 *
 * @param optimal  of the best predictor that there can be, to compare with
 * @throws CoplayError without any epoch
 */
export async function moaFigures(epochs: readonly MoaEvaluation[], optimal?: MoaEvaluation): Promise<MoaFigures> {
  checkArgument('moaFigures', 'epochs', moaEvaluations, epochs);
  if (optimal !== undefined) checkArgument('moaFigures', 'optimal', moaEvaluation, optimal);
  const last = epochs.at(-1) ?? fail('moaFigures', 'evaluations of at least one epoch', 'none', 'Evaluate first.');
  const own = await confusionMap(last, 'model');
  return {
    confusion: optimal ? sideBySide(own, await confusionMap(optimal, 'best possible')) : own,
    classes: await barChart(Object.fromEntries(last.classes.map(({ name, ratio }) => [name, ratio])), {
      title: 'How often each action is taken',
      y: 'share of steps',
    }),
    recall: await byEpoch(epochs, 'recall', 'Recall'),
    f1: await byEpoch(epochs, 'f1', 'F1'),
  };
}

const WIDTH = 620;
const HEIGHT = 440;

function confusionMap({ classes, confusion }: MoaEvaluation, whose: string): Promise<string> {
  const names = classes.map(({ name }) => name);
  const values = confusion.map((line, k) => line.map((value) => value / classes[k].count));
  const options = { title: `Guesses, ${whose}`, x: 'guessed', y: 'done', width: WIDTH, height: HEIGHT };
  return heatMap({ rows: names, columns: names, values }, options);
}

/** Two figures of one size in one. */
function sideBySide(left: string, right: string): string {
  const size = `width="${2 * WIDTH}" height="${HEIGHT}"`;
  const parts = [left, right].map((svg, i) => `<g transform="translate(${i * WIDTH},0)">${svg}</g>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${2 * WIDTH} ${HEIGHT}">${parts.join('')}</svg>\n`;
}

function byEpoch(epochs: readonly MoaEvaluation[], figure: 'recall' | 'f1', title: string): Promise<string> {
  const curves: Record<string, readonly Curve[]> = {};
  epochs[0].classes.forEach(({ name }, k) => {
    const known = epochs.flatMap(({ classes }, epoch) => {
      const value = classes[k][figure];
      return Number.isFinite(value) ? [{ epoch, value }] : [];
    });
    if (known.length > 0) {
      curves[name] = [{ steps: known.map(({ epoch }) => epoch + 1), values: known.map(({ value }) => value) }];
    }
  });
  return learningCurves(curves, { title: `${title} of each action`, x: 'epoch', y: title.toLowerCase() });
}
