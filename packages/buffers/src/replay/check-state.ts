import { fail, isArrayOf, isTypedArray, type NDArray, show, sizeOf } from '@coplay/core';
import { heldSteps, type RingState } from './ring-state';

const WHERE = 'replayBuffer.restore';
const DAMAGED = 'Take another copy: this one is damaged.';

/**
 * Refuses what is no state of so many streams of so many steps, before anything is changed.
 *
 * @throws CoplayError naming what is wrong: the size of the buffer, a counter, or a field
 */
export function checkState(saved: unknown, streams: number, ring: number): RingState {
  if (typeof saved !== 'object' || saved === null) fail(WHERE, 'what state() gave', show(saved), DAMAGED);
  const state = saved as RingState;
  if (state.ring !== ring || state.pushed?.length !== streams) {
    const got = `${state.pushed?.length} streams of ${show(state.ring)} steps`;
    const remedy = 'Restore into a buffer of the same capacity and streams.';
    fail(WHERE, `${streams} streams of ${ring} steps`, got, remedy);
  }
  checkCounters(state, streams);
  if (typeof state.rows !== 'object' || state.rows === null) fail(WHERE, 'rows by field', show(state.rows), DAMAGED);
  checkRows(state);
  return state;
}

function checkCounters({ pushed, begun }: RingState, streams: number): void {
  for (const [name, counts] of Object.entries({ pushed, ...(begun !== undefined && { begun }) })) {
    const isWhole = isArrayOf('float64', counts) && counts.every((count) => Number.isSafeInteger(count) && count >= 0);
    if (!isWhole || counts.length !== streams) {
      fail(WHERE, `${name} of ${streams} whole numbers, one for each stream`, show(counts), DAMAGED);
    }
  }
  const early = pushed.findIndex((end, stream) => (begun?.[stream] ?? 0) > end);
  if (early < 0) return;
  const expected = `begun of stream ${early} up to the ${pushed[early]} steps that were pushed`;
  fail(WHERE, expected, show(begun?.[early]), DAMAGED);
}

/** Refuses fields that hold more or fewer rows than there are steps, or other numbers of numbers than their shapes say. */
function checkRows({ pushed, begun, ring, rows }: RingState): void {
  const steps = pushed.reduce((sum, end, stream) => sum + heldSteps(end, begun?.[stream] ?? 0, ring), 0);
  const wrong = Object.keys(rows).find((name) => !isRows(rows[name], steps));
  if (wrong === undefined && (steps === 0 || Object.keys(rows).length > 0)) return;
  const { data, shape } = (wrong !== undefined && rows[wrong]) || {};
  const got = wrong === undefined ? 'no fields' : `${show(data)} in [${shape}]`;
  fail(WHERE, `${steps} rows of ${wrong ?? 'each field'}, one for each step held`, got, DAMAGED);
}

function isRows(field: NDArray | undefined, steps: number): boolean {
  if (!field || !Array.isArray(field.shape) || !isTypedArray(field.data)) return false;
  const { data, shape } = field;
  const isShape = shape.every((size) => Number.isInteger(size) && size >= 0);
  return isShape && shape[0] === steps && data.length === sizeOf(shape);
}
