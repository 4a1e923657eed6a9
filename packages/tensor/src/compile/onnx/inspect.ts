import type { NDArray } from '@coplay/core';
import { encodeModel } from '../../onnx';
import { measurePasses, optimiseGraph } from '../../passes';
import type { GraphInspection, Statics, StepSetup } from '../executor';
import type { Tree } from '../tree';
import { record } from './record';
import type { Runtime } from './runtime';
import { sessionOptions } from './session-options';

/**
 * Traces, optimises and loads the graph for inputs like these, once more, and measures that. No state is read or
 * written.
 */
export async function inspectStep(
  runtime: Runtime,
  { name, fn, state }: StepSetup,
  inputs: Tree<NDArray>,
  statics: Statics,
): Promise<GraphInspection> {
  const clock = () => performance.now();
  const start = clock();
  const { graph: traced } = record(`compiled function ${name}`, fn, state, inputs, statics);
  const recorded = clock();
  const graph = optimiseGraph(traced);
  const optimised = clock();
  const session =
    (await runtime.generate?.(`compiled function ${name}`, graph)) ??
    (await runtime.InferenceSession.create(encodeModel(graph, { name }), sessionOptions(1)));
  const loaded = clock();
  await session.release();
  return {
    traceMilliseconds: recorded - start,
    passMilliseconds: optimised - recorded,
    sessionMilliseconds: loaded - optimised,
    passes: measurePasses(traced, clock),
  };
}
