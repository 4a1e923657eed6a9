import { checkOptions, fail } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { planesPair } from '../inputs';
import { INK } from '../plots/colours';
import { checkFigure, drawFigure, type FigureOptions, type Plot } from '../plots/frame';
import { checkPair, type PlanesPair } from './predictions';

interface Pixel {
  readonly row: number;
  readonly column: number;
  readonly channel: string;
  readonly which: 'predicted' | 'true';
  readonly value: number;
}

const CELL = 40;

/**
 * Heat maps of one sample: each channel as predicted, and the true one below it. The numbers in the cells are raw: a
 * number that isn't exactly 0 or 1 is never shown as such, but as `3.1e-4`, or near 1 as `1-3.1e-4`. Values outside of
 * 0 to 1 have the colours of the nearer end.
 *
 * @param pair    planes of at least `sample + 1` steps
 * @param sample  which of them
 * @returns SVG as text
 */
export async function planesFigure(pair: PlanesPair, sample: number, options: FigureOptions = {}): Promise<string> {
  checkArgument('planesFigure', 'pair', planesPair, pair);
  checkOptions('planesFigure', z.looseObject({}), options);
  const { channels, predicted, actual } = pair;
  checkPair('planesFigure', channels, predicted, actual);
  const [B, H, W] = predicted.shape;
  if (!Number.isInteger(sample) || sample < 0 || sample >= B) {
    fail('planesFigure', `a sample from 0 to ${B - 1}`, String(sample), 'Give one of the samples.');
  }
  const size = {
    width: Math.max(200, 90 + channels.length * (W * CELL + 8)),
    height: Math.max(150, 110 + 2 * (H * CELL + 8)),
  };
  const pixels = (['predicted', 'true'] as const).flatMap((which) => pixelsOf(pair, sample, which));
  return drawFigure(checkFigure('planesFigure', { ...size, ...options }), [], (Plot) => ({
    padding: 0,
    marginLeft: 70,
    x: { axis: null },
    y: { axis: null },
    fx: { domain: channels, label: null },
    fy: { domain: ['predicted', 'true'], label: null },
    color: { type: 'linear', domain: [0, 1], clamp: true, scheme: 'Blues' },
    marks: marks(Plot, pixels),
  }));
}

function marks(plot: Plot, pixels: readonly Pixel[]) {
  const place = { x: 'column', y: 'row', fx: 'channel', fy: 'which' };
  return [
    plot.cell(pixels, { ...place, fill: 'value', inset: 0.5 }),
    plot.text(pixels, {
      ...place,
      fontSize: 8,
      text: ({ value }: Pixel) => formatRaw(value),
      fill: ({ value }: Pixel) => (value > 0.5 ? INK.paper : INK.text),
    }),
  ];
}

function pixelsOf({ channels, predicted, actual }: PlanesPair, sample: number, which: Pixel['which']): Pixel[] {
  const [, H, W, C] = predicted.shape;
  const { data } = which === 'true' ? actual : predicted;
  const base = sample * H * W * C;
  return Array.from({ length: H * W * C }, (_, i) => ({
    row: Math.floor(i / (W * C)),
    column: Math.floor(i / C) % W,
    channel: channels[i % C],
    which,
    value: data[base + i],
  }));
}

/**
 * A value by its distance from the nearer of 0 and 1, with two digits: `0`, `1`, `0.12`, `3.1e-4`, `1-3.1e-4`,
 * `1+0.02`.
 */
function formatRaw(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value - 1) >= 0.05 || value === 1) return digits(value);
  return `1${value < 1 ? '-' : '+'}${digits(Math.abs(value - 1))}`;
}

function digits(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 0.01 ? value.toExponential(1) : value.toPrecision(2);
}
