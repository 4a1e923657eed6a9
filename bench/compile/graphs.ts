import type { TableRow } from '@coplay/diagnostics';
import type { Context } from '../harness';
import type { Step } from './steps';

/** Trace and session times, and the size of each step's graph before and after the passes. */
export async function graphs(_context: Context, _steps: readonly Step[]): Promise<TableRow[]> {
  return [];
}
