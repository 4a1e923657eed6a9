import { fail } from '@coplay/core';
import { isArrayOf } from '@coplay/core/arrays';
import { checkArgument, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';

/** Predictions of an agent's actions, and its actions. N rows, K classes (actions). */
export interface MoaPredictions {
  /** K names, such as `game.actionNames` */
  readonly classes: readonly string[];
  /** [N, K] log-probabilities or probabilities: only their order within a row counts */
  readonly scores: Float32Array | Float64Array;
  /**
   * [N] int32, the actions; or [N, K] probabilities of actions, each of which counts by its probability: expected
   * values
   */
  readonly labels: Int32Array | Float64Array;
  /**
   * [N, K] decides between classes whose scores are the greatest and equal: the one with the greater number here is the
   * guess. With a model's scores it gives the optimal predictor that agrees with the model wherever it is free to.
   * Default: the first
   */
  readonly tieBreak?: Float32Array | Float64Array;
}

/** How one class is predicted. NaN where a figure is not defined: 0 of 0. */
export interface ClassScore {
  readonly name: string;
  /** Rows in which it was done. */
  readonly count: number;
  /** count / N */
  readonly ratio: number;
  /** Share of the guesses of it that were right. */
  readonly precision: number;
  /** Share of its rows that were guessed. */
  readonly recall: number;
  /** 2 right / (guesses + count), the harmonic mean of precision and recall. */
  readonly f1: number;
}

/** How good predictions are. */
export interface MoaEvaluation {
  /** N */
  readonly count: number;
  /** Share of rows in which the most likely class was right. */
  readonly top1: number;
  /** Share of rows in which one of the three most likely classes was right. */
  readonly top3: number;
  /** Mean recall over the classes that occur. */
  readonly balancedAccuracy: number;
  readonly classes: readonly ClassScore[];
  /** [K, K] numbers of steps by action (rows of the matrix) and guess (columns) */
  readonly confusion: readonly (readonly number[])[];
}

const floats = typedArrays<Float32Array | Float64Array>('float32', 'float64');
const schema = z.looseObject({
  classes: z.array(z.string()).min(1),
  scores: floats,
  labels: typedArrays('int32', 'float64'),
  tieBreak: floats.optional(),
});

/** Two scores are equal where they differ by less than this share. */
const EQUAL = 1e-9;

/**
 * Accuracy, per-class figures and confusion of predictions.
 *
 * @throws CoplayError if the arrays don't fit each other, and for no rows
 */
export function moaEvaluation(predictions: MoaPredictions): MoaEvaluation {
  checkArgument('moaEvaluation', 'predictions', schema, predictions);
  const { classes, scores, labels, tieBreak } = predictions;
  const width = classes.length;
  const rows = checkedRows(predictions);
  if (rows === 0)
    fail('moaEvaluation', 'at least one row', 'none', 'Leave the figures out where nothing was predicted.');
  const isHard = isArrayOf('int32', labels);
  const confusion = classes.map(() => new Float64Array(width));
  let top3 = 0;
  for (let row = 0; row < rows; row++) {
    const order = ranked(scores, row * width, width, tieBreak);
    for (let k = 0; k < width; k++) {
      const weight = isHard ? (labels[row] === k ? 1 : 0) : labels[row * width + k];
      confusion[k][order[0]] += weight;
      if (order.indexOf(k) < 3) top3 += weight;
    }
  }
  const scored = classes.map((name, k) => classScore(name, k, confusion, rows));
  const recalls = scored.filter(({ count }) => count > 0).map(({ recall }) => recall);
  const right = confusion.reduce((sum, line, k) => sum + line[k], 0);
  return {
    count: rows,
    top1: right / rows,
    top3: top3 / rows,
    balancedAccuracy: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
    classes: scored,
    confusion: confusion.map((line) => [...line]),
  };
}

function checkedRows({ classes, scores, labels, tieBreak }: MoaPredictions): number {
  const rows = scores.length / classes.length;
  const expected = isArrayOf('int32', labels) ? rows : scores.length;
  if (labels.length !== expected || !Number.isInteger(rows)) {
    const wanted = `labels of ${rows} rows`;
    fail('moaEvaluation', wanted, `${labels.length} numbers`, 'Give [N] actions or [N, K] probabilities.');
  }
  if (tieBreak && tieBreak.length !== scores.length) {
    fail('moaEvaluation', `tieBreak of ${scores.length} numbers`, String(tieBreak.length), 'Give [N, K], as scores.');
  }
  return rows;
}

/** Classes from the most to the least likely. */
function ranked(scores: ArrayLike<number>, start: number, width: number, tieBreak?: ArrayLike<number>): number[] {
  const isEqual = (a: number, b: number) => Math.abs(a - b) <= EQUAL * Math.max(Math.abs(a), Math.abs(b));
  const order = Array.from({ length: width }, (_, k) => k);
  return order.sort((a, b) => {
    const [p, q] = [scores[start + a], scores[start + b]];
    if (!isEqual(p, q)) return q - p;
    return tieBreak ? tieBreak[start + b] - tieBreak[start + a] : 0;
  });
}

function classScore(name: string, k: number, confusion: readonly Float64Array[], rows: number): ClassScore {
  const right = confusion[k][k];
  const count = confusion[k].reduce((sum, value) => sum + value, 0);
  const guesses = confusion.reduce((sum, line) => sum + line[k], 0);
  return {
    name,
    count,
    ratio: count / rows,
    precision: right / guesses,
    recall: right / count,
    f1: (2 * right) / (guesses + count),
  };
}
