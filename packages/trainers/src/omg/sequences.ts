import type { Generator } from '@coplay/core';

/** Steps of histories laid out as sequences of L, several short histories in one: R sequences. */
export interface Sequences {
  /** [R L] places of the steps in the table of the histories that were drawn */
  readonly places: Int32Array;
  /** [R L] 1 in the first step of a history or of its part; in padding too */
  readonly isFirst: Float32Array;
  /** [R L] 0 in padding */
  readonly weights: Float32Array;
}

/** Histories that were drawn, and how they lie in sequences. */
export interface SequencePlan extends Sequences {
  /** [rows of the table] places of its steps in the buffer */
  readonly table: Int32Array;
  /** [rows of the table] the first row behind each step's history */
  readonly ends: Int32Array;
}

/**
 * Draws histories, all of them once before any comes again, and lays them into `rows` sequences of L steps. A history
 * that is longer than L is cut into parts.
 *
 * @param offsets  [histories + 1] as the buffer says; at least one history
 */
export function planSequences(offsets: Int32Array, rows: number, length: number, generator: Generator): SequencePlan {
  const order = Int32Array.from({ length: offsets.length - 1 }, (_, i) => i);
  const starts = new Int32Array(order.length).fill(-1); // of each history in the table
  const table: number[] = [];
  const ends: number[] = [];
  const sequences = emptySequences(rows, length);
  const cursor = { row: 0, used: 0 };
  while (cursor.row < rows) {
    generator.shuffle(order);
    for (const history of order) {
      const [first, last] = [offsets[history], offsets[history + 1]];
      if (starts[history] < 0) {
        starts[history] = table.length;
        for (let place = first; place < last; place++) {
          table.push(place);
          ends.push(starts[history] + last - first);
        }
      }
      lay(sequences, cursor, starts[history], last - first, length, rows);
      if (cursor.row >= rows) break;
    }
  }
  return { ...sequences, table: Int32Array.from(table), ends: Int32Array.from(ends) };
}

function emptySequences(rows: number, length: number): Sequences {
  return {
    places: new Int32Array(rows * length),
    isFirst: new Float32Array(rows * length).fill(1),
    weights: new Float32Array(rows * length),
  };
}

/** Lays a history behind what's in the present sequence, or into the next ones where it has no room. */
function lay(
  { places, isFirst, weights }: Sequences,
  cursor: { row: number; used: number },
  start: number,
  count: number,
  length: number,
  rows: number,
): void {
  for (let done = 0; done < count; ) {
    const part = Math.min(count - done, length);
    if (cursor.used + part > length) Object.assign(cursor, { row: cursor.row + 1, used: 0 });
    if (cursor.row >= rows) return;
    const at = cursor.row * length + cursor.used;
    for (let i = 0; i < part; i++) {
      places[at + i] = start + done + i;
      isFirst[at + i] = i === 0 ? 1 : 0;
      weights[at + i] = 1;
    }
    cursor.used += part;
    done += part;
  }
}
