import { fail, show } from '@coplay/core';
import { isTensor, type TensorRecord } from './convert';
import type { AnyStep, Statics, StepResult } from './executor';
import { leavesOf } from './tree';
import { checkRecord, type VariableStore } from './variables';

/** Calls a step function and checks what it returns. */
export function callStep(
  where: string,
  fn: AnyStep,
  state: Record<string, TensorRecord>,
  inputs: unknown,
  statics: Statics,
): StepResult {
  const result = fn(state, inputs as never, statics);
  // The code after its first await runs outside of the call and may fail: that failure is ignored.
  if ((result as unknown) instanceof Promise) (result as unknown as Promise<unknown>).catch(() => undefined);
  const outputs: unknown = result?.outputs;
  if (outputs === undefined) {
    fail(where, '{ outputs, state? } returned', show(result), 'Return it, not a promise of it.');
  }
  leavesOf(where, outputs, isTensor, {
    root: 'outputs',
    kind: 'a tensor',
    remedy: 'Use tf.scalar for a number.',
  });
  return result;
}

/** What `acceptState` says; refuses any answer but true and false, such as the promise of one. */
export function isAccepted(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  return fail(
    'acceptState',
    'true or false returned, at once',
    show(answer),
    'Make it a plain function of the outputs.',
  );
}

/** Refuses new state of groups that weren't declared, or of other names, shapes or dtypes than the group's. */
export function checkNext(
  where: string,
  state: Readonly<Record<string, VariableStore>>,
  next: Readonly<Record<string, TensorRecord | undefined>>,
): void {
  for (const key of Object.keys(next)) {
    const group = state[key];
    const keys = Object.keys(state).join(', ') || 'none';
    if (!group)
      fail(where, `new state for its groups alone (${keys})`, key, `Declare it: compile(fn, { state: { ${key} } }).`);
    checkRecord(`${where}: state.${key}`, group, next[key]!);
    for (const name of group.names) {
      const { dtype } = next[key]![name];
      if (dtype !== group.dtypes[name]) {
        fail(`${where}: state.${key}`, `${name} of dtype ${group.dtypes[name]}`, dtype, 'Cast it.');
      }
    }
  }
}
