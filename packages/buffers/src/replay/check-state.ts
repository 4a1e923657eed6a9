import { fail, show } from '@coplay/core';
import { checkArgument, namedArrays, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { heldSteps, type RingState } from './ring-state';

const WHERE = 'replayBuffer.restore';
const DAMAGED = 'Take another copy: this one is damaged.';

const counters = typedArrays('float64');
const schema = z.looseObject({ pushed: counters, begun: counters.optional(), ring: z.int(), rows: namedArrays });

/**
 * Refuses a value that isn't a state of so many streams of so many steps, before anything is changed.
 *
 * @throws CoplayError naming the fault: the size of the buffer, a counter, or a field
 */
export function checkState(saved: unknown, streams: number, ring: number): RingState {
  checkArgument(WHERE, 'saved', schema, saved);
  const state = saved as RingState;
  if (state.ring !== ring || state.pushed.length !== streams) {
    const got = `${state.pushed.length} streams of ${show(state.ring)} steps in pushed and ring`;
    const remedy = 'Restore into a buffer of the same capacity and streams.';
    fail(WHERE, `${streams} streams of ${ring} steps`, got, remedy);
  }
  checkCounters(state, streams);
  checkRows(state);
  return state;
}

function checkCounters({ pushed, begun }: RingState, streams: number): void {
  for (const [name, counts] of Object.entries({ pushed, ...(begun !== undefined && { begun }) })) {
    const isWhole = counts.every((count) => Number.isSafeInteger(count) && count >= 0);
    if (!isWhole || counts.length !== streams) {
      fail(WHERE, `${name} of ${streams} whole numbers, one for each stream`, show(counts), DAMAGED);
    }
  }
  const early = pushed.findIndex((end, stream) => (begun?.[stream] ?? 0) > end);
  if (early < 0) return;
  const expected = `begun of stream ${early} up to the ${pushed[early]} steps that were pushed`;
  fail(WHERE, expected, show(begun?.[early]), DAMAGED);
}

/**
 * Refuses fields that hold more or fewer rows than there are steps, or other numbers of numbers than their shapes say.
 */
function checkRows({ pushed, begun, ring, rows }: RingState): void {
  const steps = pushed.reduce((sum, end, stream) => sum + heldSteps(end, begun?.[stream] ?? 0, ring), 0);
  const wrong = Object.keys(rows).find((name) => rows[name].shape[0] !== steps);
  if (wrong === undefined && (steps === 0 || Object.keys(rows).length > 0)) return;
  const { data, shape } = (wrong !== undefined && rows[wrong]) || {};
  const got = wrong === undefined ? 'no fields' : `${show(data)} in [${shape}]`;
  fail(WHERE, `${steps} rows of ${wrong ?? 'each field'}, one for each step held`, got, DAMAGED);
}
