import type { NamedArrays } from '@coplay/core';

/** What {@link ReplayBuffer.state} saves. */
export interface RingState {
  /** [S] steps pushed so far to each stream */
  readonly pushed: Float64Array;
  /** [S] the number of the first step that each stream ever had; zeros where it's left out */
  readonly begun?: Float64Array;
  /** Steps that one stream may hold */
  readonly ring: number;
  /** [steps held, ...] for each field: the steps of the first stream in order of time, then the steps of the next */
  readonly rows: NamedArrays;
}

/** Steps that a stream holds after so many were pushed, counted from 0, of which it had those from `begun` on. */
export function heldSteps(pushed: number, begun: number, ring: number): number {
  return Math.min(pushed - begun, ring);
}
