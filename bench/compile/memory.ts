import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { TableRow } from '@coplay/diagnostics';
import type { Context } from '../harness';
import { makeRunnable, type Step } from './steps';

/** Bytes in use by this process. */
interface Memory {
  readonly resident: number;
  /** JavaScript's objects, and the arrays behind them. */
  readonly heap: number;
}

/** Memory before a step is compiled, after its first run, and after many. */
export async function memory(context: Context, steps: readonly Step[]): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for (const step of steps) {
    const runs = context.isQuick ? 10 : step.name.startsWith('gru-64') ? 200 : 1000;
    rows.push(await memoryOf(step, runs));
  }
  context.table('Memory of compiled steps, megabytes', rows);
  return rows;
}

async function memoryOf(step: Step, runs: number): Promise<TableRow> {
  const before = measure();
  const runnable = makeRunnable(step, 'onnx');
  await runnable.run();
  const first = measure();
  for (let i = 0; i < runs; i++) await runnable.run();
  const last = measure();
  runnable.dispose();
  return {
    step: step.title,
    'resident before': megabytes(before.resident),
    'after the first run': megabytes(first.resident),
    runs: runs + 1,
    'after all runs': megabytes(last.resident),
    'heap before': megabytes(before.heap),
    'heap after the first': megabytes(first.heap),
    'heap after all': megabytes(last.heap),
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}

function measure(): Memory {
  collect();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { resident: rss, heap: heapUsed + arrayBuffers };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
