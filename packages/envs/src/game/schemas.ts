import { fail } from '@coplay/core';
import { z } from 'zod';

/** Options with every default filled in. */
export type Settings<Options> = {
  readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined>;
};

/** A whole number of a range, in an option. */
export function whole(min: number, max: number) {
  const what = `a whole number from ${min} to ${max}`;
  return z.int(what).min(min, what).max(max, what);
}

/** The option `maxSteps`. */
export const stepLimit = whole(1, 1_000_000);

/**
 * Refuses a square grid with fewer cells than things.
 *
 * @param kinds  the kinds of things: `agents and drifts`
 * @param each   how many of each: `4 agents and 6 drifts`
 */
export function checkRoom(game: string, size: number, things: number, kinds: string, each: string): void {
  const cells = size * size;
  if (things <= cells) return;
  const got = `size ${size} (${cells} cells) for ${each}`;
  fail(`${game}: option size`, `a cell for each of ${things} ${kinds}`, got, 'Give a larger size or fewer of them.');
}

/** A place `[row, column]` in a layout. */
export const placeSchema = z.tuple([z.int(), z.int()], 'a place [row, column]').readonly();

/** The places of a kind of things in a layout; none by default. */
export const placesSchema = z.array(placeSchema).readonly().default([]);

/** The places of agents in a layout, null for one that isn't on the map. */
export const agentsSchema = z.array(placeSchema.nullable()).readonly();
