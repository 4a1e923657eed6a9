import { checkOptions, type NDArray } from '@coplay/core';
import { z } from 'zod';
import type { Graph } from '../../graph';
import { optimiseGraph } from '../../passes';
import { scanGraph } from '../../scan';
import { readFlat } from '../../stack';
import { callable } from '../callable';
import {
  type Compiled,
  type CompileOptions,
  checkState,
  checkStep,
  commonSchema,
  type StepFunction,
  stateSchema,
} from '../compile';
import type { TensorRecord, TensorTree } from '../convert';
import type { AnyStep, Executor, Statics, StepSetup } from '../executor';
import { checkChoice, planExecutor } from '../executor-choice';
import { planned } from '../fallback';
import { floatNames } from '../host-arrays';
import { graphExecutor } from '../onnx/executor';
import { StateBinding } from '../onnx/feeds';
import { type Recorded, record } from '../onnx/record';
import type { Runtime } from '../onnx/runtime';
import type { ThreadSetting } from '../onnx/threads';
import type { Tree } from '../tree';
import { eagerScan } from './eager-scan';
import { inputsOfStep, isEachInput, stepCount } from './scan-inputs';

/** Inputs of a repeated step: each step's own, and the shared ones. */
export type ScanInputs<Shared extends TensorTree = TensorRecord> = {
  readonly each: TensorRecord;
  readonly shared: Shared;
};

/** How {@link compileScan} compiles. */
export type ScanOptions<Key extends string = string> = Pick<
  CompileOptions<Key>,
  'name' | 'state' | 'executor' | 'acceptState' | 'threads'
>;

const schema = z.strictObject({ ...commonSchema, state: stateSchema.optional() });

/**
 * A step function compiled to run S times in one call, each step from the state that the one before left (JAX's scan):
 * an epoch of minibatches is one call. Inputs are `{ each: [S, ...], shared }`; the function sees one step's part of
 * `each`, and `shared` as it is. Outputs are [S, ...]. What `acceptState` refuses, it refuses of all steps together.
 *
 * @throws CoplayError as `compile`, and for inputs without steps
 */
export function compileScan<Key extends string = never, Inputs extends ScanInputs<TensorTree> = ScanInputs>(
  fn: StepFunction<Key, Inputs>,
  options: ScanOptions<Key>,
): Compiled<Inputs> {
  checkStep('compileScan', fn, options);
  const { name, executor = 'auto', threads, acceptState = () => true, state = {} } = options;
  const where = `compileScan(${name})`;
  checkChoice(where, executor);
  checkOptions(where, schema, options);
  const step: StepSetup = { name, fn: fn as unknown as AnyStep, state: checkState(where, state), acceptState };
  const start = async (): Promise<Executor> => {
    const plan = await planExecutor(where, executor);
    const compiled = (runtime: Runtime) => onnxScan(runtime, step, threads);
    return planned(`compiled function ${name}`, plan, compiled, () => eagerScan(step));
  };
  return callable(`compiled function ${name}`, start) as unknown as Compiled<Inputs>;
}

function onnxScan(runtime: Runtime, step: StepSetup, threads: ThreadSetting | undefined): Executor {
  return graphExecutor(
    runtime,
    step.name,
    (inputs, statics) => {
      const { graph, outputs } = buildScan(step, inputs, statics);
      return { graph, outputs, binding: new StateBinding(runtime, step.state, graph, step.acceptState) };
    },
    { threads },
  );
}

/** The optimised graph of a step that is repeated as often as these inputs say. */
export function buildScan({ name, fn, state }: StepSetup, inputs: Tree<NDArray>, statics: Statics): Recorded {
  const where = `compiled function ${name}`;
  const steps = stepCount(where, inputs);
  const { graph: traced, outputs } = record(where, fn, state, inputsOfStep(inputs, 0), statics);
  const single = optimiseGraph(carryWhole(optimiseGraph(traced), state));
  return { graph: scanGraph(single, { steps, isEach: isEachInput, axis: 0 }), outputs };
}

/** A group that is written as one vector is read as one, too: a step passes it on to the next. */
function carryWhole(graph: Graph, state: StepSetup['state']): Graph {
  return Object.entries(state).reduce((current, [key, store]) => {
    const isFlat = current.outputs.some(({ name }) => name === `next/${key}/`);
    return isFlat ? readFlat(current, key, { names: floatNames(store), shapes: store.shapes }) : current;
  }, graph);
}
