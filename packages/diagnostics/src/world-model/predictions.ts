import { fail, type NDArray } from '@coplay/core';
import { checkArgument, checkNumber } from '@coplay/core/checks';
import { planesPair } from '../inputs';

/** Planes of many steps, as a model expects them and as they came. */
export interface PlanesPair {
  /** C names: `['agent_0', ..., 'obstacles', 'stags', 'hares']` */
  readonly channels: readonly string[];
  /** [B, H, W, C] raw, as the model gives them: never rounded, never clipped */
  readonly predicted: NDArray;
  /** [B, H, W, C] */
  readonly actual: NDArray;
}

/** Errors of planes. */
export interface PlanesErrors {
  /** Mean squared error over batch, channels and cells */
  readonly observationMse: number;
  /** 10 log10(1 / `observationMse`), in dB: of all samples pooled; infinite where there is no error at all */
  readonly psnrPooled: number;
  /**
   * The same of each sample, and then a mean: a few bad samples weigh less. A sample's error counts as 1e-10 at least,
   * 100 dB
   */
  readonly psnrMean: number;
  /** Mean squared error of each channel, by name */
  readonly channelMse: Readonly<Record<string, number>>;
}

/** A sample without error would have infinite decibels, and the mean with it. */
const LEAST_ERROR = 1e-10;

/** Peak signal-to-noise ratio in dB of values whose peak is 1: 10 log10(1 / mse). */
export function psnr(mse: number): number {
  checkNumber('psnr', 'mse', mse, { min: 0 });
  return 10 * Math.log10(1 / mse);
}

/**
 * How far planes are from the true ones.
 *
 * @throws CoplayError where shapes don't fit
 */
export function planesErrors(pair: PlanesPair): PlanesErrors {
  checkArgument('planesErrors', 'pair', planesPair, pair);
  const { channels, predicted, actual } = pair;
  checkPair('planesErrors', channels, predicted, actual);
  const B = predicted.shape[0];
  const C = channels.length;
  const width = predicted.data.length / B;
  const byChannel = new Float64Array(C);
  let decibels = 0;
  for (let row = 0; row < B; row++) {
    let sample = 0;
    for (let i = 0; i < width; i++) {
      const square = (predicted.data[row * width + i] - actual.data[row * width + i]) ** 2;
      byChannel[i % C] += square;
      sample += square;
    }
    decibels += psnr(Math.max(LEAST_ERROR, sample / width));
  }
  const perChannel = (B * width) / C;
  const observationMse = byChannel.reduce((sum, squares) => sum + squares, 0) / (B * width);
  return {
    observationMse,
    psnrPooled: psnr(observationMse),
    psnrMean: decibels / B,
    channelMse: Object.fromEntries(channels.map((name, c) => [name, byChannel[c] / perChannel])),
  };
}

/** Refuses planes of different shapes, and names that don't fit them. */
export function checkPair(where: string, channels: readonly string[], predicted: NDArray, actual: NDArray): void {
  const expected = `planes [B, H, W, ${channels.length}], B at least 1`;
  const fits = predicted.shape.length === 4 && predicted.shape[3] === channels.length && predicted.shape[0] > 0;
  if (!fits) fail(where, expected, `[${predicted.shape}]`, 'Name each channel, and give at least one sample.');
  if (String(actual.shape) !== String(predicted.shape)) {
    fail(where, `true planes [${predicted.shape}]`, `[${actual.shape}]`, 'Give both for the same steps.');
  }
}
