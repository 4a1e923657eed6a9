import { fail, type NamedArrays, type TypedArray } from '@coplay/core';

/** How well steps were predicted. */
export interface Score {
  /** [B] 1 where all of the next state is as it came, and who ended */
  readonly exact: Uint8Array;
  /** [B] squared error of the rewards, a mean over the agents */
  readonly rewardErrors: Float32Array;
}

/** Whether a number of what happened counts as predicted. */
export type Agrees = (name: string, predicted: number, truth: number) => boolean;

const isEqual: Agrees = (_, predicted, truth) => Math.abs(predicted - truth) <= 1e-4;

/**
 * Compares predicted with true outcomes.
 *
 * @param happened  fields `next/NAME`, `rewards` and `terminated`, as a model's `decode` gives them
 * @param rows      transitions
 * @param agrees    for all but rewards. Default: an error of at most 1e-4
 * @param isOwn     whether the rows are own views: the viewer comes first, and the ends of other agents don't count,
 *                  since it need not see what they follow from. Default false
 */
export function scoreRows(happened: NamedArrays, rows: NamedArrays, agrees: Agrees = isEqual, isOwn = false): Score {
  const count = rows['rewards'].shape[0];
  const exact = new Uint8Array(count).fill(1);
  for (const [name, { data }] of Object.entries(happened)) {
    const truth = rows[name === 'terminated' ? 'next/terminated' : name]?.data;
    if (name === 'rewards' || (name === 'terminated' && truth === undefined)) continue;
    if (truth?.length !== data.length) {
      const expected = `${name} of ${data.length} values in the transitions`;
      fail(
        'worldModel',
        expected,
        truth ? String(truth.length) : 'none',
        "Name what decode returns as the rows' fields.",
      );
    }
    const width = data.length / count;
    const counted = isOwn && name === 'terminated' ? 1 : width;
    markDifferences(exact, data, truth, { width, counted }, (predicted, value) => agrees(name, predicted, value));
  }
  return { exact, rewardErrors: meanSquares(happened['rewards'].data, rows['rewards'].data, count) };
}

function markDifferences(
  exact: Uint8Array,
  predicted: TypedArray,
  truth: TypedArray,
  { width, counted }: { readonly width: number; readonly counted: number },
  agrees: (predicted: number, truth: number) => boolean,
): void {
  for (let i = 0; i < predicted.length; i++) {
    if (i % width >= counted) continue;
    if (!agrees(predicted[i], truth[i])) exact[Math.floor(i / width)] = 0;
  }
}

function meanSquares(predicted: TypedArray, truth: TypedArray, count: number): Float32Array {
  const width = predicted.length / count;
  const means = new Float32Array(count);
  for (let i = 0; i < predicted.length; i++) means[Math.floor(i / width)] += (predicted[i] - truth[i]) ** 2 / width;
  return means;
}

/** A share and an error that fade with the number of transitions seen since. */
export class RunningScore {
  private rows = 0;
  private exact = 0;
  private squares = 0;

  /** @param window  transitions that it reaches back over, about */
  constructor(private readonly window: number) {}

  /** Share of transitions that were predicted exactly; 0 before any were. */
  get accuracy(): number {
    return this.rows === 0 ? 0 : this.exact / this.rows;
  }

  /** Mean squared error of rewards; infinite before any were predicted. */
  get rewardError(): number {
    return this.rows === 0 ? Number.POSITIVE_INFINITY : this.squares / this.rows;
  }

  add({ exact, rewardErrors }: Score): void {
    const kept = Math.exp(-exact.length / this.window);
    this.rows = this.rows * kept + exact.length;
    this.exact = this.exact * kept + exact.reduce((sum, flag) => sum + flag, 0);
    this.squares = this.squares * kept + rewardErrors.reduce((sum, error) => sum + error, 0);
  }

  state(): number[] {
    return [this.rows, this.exact, this.squares];
  }

  restore([rows, exact, squares]: readonly number[]): void {
    this.rows = rows;
    this.exact = exact;
    this.squares = squares;
  }
}
