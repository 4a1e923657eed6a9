/*
 * An agent's actions: as its game has them, as the replay keeps them, and as the networks have them. The replay keeps
 * choices as whole numbers, -1 for none, and the values of a box as numbers from -1 to 1, 0 for none.
 */

import type { NamedArrays } from '@coplay/core';
import {
  type ActionArray,
  type ActionSpace,
  type BoxSpace,
  fail,
  type Generator,
  type NDArray,
  ndarray,
} from '@coplay/core';
import { choicesOf, isBox, widthOf } from '@coplay/core/arrays';
import type { DreamerActions } from '@coplay/models/dreamer';
import { actionDistribution } from '../training/action-distribution';

/** Refuses a box with a bound so large that the range next to it has no numbers in between. */
export function checkRanges(where: string, space: ActionSpace): void {
  if (!isBox(space)) return;
  space.low.forEach((_, i) => {
    const [low, high] = rangeOf(space, i);
    const middle = Math.fround((low + high) / 2);
    if (middle > Math.fround(low) && middle < Math.fround(high)) return;
    const got = `${space.low[i]} to ${space.high[i]} in value ${i}`;
    const remedy = 'Give the game smaller actions, and rescale them (rescaleActions).';
    fail(`${where}: option game`, 'a box whose values 32 bits tell apart in the range that is played', got, remedy);
  });
}

/** A space as the networks have it. */
export function networkActions(space: ActionSpace): DreamerActions {
  if (typeof space === 'number') return { kind: 'discrete', count: space };
  return isBox(space) ? { kind: 'continuous', size: widthOf(space) } : { kind: 'multi-discrete', counts: space.counts };
}

/**
 * One seat's actions as the replay keeps them: [rows] of discrete actions, [rows, choices], [rows, values] of a box.
 *
 * @param given  [rows, A, W] as the game has them, -1 or NaN for none
 * @param agents A
 * @param width  W
 */
export function recordedActions(
  space: ActionSpace,
  given: ActionArray,
  seat: number,
  agents: number,
  width: number,
): NDArray<Int32Array> | NDArray<Float32Array> {
  const w = widthOf(space);
  const rows = given.length / (agents * width);
  const at = (i: number) => given[(Math.floor(i / w) * agents + seat) * width + (i % w)];
  const whole = (value: number) => (Number.isNaN(value) ? -1 : value);
  const length = rows * w;
  if (!isBox(space)) {
    const shape = typeof space === 'number' ? [rows] : [rows, w];
    return ndarray(
      Int32Array.from({ length }, (_, i) => whole(at(i))),
      shape,
    );
  }
  return ndarray(
    Float32Array.from({ length }, (_, i) => inUnits(space, i % w, at(i))),
    [rows, w],
  );
}

/**
 * Draws an action for each row from the outputs of acting: `logProbs` [rows, K], or `mean` and `stddev` [rows, values]
 * of a box. Returns [rows, w] as the game receives them.
 */
export type DrawActions = (outputs: NamedArrays, rows: number, generator: Generator) => ActionArray;

/** How actions of a space are drawn. */
export function drawerOf(space: ActionSpace): DrawActions {
  if (!isBox(space)) {
    const { draw } = actionDistribution(space, { squash: false });
    return ({ logProbs }, rows, generator) => draw(logProbs.data as Float32Array, rows, generator).actions;
  }
  const w = widthOf(space);
  return ({ mean, stddev }, _rows, generator) => {
    const [means, deviations] = [mean.data as Float32Array, stddev.data as Float32Array];
    return means.map((value, i) => fromUnits(space, i % w, value + deviations[i] * generator.normal()));
  };
}

/** The first of recorded actions that isn't one, and what was expected; undefined if all are. */
export function recordedFault(
  space: ActionSpace,
  recorded: ArrayLike<number>,
): { readonly expected: string; readonly got: number } | undefined {
  const counts = choicesOf(space);
  for (let i = 0; i < recorded.length; i++) {
    const got = recorded[i];
    if (isBox(space)) {
      if (!(got >= -1 && got <= 1)) return { expected: 'from -1 to 1', got };
      continue;
    }
    const count = counts[i % counts.length];
    if (!Number.isInteger(got) || got < -1 || got >= count) return { expected: `below ${count}`, got };
  }
  return undefined;
}

/**
 * The range in which a value of a box is played: its bounds. As in DreamerV3's code it is -1 to 1 where there are none;
 * where one is missing, it is 2 wide.
 */
function rangeOf({ low, high }: BoxSpace, i: number): readonly [low: number, high: number] {
  const [least, most] = [low[i], high[i]];
  if (least === -Infinity) return most === Infinity ? [-1, 1] : [most - 2, most];
  return most === Infinity ? [least, least + 2] : [least, most];
}

/** A value of a box as a number from -1 to 1; NaN, for none, as 0. */
function inUnits(space: BoxSpace, i: number, value: number): number {
  if (Number.isNaN(value)) return 0;
  const [low, high] = rangeOf(space, i);
  return clipped((2 * (value - low)) / (high - low) - 1);
}

/** The opposite; numbers beyond -1 and 1 are clipped. */
function fromUnits(space: BoxSpace, i: number, value: number): number {
  const [low, high] = rangeOf(space, i);
  return Math.min(high, Math.max(low, low + ((clipped(value) + 1) / 2) * (high - low)));
}

function clipped(value: number): number {
  return Math.min(1, Math.max(-1, value));
}
