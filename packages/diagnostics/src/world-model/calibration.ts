import { fail } from '@coplay/core';
import { checkNumber, checkNumbers } from '@coplay/core/checks';
import type { TableRow } from '../tables';

/** Predictions that were made with about the same confidence. */
export interface CalibrationBin extends TableRow {
  /** Confidences above this ... */
  readonly from: number;
  /** ... up to this one, itself included */
  readonly to: number;
  readonly count: number;
  /** Mean confidence of these predictions; NaN where there are none */
  readonly confidence: number;
  /** Share of them that came true; NaN where there are none */
  readonly cameTrue: number;
}

/** Whether a model knows how often it's wrong. */
export interface Calibration {
  readonly bins: readonly CalibrationBin[];
  /**
   * Expected calibration error (Guo et al. 2017, eq. 3): mean |confidence - share that came true|, bins by their
   * counts. 0 is best
   */
  readonly error: number;
}

/**
 * Compares confidence with success.
 *
 * @param confidences  [N] probability of the most probable outcome, in [0, 1]
 * @param cameTrue     [N] 1 where it came so
 * @param bins         of equal width; at least 1. Default 10
 */
export function calibration(confidences: ArrayLike<number>, cameTrue: ArrayLike<number>, bins = 10): Calibration {
  checkNumbers('calibration', 'confidences', confidences, { min: 0, max: 1 });
  checkNumbers('calibration', 'cameTrue', cameTrue, { min: 0, max: 1 });
  checkNumber('calibration', 'bins', bins, { min: 1, max: 1e6, whole: true });
  if (confidences.length !== cameTrue.length || confidences.length === 0) {
    const got = `${confidences.length} and ${cameTrue.length}`;
    fail('calibration', 'as many confidences as outcomes, at least one', got, 'Give both for the same predictions.');
  }
  const count = new Float64Array(bins);
  const sum = new Float64Array(bins);
  const hits = new Float64Array(bins);
  for (let i = 0; i < confidences.length; i++) {
    const bin = Math.min(bins - 1, Math.max(0, Math.ceil(confidences[i] * bins) - 1));
    count[bin]++;
    sum[bin] += confidences[i];
    hits[bin] += cameTrue[i];
  }
  let error = 0;
  for (let bin = 0; bin < bins; bin++) error += Math.abs(sum[bin] - hits[bin]) / confidences.length;
  return {
    error,
    bins: Array.from(count, (total, bin) => ({
      from: bin / bins,
      to: (bin + 1) / bins,
      count: total,
      confidence: sum[bin] / total,
      cameTrue: hits[bin] / total,
    })),
  };
}
