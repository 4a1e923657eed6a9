import { saveNpz } from '@coplay/buffers/npz';
import { type NamedArrays, ndarray } from '@coplay/core';
import { checkArgument, checkText } from '@coplay/core/checks';
import { writeWhole } from '@coplay/core/node';
import { moaEvaluations } from '../inputs';
import { formatRecord } from '../logs/csv-text';
import type { ClassScore, MoaEvaluation } from './evaluation';

/** The figures of a class, in the order of the columns. */
const FIGURES = ['count', 'ratio', 'precision', 'recall', 'f1'] as const satisfies readonly (keyof ClassScore)[];

/**
 * Evaluations, one an epoch, as CSV: a line for each epoch with `epoch, count, top1, top3, balanced_accuracy` and for
 * each class `<class>/count`, `/ratio`, `/precision`, `/recall`, `/f1`. Empty where a figure is not defined.
 */
export function moaCsv(epochs: readonly MoaEvaluation[]): string {
  checkArgument('moaCsv', 'epochs', moaEvaluations, epochs);
  const names = epochs[0]?.classes.map(({ name }) => name) ?? [];
  const perClass = names.flatMap((name) => FIGURES.map((figure) => `${name}/${figure}`));
  const header = ['epoch', 'count', 'top1', 'top3', 'balanced_accuracy', ...perClass];
  const lines = epochs.map(({ count, top1, top3, balancedAccuracy, classes }, epoch) => {
    const figures = classes.flatMap((score) => FIGURES.map((figure) => score[figure]));
    return [epoch, count, top1, top3, balancedAccuracy, ...figures].map((x) => (Number.isNaN(x) ? '' : String(x)));
  });
  return [header, ...lines].map(formatRecord).join('');
}

/**
 * Evaluations, one an epoch, as arrays: `top1`, `top3`, `balanced_accuracy` [T], `count`, `ratio`, `precision`,
 * `recall`, `f1` [T, K], `confusion` [T, K, K].
 */
function moaArrays(epochs: readonly MoaEvaluation[]): NamedArrays {
  checkArgument('moaArrays', 'epochs', moaEvaluations, epochs);
  const classes = epochs[0]?.classes.length ?? 0;
  const perEpoch = (of: (epoch: MoaEvaluation) => number) => ndarray(Float64Array.from(epochs, of));
  const arrays: NamedArrays = {
    top1: perEpoch(({ top1 }) => top1),
    top3: perEpoch(({ top3 }) => top3),
    balanced_accuracy: perEpoch(({ balancedAccuracy }) => balancedAccuracy),
  };
  for (const figure of FIGURES) {
    const values = epochs.flatMap((epoch) => epoch.classes.map((score) => score[figure]));
    arrays[figure] = ndarray(Float64Array.from(values), [epochs.length, classes]);
  }
  const confusion = epochs.flatMap((epoch) => epoch.confusion.flat());
  arrays['confusion'] = ndarray(Float64Array.from(confusion), [epochs.length, classes, classes]);
  return arrays;
}

/** Writes `path.csv` and `path.npz` of evaluations, one an epoch; the folder is made where there is none. Node only. */
export async function writeMoaEvaluation(path: string, epochs: readonly MoaEvaluation[]): Promise<void> {
  checkText('writeMoaEvaluation', 'path', path);
  checkArgument('writeMoaEvaluation', 'epochs', moaEvaluations, epochs);
  await writeWhole(`${path}.csv`, moaCsv(epochs), { where: 'writeMoaEvaluation', makeFolder: true });
  await saveNpz(`${path}.npz`, moaArrays(epochs));
}
