import { z } from 'zod';

/** A whole number of a range, in an option. */
export function whole(min: number, max: number) {
  const what = `a whole number from ${min} to ${max}`;
  return z.int(what).min(min, what).max(max, what);
}

/** A place `[row, column]` in a layout. */
const placeSchema = z.tuple([z.int(), z.int()], 'a place [row, column]').readonly();

/** The places of a kind of things in a layout; none by default. */
export const placesSchema = z.array(placeSchema).readonly().default([]);

/** The places of agents in a layout, null for one that isn't on the map. */
export const agentsSchema = z.array(placeSchema.nullable()).readonly();
