import type { Run } from '../runs';
import type { Curve } from '../statistics';

const known = new WeakMap<Run['entries'], ReadonlyMap<string, Curve>>();

/** Every metric of a run as a curve over the updates that logged it. Made once for each run. */
export function columnsOf({ entries }: Run): ReadonlyMap<string, Curve> {
  const made = known.get(entries);
  if (made) return made;
  const columns = new Map<string, { steps: number[]; values: number[] }>();
  for (const { envSteps, metrics } of entries) {
    for (const key in metrics) {
      const column = columns.get(key) ?? { steps: [], values: [] };
      if (column.steps.length === 0) columns.set(key, column);
      column.steps.push(envSteps);
      column.values.push(metrics[key]);
    }
  }
  known.set(entries, columns);
  return columns;
}
