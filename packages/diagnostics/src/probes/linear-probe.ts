import { checkOptions, fail, type Generator, show } from '@coplay/core';
import { checkArgument, checkGenerator, checkNumbers, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { type Standardised, standardise } from './features';
import { fitSoftmax, predictClasses } from './softmax';

/** What {@link linearProbe} reads. */
export interface ProbeData {
  /** [N, D] such as latents */
  readonly features: Float32Array;
  /** [N] in 0..G-1, such as the goal that was reached in the end; rows with another number, such as -1, are left out */
  readonly labels: ArrayLike<number>;
  /**
   * [N] rows of one group are held out together, such as the rows of an episode: neighbours reveal each other's labels
   */
  readonly groups: ArrayLike<number>;
}

/** Options of {@link linearProbe}. */
export interface ProbeOptions {
  /** G, at least 2 */
  readonly classes: number;
  /** Share of the groups that is held out, in (0, 1). Default 0.3 */
  readonly heldOut?: number;
  /** Weight of the L2 penalty (squared weights / 2), where the mean cross-entropy has 1, above 0. Default 1e-4 */
  readonly ridge?: number;
  /** Steps of the fit, at least 1. Default 200 */
  readonly iterations?: number;
}

/** The result of a linear read-out of the features. */
export interface ProbeResult {
  /** Share of the held-out rows whose class is predicted correctly; NaN without rows */
  readonly accuracy: number;
  /** Mean of the classes' recalls among the held-out rows, of classes that occur */
  readonly balancedAccuracy: number;
  /** Accuracy of always naming the most frequent class of the rows that were fitted */
  readonly majority: number;
  /** Accuracy on the rows that were fitted */
  readonly fitted: number;
  /** Rows fitted, rows held out */
  readonly rows: readonly [number, number];
}

const schema = z.strictObject({
  classes: z.int().min(2),
  heldOut: z.number().gt(0).lt(1).default(0.3),
  ridge: z.number().positive().default(1e-4),
  iterations: z.int().min(1).default(200),
});

/**
 * Measures the information in a representation (a linear classifier probe; Alain and Bengio 2017): a multinomial
 * logistic regression from the features to a label, fitted on some groups and judged on the others.
 */
export function linearProbe(data: ProbeData, options: ProbeOptions, generator: Generator): ProbeResult {
  const { classes, heldOut, ridge, iterations } = checkOptions('linearProbe', schema, options);
  checkData(data);
  checkGenerator('linearProbe', generator);
  const { labels } = data;
  const size = checkRows(data);
  const known = indicesWhere(labels.length, (row) => labels[row] >= 0 && labels[row] < classes);
  const held = heldOutGroups(data.groups, known, heldOut, generator);
  const isHeld = (row: number) => held.has(data.groups[row]);
  const fitRows = known.filter((row) => !isHeld(row));
  const testRows = known.filter(isHeld);
  const classesOf = (rows: Int32Array) => Int32Array.from(rows, (row) => labels[row]);
  const [fitLabels, testLabels] = [classesOf(fitRows), classesOf(testRows)];
  const scaled: Standardised = standardise(data.features, size, fitRows);
  const fit = { x: scaled.take(fitRows), labels: fitLabels, width: scaled.width };
  const weights = fitSoftmax(fit, { classes, ridge, iterations });
  const told = predictClasses(scaled.take(testRows), scaled.width, weights, classes);
  const common = mostFrequent(fitLabels, classes);
  return {
    accuracy: shareEqual(told, testLabels),
    balancedAccuracy: balanced(told, testLabels, classes),
    majority: shareEqual(new Int32Array(testLabels.length).fill(common), testLabels),
    fitted: shareEqual(predictClasses(fit.x, fit.width, weights, classes), fitLabels),
    rows: [fitRows.length, testRows.length],
  };
}

function checkData(data: ProbeData): void {
  checkArgument('linearProbe', 'data', z.looseObject({ features: typedArrays('float32') }), data);
  checkNumbers('linearProbe', 'data.labels', data.labels, { whole: true });
  checkNumbers('linearProbe', 'data.groups', data.groups);
}

/** @returns D */
function checkRows({ features, labels, groups }: ProbeData): number {
  const size = labels.length === 0 ? 0 : features.length / labels.length;
  if (Number.isInteger(size) && groups.length === labels.length && features.every(Number.isFinite)) return size;
  const got = `${features.length} features, ${labels.length} labels, ${show(groups.length)} groups`;
  return fail('linearProbe', 'finite features [N, D], labels [N] and groups [N]', got, 'Give each row all three.');
}

function heldOutGroups(groups: ArrayLike<number>, rows: Int32Array, share: number, generator: Generator): Set<number> {
  const names = [...new Set(Array.from(rows, (row) => groups[row]))].sort((a, b) => a - b);
  generator.shuffle(names);
  return new Set(names.slice(0, Math.round(names.length * share)));
}

function indicesWhere(count: number, isWanted: (row: number) => boolean): Int32Array {
  return Int32Array.from({ length: count }, (_, row) => row).filter(isWanted);
}

function mostFrequent(labels: Int32Array, classes: number): number {
  const counts = new Array<number>(classes).fill(0);
  for (const label of labels) counts[label]++;
  return counts.indexOf(Math.max(...counts));
}

function shareEqual(told: Int32Array, labels: Int32Array): number {
  let hits = 0;
  for (let i = 0; i < labels.length; i++) if (told[i] === labels[i]) hits++;
  return labels.length === 0 ? Number.NaN : hits / labels.length;
}

function balanced(told: Int32Array, labels: Int32Array, classes: number): number {
  const recalls: number[] = [];
  for (let c = 0; c < classes; c++) {
    const rows = indicesWhere(labels.length, (row) => labels[row] === c);
    if (rows.length > 0) recalls.push(rows.filter((row) => told[row] === c).length / rows.length);
  }
  return recalls.length === 0 ? Number.NaN : recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length;
}
