import { checkOptions, fail, sizeOf } from '@coplay/core';
import { z } from 'zod';
import { INK } from '../plots/colours';
import { checkFigure, drawFigure, type FigureOptions, type Plot } from '../plots/frame';
import { checkPrediction, isValid, type OpenLoopPrediction } from './prediction';
import { rawNumber } from './raw-number';

/** What {@link openLoopFigure} draws. */
export interface OpenLoopFigureOptions extends FigureOptions {
  /** Names of the last dimension: planes of a grid [B, T, H, W, C], or numbers of a vector [B, T, C]. Default `0`, `1`, ... */
  readonly names?: readonly string[];
  /** Which of these are drawn. Default: all */
  readonly channels?: readonly string[];
}

const labels = z.array(z.string()).readonly().optional();
const schema = z.looseObject({ names: labels, channels: labels });

const ROWS = ['true', 'predicted', 'difference'] as const;
type Row = (typeof ROWS)[number];

interface Cell {
  readonly step: string;
  readonly strip: string;
  readonly row: number;
  readonly column: number;
  readonly value: number;
  /** Of the cell, and of the number in it */
  readonly fill: string;
  readonly ink: string;
}

const CELL = 40;
/** Width of a letter of a label, about. */
const LETTER = 7;

/**
 * Pictures of an open loop: step after step from left to right, and for each channel what came, what the model saw in it or imagined, and the
 * difference. The numbers in the cells are raw: none is shown as the whole number that it's near (such as `1-3.1e-4`). A channel's colours span 0 to 1, or
 * farther where its values do; those of differences are white at 0. Steps that can't be compared stay empty; those after the last one that can are left out.
 *
 * @param sample which of the B sequences
 * @returns SVG as text
 * @throws CoplayError where shapes, names or the sample don't fit
 */
export async function openLoopFigure(
  prediction: OpenLoopPrediction,
  sample: number,
  options: OpenLoopFigureOptions = {},
): Promise<string> {
  const { names: given, channels: chosen, ...figureOptions } = checkOptions('openLoopFigure', schema, options);
  checkPrediction('openLoopFigure', prediction);
  const { B, H, W, C } = gridOf(prediction);
  const names = given ?? Array.from({ length: C }, (_, c) => String(c));
  checkNames(names, chosen, C);
  if (!Number.isInteger(sample) || sample < 0 || sample >= B) {
    fail('openLoopFigure', `a sample from 0 to ${B - 1}`, String(sample), 'Give one of the sequences.');
  }
  const channels = chosen ?? names;
  const strips = channels.flatMap((name) => ROWS.map((row) => stripName(name, row)));
  const marginLeft = Math.max(110, 20 + LETTER * Math.max(...strips.map((strip) => strip.length)));
  const shown = shownSteps(prediction, sample);
  const size = {
    width: Math.max(200, marginLeft + 20 + shown * (W * CELL + 8)),
    height: Math.max(150, 90 + channels.length * ROWS.length * (H * CELL + 8)),
  };
  const steps = Array.from({ length: shown }, (_, t) => stepName(t, prediction.context));
  return drawFigure(checkFigure('openLoopFigure', { ...size, ...figureOptions }), [], (plot) => {
    const cells = channels.flatMap((name) => channelCells(plot, prediction, sample, name, names.indexOf(name)));
    return {
      padding: 0,
      marginLeft,
      x: { axis: null },
      y: { axis: null },
      fx: { domain: steps, label: null },
      fy: { domain: strips, label: null, axis: 'left' },
      color: { type: 'identity' },
      marks: marks(plot, cells),
    };
  });
}

function marks(plot: Plot, cells: readonly Cell[]) {
  const place = { x: 'column', y: 'row', fx: 'step', fy: 'strip' };
  return [
    plot.cell(cells, { ...place, fill: 'fill', inset: 0.5 }),
    plot.text(cells, { ...place, fontSize: 8, text: ({ value }: Cell) => rawNumber(value), fill: 'ink' }),
  ];
}

/** Up to the last step of a sequence that can be compared; one at least. */
function shownSteps(prediction: OpenLoopPrediction, sample: number): number {
  const { T } = gridOf(prediction);
  let shown = T;
  while (shown > 1 && !isValid(prediction, sample * T + shown - 1)) shown--;
  return shown;
}

/** The cells of one channel, in all steps that can be compared. */
function channelCells(plot: Plot, prediction: OpenLoopPrediction, sample: number, name: string, channel: number) {
  const { T, H, W, C } = gridOf(prediction);
  const found: { t: number; row: number; column: number; true: number; predicted: number; difference: number }[] = [];
  for (let t = 0; t < T; t++) {
    if (!isValid(prediction, sample * T + t)) continue;
    for (let cell = 0; cell < H * W; cell++) {
      const at = ((sample * T + t) * H * W + cell) * C + channel;
      const [actual, predicted] = [prediction.actual.data[at], prediction.predicted.data[at]];
      const place = { t, row: Math.floor(cell / W), column: cell % W };
      found.push({ ...place, true: actual, predicted, difference: predicted - actual });
    }
  }
  const colours = {
    true: valueColours(plot, found),
    predicted: valueColours(plot, found),
    difference: around0(plot, found),
  };
  return ROWS.flatMap((which) =>
    found.map(({ t, row, column, [which]: value }): Cell => {
      const place = { step: stepName(t, prediction.context), strip: stripName(name, which), row, column };
      return { ...place, value, ...colours[which](value) };
    }),
  );
}

type Found = { readonly true: number; readonly predicted: number; readonly difference: number };
type Colouring = (value: number) => Pick<Cell, 'fill' | 'ink'>;

/** From white at the least value, recorded or predicted, to blue at the greatest. */
function valueColours(plot: Plot, found: readonly Found[]): Colouring {
  const values = found.flatMap(({ true: actual, predicted }) => [actual, predicted]).filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const colour = plot.scale({ color: { type: 'linear', domain: [low, high], clamp: true, scheme: 'Blues' } });
  return (value) => ({ fill: colour.apply(value), ink: value > (low + high) / 2 ? INK.paper : INK.text });
}

/** White at 0, red where too little was predicted, blue where too much. */
function around0(plot: Plot, found: readonly Found[]): Colouring {
  const most = Math.max(1, ...found.map(({ difference }) => Math.abs(difference)).filter(Number.isFinite));
  const colour = plot.scale({ color: { type: 'diverging', domain: [-most, most], clamp: true, scheme: 'RdBu' } });
  return (value) => ({ fill: colour.apply(value), ink: Math.abs(value) > 0.6 * most ? INK.paper : INK.text });
}

const stepName = (t: number, context: number): string => `${t} ${t < context ? 'seen' : 'imagined'}`;
const stripName = (channel: string, row: Row): string => `${channel}: ${row}`;

/** A vector is a grid of one cell, each of its numbers a channel. */
function gridOf({ actual: { shape } }: OpenLoopPrediction) {
  const [B, T, ...rest] = shape;
  if (rest.length === 3) return { B, T, H: rest[0], W: rest[1], C: rest[2] };
  return { B, T, H: 1, W: 1, C: sizeOf(rest) };
}

function checkNames(names: readonly string[], chosen: readonly string[] = names, C: number): void {
  if (names.length !== C) {
    fail('openLoopFigure', `${C} names, one for each channel`, names.join(', '), 'Name all channels.');
  }
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) fail('openLoopFigure', `channels among ${names.join(', ')}`, unknown, 'Choose of these.');
}
