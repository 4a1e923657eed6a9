import { checkOptions, fail, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import { checkArgument, checkCount, checkGenerator, ndarrays, restorePart } from '@coplay/core/checks';
import { checkRowSpec, concatRows, gatherRows, rowCount, rowSpecOf } from '@coplay/core/rows';
import { z } from 'zod';
import { createTransitionStore, type TransitionStore } from './store';

/** Options of {@link createOutcomeStore}. */
export interface OutcomeStoreOptions {
  /** Transitions held of each outcome, at least 1. Default 256 */
  readonly capacity?: number | undefined;
  /** The number of outcomes that have their own room, at least 1; later outcomes aren't held. Default 16 */
  readonly outcomes?: number | undefined;
}

/**
 * Transitions grouped by their rewards, so that a rare event (two agents catch the stag together) is neither forgotten
 * nor drowned. An outcome is the largest reward of any agent, by absolute value, to three digits.
 */
export interface OutcomeStore {
  /** The outcomes met so far that have room. */
  readonly outcomes: readonly string[];
  /** Transitions held of all outcomes. */
  readonly size: number;
  /** Copies transitions [B, ...] with `rewards` [B, A] in, each to the room of its outcome. */
  push(rows: NamedArrays): void;
  /**
   * Transitions as copies [count, ...], with replacement: each outcome has the same chance, and so has each of its
   * transitions.
   *
   * @throws CoplayError where there are none
   */
  sample(generator: Generator, count: number): NamedArrays;
  state(): SavedState;
  restore(saved: SavedState): void;
}

interface SavedRoom {
  readonly outcome: string;
  readonly room: SavedState;
}

const savedSchema = z.looseObject({ rooms: z.array(z.looseObject({ outcome: z.string(), room: z.looseObject({}) })) });
const schema = z.strictObject({
  capacity: z.int().min(1).default(256),
  outcomes: z.int().min(1).default(16),
});

/** An empty store. */
export function createOutcomeStore(options: OutcomeStoreOptions = {}): OutcomeStore {
  const { capacity, outcomes: most } = checkOptions('createOutcomeStore', schema, options);
  let rooms = new Map<string, TransitionStore>();
  const roomOf = (outcome: string): TransitionStore | undefined => {
    if (!rooms.has(outcome) && rooms.size < most) rooms.set(outcome, createTransitionStore({ capacity }));
    return rooms.get(outcome);
  };
  return {
    get outcomes() {
      return [...rooms.keys()];
    },
    get size() {
      return [...rooms.values()].reduce((sum, room) => sum + room.size, 0);
    },
    push(rows) {
      for (const [outcome, places] of byOutcome(rows)) roomOf(outcome)?.push(gatherRows(rows, places));
    },
    sample(generator, count) {
      checkGenerator('outcomeStore.sample', generator);
      checkCount('outcomeStore.sample', 'count', count, 1);
      const all = [...rooms.values()];
      if (all.length === 0) fail('outcomeStore.sample', 'transitions', 'none', 'Push some first.');
      const chosen = Array.from({ length: count }, () => generator.integer(all.length));
      return drawn(all, chosen, generator);
    },
    // A list, for the order says which room is drawn: a record would put '100' before '5.00'.
    state: () => ({ rooms: [...rooms].map(([outcome, room]) => ({ outcome, room: room.state() })) }),
    restore(saved) {
      checkArgument('outcomeStore.restore', 'saved', savedSchema, saved);
      const restored = new Map<string, TransitionStore>();
      const [held] = rooms.values();
      let spec = held && rowSpecOf(held.rows());
      for (const [i, { outcome, room }] of (saved['rooms'] as unknown as readonly SavedRoom[]).entries()) {
        if (restored.has(outcome)) {
          const remedy = 'Give what state() returned.';
          fail(`outcomeStore.restore: saved.rooms[${i}].outcome`, 'another outcome than before', outcome, remedy);
        }
        if (restored.size === most) break; // it was saved by a store with room for more outcomes
        const path = `outcomeStore.restore: saved.rooms[${i}].room`;
        const store = createTransitionStore({ capacity });
        restorePart(path, () => store.restore(room));
        const rows = store.rows();
        checkArgument(path, 'rows.rewards', rewardsSchema, rows['rewards']);
        spec ??= rowSpecOf(rows);
        checkRowSpec(`${path}.rows`, spec, rows); // all rooms are drawn from at once
        restored.set(outcome, store);
      }
      rooms = restored; // only now that all of it fits
    },
  };
}

const rewardsSchema = ndarrays.refine(({ shape }) => shape.length === 2, 'rewards [B, A]');

/** Rows of each outcome. */
function byOutcome(rows: NamedArrays): Map<string, number[]> {
  const count = rowCount('outcomeStore.push', rows);
  checkArgument('outcomeStore.push', 'rows.rewards', rewardsSchema, rows['rewards']);
  const { data, shape } = rows['rewards'];
  const found = new Map<string, number[]>();
  for (let row = 0; row < count; row++) {
    let largest = 0;
    for (let i = row * shape[1]; i < (row + 1) * shape[1]; i++) {
      if (Math.abs(data[i]) > Math.abs(largest)) largest = data[i];
    }
    const outcome = largest.toPrecision(3);
    const places = found.get(outcome);
    if (places) places.push(row);
    else found.set(outcome, [row]);
  }
  return found;
}

/** One row of each of the chosen rooms, in that order. */
function drawn(rooms: readonly TransitionStore[], chosen: readonly number[], generator: Generator): NamedArrays {
  // Rooms are read one after the other, and their rows put where they were chosen.
  const parts = rooms.map((room, index) => {
    const count = chosen.filter((other) => other === index).length;
    return count > 0 ? room.gather(room.sample(generator, count)) : undefined;
  });
  const used = parts.filter((part): part is NamedArrays => part !== undefined);
  const starts: number[] = [];
  let next = 0;
  parts.forEach((part, index) => {
    starts[index] = next;
    next += part ? rowCount('outcomeStore.sample', part) : 0;
  });
  return gatherRows(
    concatRows(used),
    chosen.map((index) => starts[index]++),
  );
}
