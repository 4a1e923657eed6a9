import type { NamedArrays } from '@coplay/core';
import { sliceRows } from '@coplay/core/rows';
import { heldSteps } from './ring-state';
import type { SequenceState } from './sequence-replay';

/** Steps of one stream between two multiples of a chunk's size, as far as they are held. */
export interface Chunk {
  /** In 0..S-1 */
  readonly stream: number;
  /** The number of its first step */
  readonly first: number;
  /** Steps */
  readonly count: number;
  /**
   * [count, ...] for each field, views of the state: the fields that never change after a push, and separately the
   * fields that are renewed
   */
  readonly parts: readonly NamedArrays[];
}

/** The chunks of a state, stream by stream in order of time. */
export function chunksOf({ buffer, renewed = [] }: SequenceState, size: number): Chunk[] {
  const isRenewed = new Set(renewed);
  const parts = [false, true].map((renews) => fieldsWhere(buffer.rows, (name) => isRenewed.has(name) === renews));
  const filled = parts.filter((part) => Object.keys(part).length > 0);
  const chunks: Chunk[] = [];
  let row = 0;
  buffer.pushed.forEach((pushed, stream) => {
    let first = pushed - heldSteps(pushed, buffer.begun?.[stream] ?? 0, buffer.ring);
    while (first < pushed) {
      const count = Math.min(pushed, (Math.floor(first / size) + 1) * size) - first;
      const [from, to] = [row, row + count];
      chunks.push({ stream, first, count, parts: filled.map((part) => sliceRows(part, from, to)) });
      first += count;
      row += count;
    }
  });
  return chunks;
}

/** The fields of the given names, sorted by name: the same fields make the same file, in any order of pushing. */
function fieldsWhere(rows: NamedArrays, isWanted: (name: string) => boolean): NamedArrays {
  const names = Object.keys(rows).filter(isWanted).sort();
  return Object.fromEntries(names.map((name) => [name, rows[name]]));
}
