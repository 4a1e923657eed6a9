import type { Generator } from '@coplay/core';

/** Rows of one member, in episodes that follow one another. */
export interface EpisodeList {
  /** [n] where each row is in the table */
  readonly places: Int32Array;
  /** [n] goal of each row, in -1..G-1 */
  readonly goals: Int32Array;
  /** They sum to n. */
  readonly lengths: readonly number[];
}

/** How minibatches are made. */
export interface BatchSettings {
  /** S */
  readonly count: number;
  /** B, rows of each (steps of a recurrent model) */
  readonly size: number;
  /** L, steps of a window of a recurrent model; 0 for single rows */
  readonly window: number;
  /** Share of rows (of episodes, for windows) whose goal is hidden */
  readonly unknownShare: number;
}

/** S minibatches, one behind the other. */
export interface Batches {
  /** Of places: [S, B], or [S, W, L] of windows. */
  readonly shape: readonly number[];
  readonly places: Int32Array;
  readonly goals: Int32Array;
  /** 0 where there is no row. */
  readonly weights: Float32Array;
}

/** Minibatches that one pass over the rows takes. */
export function batchesPerEpoch(list: EpisodeList, size: number, window: number): number {
  if (window === 0) return Math.ceil(list.places.length / size);
  const order = list.lengths.map((_, i) => i);
  return Math.ceil(packEpisodes(list.lengths, order, window).length / windowsOf(size, window));
}

/**
 * Minibatches over one pass after another, each row once in a pass, in a fresh order; a short last one of a pass is
 * filled up with weight 0.
 */
export function planBatches(list: EpisodeList, settings: BatchSettings, generator: Generator): Batches {
  const { count, size, window } = settings;
  const width = window === 0 ? 1 : window;
  const units = window === 0 ? size : windowsOf(size, window);
  const perBatch = units * width;
  const shape = window === 0 ? [count, size] : [count, units, window];
  const places = new Int32Array(count * perBatch);
  const goals = new Int32Array(count * perBatch).fill(-1);
  const weights = new Float32Array(count * perBatch);
  const isEmpty = list.places.length === 0;
  let pass: readonly (readonly number[])[] = [];
  let next = 0;
  for (let batch = 0; batch < count && !isEmpty; batch++) {
    if (next >= pass.length) {
      pass = passOver(list, window, generator);
      next = 0;
    }
    const taken = pass.slice(next, next + units);
    next += units;
    taken.forEach((rows, unit) => {
      rows.forEach((row, i) => {
        const at = batch * perBatch + unit * width + i;
        places[at] = list.places[row];
        goals[at] = list.goals[row];
        weights[at] = 1;
      });
    });
  }
  return { shape, places, goals: hideGoals(goals, list, settings, places, generator), weights };
}

/** Windows of L steps that make a minibatch of about `size` steps. */
function windowsOf(size: number, window: number): number {
  return Math.max(1, Math.round(size / window));
}

/** All rows, one by one or in windows of whole episodes, in a fresh order. */
function passOver(list: EpisodeList, window: number, generator: Generator): readonly (readonly number[])[] {
  if (window === 0) {
    const order = generator.shuffle(Int32Array.from(list.places, (_, i) => i));
    return Array.from(order, (row) => [row]);
  }
  const order = generator.shuffle(Int32Array.from(list.lengths, (_, i) => i));
  return packEpisodes(list.lengths, order, window);
}

/**
 * Whole episodes packed into windows of L steps, in the order given, each into the last window if it fits there.
 *
 * @returns for each window the rows in it
 */
export function packEpisodes(lengths: readonly number[], order: ArrayLike<number>, window: number): number[][] {
  const starts: number[] = [];
  lengths.reduce((start, length) => {
    starts.push(start);
    return start + length;
  }, 0);
  const windows: number[][] = [];
  for (let i = 0; i < order.length; i++) {
    const length = lengths[order[i]];
    let last = windows.at(-1);
    if (!last || last.length + length > window) {
      last = [];
      windows.push(last);
    }
    for (let step = 0; step < length; step++) last.push(starts[order[i]] + step);
  }
  return windows;
}

/** Goals with some hidden: row by row, or the whole episode where there is memory of it. */
function hideGoals(
  goals: Int32Array,
  { places, lengths }: EpisodeList,
  { unknownShare, window }: BatchSettings,
  taken: Int32Array,
  generator: Generator,
): Int32Array {
  if (unknownShare === 0) return goals;
  if (window === 0) return goals.map((goal) => (generator.uniform() < unknownShare ? -1 : goal));
  const hidden = new Set<number>();
  let row = 0;
  for (const length of lengths) {
    const isHidden = generator.uniform() < unknownShare;
    for (let step = 0; step < length; step++) if (isHidden) hidden.add(places[row + step]);
    row += length;
  }
  return goals.map((goal, i) => (hidden.has(taken[i]) ? -1 : goal));
}
