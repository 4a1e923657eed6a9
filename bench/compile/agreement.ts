import type { TableRow } from '@coplay/diagnostics';
import type { Context } from '../harness';
import type { Machine } from './machines';
import type { Step } from './steps';

/** Whether machines compute the same. */
export interface Agreement {
  /** The machines that can run the step. */
  readonly able: readonly Machine[];
  readonly row: TableRow;
  /** Largest relative differences from the first machine, of the first and of the last loss. */
  readonly differences: { readonly first: number; readonly later: number };
}

/** Runs a step on each machine from equal parameters, a few times, and compares losses. Says who can't run it. */
export async function agreement(context: Context, machines: readonly Machine[], step: Step): Promise<Agreement> {
  const able: Machine[] = [];
  const all: (readonly number[])[] = [];
  for (const machine of machines) {
    try {
      all.push(await machine.losses(step));
      able.push(machine);
    } catch (error) {
      context.say(`  ${machine.name} is left out: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  const first = largestDifference(all.map((losses) => losses[0]));
  const later = largestDifference(all.map((losses) => losses.at(-1)!));
  const row = {
    step: step.title,
    'loss at first': all[0]?.[0],
    'after 3 steps': all[0]?.at(-1),
    'difference at first': first,
    'difference after 3': later,
    machines: able.length,
  };
  return { able, row, differences: { first, later } };
}

function largestDifference([own, ...others]: readonly number[]): number {
  return Math.max(0, ...others.map((other) => Math.abs(other - own) / Math.abs(own)));
}
