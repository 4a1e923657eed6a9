import { checkOptions, fail, type ObservationField, type ObservationKind, show } from '@coplay/core';
import { highOf, kindOf, sizeOf } from '@coplay/core/arrays';
import { kindFault } from '@coplay/core/checks';
import { z } from 'zod';
import { INK } from '../plots/colours';
import { checkFigure, drawFigure, type FigureOptions, type Plot } from '../plots/frame';
import { checkPrediction, isValid, type OpenLoopPrediction } from './prediction';
import { rawNumber } from './raw-number';

/** What {@link openLoopFigure} draws. */
export interface OpenLoopFigureOptions extends FigureOptions {
  /**
   * The field of the game's observation that is drawn; its kind says how. Default: [B, T, H, W, C] are planes, and all
   * else is a vector
   */
  readonly field?: ObservationField;
  /**
   * Names of the last dimension of a grid [B, T, H, W, C], or of all numbers of a vector. Default: the channels of the
   * field, or `0`, `1`, ...
   */
  readonly names?: readonly string[];
  /** Which of these are drawn. Default: all */
  readonly channels?: readonly string[];
}

const labels = z.array(z.string()).readonly().optional();
const fieldSchema = z.custom<ObservationField>(isField, "a field of a game's observation").optional();
const schema = z.looseObject({ field: fieldSchema, names: labels, channels: labels });

function isField(value: unknown): boolean {
  const { shape, dtype } = (value ?? {}) as Partial<ObservationField>;
  return Array.isArray(shape) && typeof dtype === 'string';
}

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
 * Pictures of an open loop: step after step from left to right, and for each channel the recorded values, the model's
 * reconstruction or imagination, and the difference. The numbers in the cells are raw: none is shown as the whole
 * number that it's near (such as `1-3.1e-4`). Steps that can't be compared stay empty; those after the last one that
 * can are left out.
 *
 * `planes`, codes (`one-hot`, `indices`) and an `image` of shape [H, W, C] are drawn as grids of cells, a grid for each
 * channel; the numbers of a `vector` of any shape, as single cells. The colours of planes and codes span 0 to 1, those
 * of an image 0 to its largest value, or farther where values do; the colours of a vector's number span its recorded
 * and predicted values. Colours of differences are white at 0, and span as much on both sides.
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
  const { field, names: given, channels: chosen, ...figureOptions } = checkOptions('openLoopFigure', schema, options);
  checkPrediction('openLoopFigure', prediction);
  const drawn = drawnAs(prediction, field);
  const { B, H, W, C } = drawn;
  const names = given ?? namesOf(field, C);
  checkNames(names, chosen, C);
  if (!Number.isInteger(sample) || sample < 0 || sample >= B) {
    fail('openLoopFigure', `a sample from 0 to ${B - 1}`, String(sample), 'Give one of the sequences.');
  }
  const channels = chosen ?? names;
  const strips = channels.flatMap((name) => ROWS.map((row) => stripName(name, row)));
  const marginLeft = Math.max(110, 20 + LETTER * Math.max(...strips.map((strip) => strip.length)));
  const shown = shownSteps(drawn, sample);
  const size = {
    width: Math.max(200, marginLeft + 20 + shown * (W * CELL + 8)),
    height: Math.max(150, 90 + channels.length * ROWS.length * (H * CELL + 8)),
  };
  const steps = Array.from({ length: shown }, (_, t) => stepName(t, prediction.context));
  return drawFigure(checkFigure('openLoopFigure', { ...size, ...figureOptions }), [], (plot) => {
    const cells = channels.flatMap((name) => channelCells(plot, drawn, sample, name, names.indexOf(name)));
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
function shownSteps({ prediction, T }: Drawn, sample: number): number {
  let shown = T;
  while (shown > 1 && !isValid(prediction, sample * T + shown - 1)) shown--;
  return shown;
}

/** The cells of one channel, in all steps that can be compared. */
function channelCells(plot: Plot, drawn: Drawn, sample: number, name: string, channel: number) {
  const { prediction, T, H, W, C } = drawn;
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
  const span = spanOf(drawn, found);
  const values = valueColours(plot, span);
  const colours = { true: values, predicted: values, difference: around0(plot, span, found) };
  return ROWS.flatMap((which) =>
    found.map(({ t, row, column, [which]: value }): Cell => {
      const place = { step: stepName(t, prediction.context), strip: stripName(name, which), row, column };
      return { ...place, value, ...colours[which](value) };
    }),
  );
}

type Found = { readonly true: number; readonly predicted: number; readonly difference: number };
type Colouring = (value: number) => Pick<Cell, 'fill' | 'ink'>;

type Span = readonly [low: number, high: number];

/** The values that a channel's colours span: the range of its kind, and recorded or predicted values beyond it. */
function spanOf({ kind, most }: Drawn, found: readonly Found[]): Span {
  const values = found.flatMap(({ true: actual, predicted }) => [actual, predicted]).filter(Number.isFinite);
  if (kind !== 'vector' || values.length === 0) return [Math.min(0, ...values), Math.max(most, ...values)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low < high ? [low, high] : [low, low + 1];
}

/** From white at the least value to blue at the greatest. */
function valueColours(plot: Plot, [low, high]: Span): Colouring {
  const colour = plot.scale({ color: { type: 'linear', domain: [low, high], clamp: true, scheme: 'Blues' } });
  return (value) => ({ fill: colour.apply(value), ink: value > (low + high) / 2 ? INK.paper : INK.text });
}

/** White at 0, red where too little was predicted, blue where too much. */
function around0(plot: Plot, [low, high]: Span, found: readonly Found[]): Colouring {
  const most = Math.max(high - low, ...found.map(({ difference }) => Math.abs(difference)).filter(Number.isFinite));
  const colour = plot.scale({ color: { type: 'diverging', domain: [-most, most], clamp: true, scheme: 'RdBu' } });
  return (value) => ({ fill: colour.apply(value), ink: Math.abs(value) > 0.6 * most ? INK.paper : INK.text });
}

const stepName = (t: number, context: number): string => `${t} ${t < context ? 'seen' : 'imagined'}`;
const stripName = (channel: string, row: Row): string => `${channel}: ${row}`;

/** The drawn fields, and their kinds. */
interface Drawn {
  readonly prediction: OpenLoopPrediction;
  readonly kind: ObservationKind;
  /** The largest value of the kind */
  readonly most: number;
  readonly B: number;
  readonly T: number;
  readonly H: number;
  readonly W: number;
  readonly C: number;
}

/** Planes, codes and images of rank 3 are grids; all else is a grid of one cell, each of its numbers a channel. */
function drawnAs(prediction: OpenLoopPrediction, field: ObservationField | undefined): Drawn {
  const [B, T, ...rest] = prediction.actual.shape;
  if (field) checkField(field, rest);
  const kind = field ? kindOf(field) : rest.length === 3 ? 'planes' : 'vector';
  const [H, W, C] = rest.length === 3 && kind !== 'vector' ? rest : [1, 1, sizeOf(rest)];
  return { prediction, kind, most: field && kind === 'image' ? highOf(field) : 1, B, T, H, W, C };
}

/** Refuses a field that isn't valid, or whose number of values differs from the record. */
function checkField(field: ObservationField, shape: readonly number[]): void {
  const where = 'openLoopFigure: option field';
  const fault = kindFault(field);
  if (fault) fail(where, fault.expected, show(fault.got), "Give a field of the game's observation.");
  const size = sizeOf(field.shape) * (field.kind === 'indices' ? (field.classes as number) : 1);
  if (size === sizeOf(shape)) return;
  fail(where, `a field of ${sizeOf(shape)} values, as in [${shape}]`, `${size}`, 'Give the field that was recorded.');
}

/** The names of the field's channels; for indices, the names of all their classes. */
function namesOf(field: ObservationField | undefined, C: number): readonly string[] {
  const { channels = [], classes = 1 } = field ?? {};
  if (channels.length === C) return channels;
  const codes = channels.flatMap((name) => Array.from({ length: classes }, (_, i) => `${name} ${i}`));
  return codes.length === C ? codes : Array.from({ length: C }, (_, c) => String(c));
}

function checkNames(names: readonly string[], chosen: readonly string[] = names, C: number): void {
  if (names.length !== C) {
    fail('openLoopFigure', `${C} names, one for each channel`, names.join(', '), 'Name all channels.');
  }
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) fail('openLoopFigure', `channels among ${names.join(', ')}`, unknown, 'Choose of these.');
}
