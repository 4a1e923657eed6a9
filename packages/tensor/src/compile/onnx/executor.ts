import type { NDArray } from '@coplay/core';
import { optimiseGraph } from '../../passes';
import { isArray } from '../convert';
import type { Executor, Statics, StepSetup } from '../executor';
import { type Entry, leavesOf, type Tree } from '../tree';
import { StateBinding } from './feeds';
import { type BoundGraph, GraphSession } from './graph-session';
import { inspectStep } from './inspect';
import { type ProfileFolder, profileFolder } from './profile';
import { record, signatureOf } from './record';
import type { Runtime } from './runtime';
import { SessionCache } from './session-cache';
import type { MemorySetting } from './session-options';
import type { ThreadSetting } from './threads';

/** A function's settings for ONNX Runtime. */
export interface OnnxOptions {
  /** The function's own choice. */
  readonly threads?: ThreadSetting | undefined;
  /** Whether times of operations are kept. Default false */
  readonly isProfiled?: boolean;
  /** The most threads that a graph may get. Default: one for each core */
  readonly cores?: number;
  /** Default `system` */
  readonly memory?: MemorySetting | undefined;
}

/** Traces a step function once for each signature and runs the graphs. */
export function onnxExecutor(runtime: Runtime, step: StepSetup, options: OnnxOptions): Executor {
  const { name, fn, state, acceptState } = step;
  const build = (inputs: Tree<NDArray>, statics: Statics): BoundGraph => {
    const { graph: traced, outputs } = record(`compiled function ${name}`, fn, state, inputs, statics);
    const graph = optimiseGraph(traced);
    return { graph, outputs, binding: new StateBinding(runtime, state, graph, acceptState) };
  };
  return {
    ...graphExecutor(runtime, name, build, options),
    inspect: (inputs, statics) => inspectStep(runtime, step, inputs, statics),
  };
}

/**
 * Runs graphs that are built once for each signature.
 *
 * @param build  the optimised graph for inputs like these
 */
export function graphExecutor(
  runtime: Runtime,
  name: string,
  build: (inputs: Tree<NDArray>, statics: Statics) => BoundGraph,
  { threads, cores, memory, isProfiled = false }: OnnxOptions = {},
): Executor {
  const where = `compiled function ${name}`;
  const sessions = new SessionCache<GraphSession>(where, (line) => console.warn(line));
  let folder: ProfileFolder | undefined;

  const sessionFor = async (
    leaves: readonly Entry<NDArray>[],
    inputs: Tree<NDArray>,
    statics: Statics,
  ): Promise<GraphSession> => {
    const signature = signatureOf(leaves, statics);
    const known = sessions.get(signature);
    if (known?.isCurrent) return known;
    await sessions.remove(signature);
    if (isProfiled) folder ??= await profileFolder();
    const setup = { runtime, name, where, threads, cores, memory, profileFolder: folder?.path };
    const made = await GraphSession.create(setup, build(inputs, statics), leaves);
    await sessions.add(signature, made);
    return made;
  };

  return {
    async run(inputs, statics) {
      const leaves = leavesOf(where, inputs, isArray);
      return (await sessionFor(leaves, inputs, statics)).run(leaves);
    },
    async dispose() {
      await sessions.clear();
      await folder?.remove();
    },
    async profile() {
      if (!folder) return undefined;
      for (const session of sessions.values()) session.endProfiling();
      const times = await folder.read();
      await sessions.clear(); // a session is profiled once: later calls make new ones
      folder = undefined;
      return times;
    },
  };
}
