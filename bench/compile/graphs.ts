import type { TableRow } from '@coplay/diagnostics';
import { type GraphInspection, inspectGraph } from '@coplay/tensor';
import type { Context } from '../harness';
import { makeRunnable, type Step } from './steps';

/** Times of tracing, passes and loading of each step, and the size of its graph after each pass. */
export async function graphs(context: Context, steps: readonly Step[]): Promise<Record<string, GraphInspection>> {
  const found = new Map<Step, GraphInspection>();
  for (const step of steps) {
    const { compiled, inputs, dispose } = makeRunnable(step, 'onnx');
    // The first of all times would hold the loading of libraries.
    if (found.size === 0) await inspectGraph(compiled, inputs);
    found.set(step, await inspectGraph(compiled, inputs));
    dispose();
  }
  const all = [...found];
  context.table(
    'Making a graph ready, once for each signature',
    all.map(([step, inspection]) => timeRow(step, inspection)),
  );
  context.table(
    'Nodes after each pass',
    passRows(all, ({ nodes }) => nodes),
  );
  context.table(
    'Kilobytes after each pass',
    passRows(all, ({ bytes }) => Math.round(bytes / 1000)),
  );
  return Object.fromEntries(all.map(([step, inspection]) => [step.name, inspection]));
}

type Measure = GraphInspection['passes'][number];

function timeRow({ title }: Step, inspection: GraphInspection): TableRow {
  const [traced, last] = [inspection.passes[0], inspection.passes.at(-1)!];
  return {
    step: title,
    'trace, ms': Math.round(inspection.traceMilliseconds),
    'passes, ms': Math.round(inspection.passMilliseconds),
    'session, ms': Math.round(inspection.sessionMilliseconds),
    'nodes traced': traced.nodes,
    'nodes run': last.nodes,
    'kB traced': Math.round(traced.bytes / 1000),
    'kB run': Math.round(last.bytes / 1000),
  };
}

/** A row for each pass, a column for each step. */
function passRows(all: readonly [Step, GraphInspection][], figure: (measure: Measure) => number): TableRow[] {
  return all[0][1].passes.map(({ name }, i) => ({
    pass: name,
    ...Object.fromEntries(all.map(([step, { passes }]) => [step.name, figure(passes[i])])),
  }));
}
