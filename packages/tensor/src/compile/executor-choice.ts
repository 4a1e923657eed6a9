import { fail, show } from '@coplay/core';
import { oneForAllCopies } from '@coplay/core/checks';
import * as tf from '@tensorflow/tfjs-core';
import { ensureBackend } from '../backend';
import { wasmFeatures } from '../wasm';
import { environment } from './environment';
import { loadRuntime, type Runtime } from './onnx/runtime';
import { fasterRuntime, wasmRuntime } from './wasm-runtime';

/**
 * The machine that runs compiled functions: ONNX Runtime, WebAssembly code that is generated for each graph, or tfjs
 * operation by operation.
 */
export type ExecutorName = 'onnx' | 'wasm' | 'eager';

/**
 * An executor by name, or `auto`: `onnx` where ONNX Runtime loads, with `wasm` for graphs that are expected to be
 * faster there by their shapes; else `wasm`; `eager` where WebAssembly code can't run.
 */
export type ExecutorChoice = ExecutorName | 'auto';

/** Which executor compiled functions run on. */
export interface ExecutorInfo {
  readonly name: ExecutorName;
  /** One line for people: which, and why. `onnx: onnxruntime-node 1.30.0` */
  readonly reason: string;
}

/** An executor that's ready; `runtime` is there for `onnx` and `wasm`. */
export interface ExecutorPlan extends ExecutorInfo {
  readonly runtime?: Runtime;
}

const CHOICES: readonly ExecutorChoice[] = ['auto', 'onnx', 'wasm', 'eager'];
const VARIABLE = 'COPLAY_EXECUTOR';

/** The setting for all functions of this process, also for functions of another copy of this package. */
const chosen = oneForAllCopies('@coplay/tensor/executor@1', () => ({
  asked: 'auto' as ExecutorChoice,
  /** Whether the warning that functions run eagerly was given. */
  isTold: false,
  /** Whether the warning that WebAssembly code can't run was given. */
  isWasmTold: false,
}));

/**
 * Chooses the executor of all functions that leave it at `auto`, from their first call on; functions that were called
 * before keep their executor. For tests and studies that compare executors. With `auto`, in Node, the environment
 * variable `COPLAY_EXECUTOR` decides if it's set.
 *
 * @throws CoplayError for `onnx` where ONNX Runtime doesn't load; the choice stays as it was
 */
export async function useExecutor(choice: ExecutorChoice = 'auto'): Promise<ExecutorInfo> {
  checkChoice('useExecutor', choice);
  const before = chosen.asked;
  chosen.asked = choice;
  try {
    return await executorInfo();
  } catch (error) {
    chosen.asked = before;
    throw error;
  }
}

/**
 * Which executor functions run on that leave the choice to the library, and why; a line to print where a program
 * starts.
 *
 * @throws CoplayError if the executor that `COPLAY_EXECUTOR` names isn't available
 */
export async function executorInfo(): Promise<ExecutorInfo> {
  chosen.isTold = true;
  const { name, reason } = await planExecutor('useExecutor');
  return { name, reason };
}

/** Refuses a value that isn't an executor. */
export function checkChoice(where: string, choice: unknown): asserts choice is ExecutorChoice {
  if ((CHOICES as readonly unknown[]).includes(choice)) return;
  fail(where, "executor 'auto', 'onnx', 'wasm' or 'eager'", show(choice), "Leave it out for 'auto'.");
}

/**
 * Loads the modules that a choice needs. Where `auto` finds neither ONNX Runtime nor WebAssembly, that is said once in
 * a program, by `console.warn`, unless {@link executorInfo} said it.
 */
export async function planExecutor(where: string, own: ExecutorChoice = 'auto'): Promise<ExecutorPlan> {
  const { choice, by } = own === 'auto' ? globalChoice() : { choice: own, by: 'as asked' };
  if (choice === 'eager') return eagerPlan(by);
  const { runtime, reason } = await loadRuntime();
  if (choice === 'wasm' && canGenerate(true)) {
    return { name: 'wasm', reason: describeWasm(by), runtime: wasmRuntime(runtime) };
  }
  if (choice === 'auto' && canGenerate(false)) {
    if (!runtime) return { name: 'wasm', reason: describeWasm(reason), runtime: wasmRuntime(undefined) };
    return {
      name: 'onnx',
      reason: `${reason}, small graphs as generated WebAssembly`,
      runtime: fasterRuntime(runtime),
    };
  }
  if (runtime) return { name: 'onnx', reason, runtime };
  if (choice === 'onnx') {
    fail(where, 'ONNX Runtime, for the executor onnx', reason, 'Install onnxruntime-node, or leave executor out.');
  }
  const plan = await eagerPlan(reason);
  if (!chosen.isTold) console.warn(`Compiled functions are slower than they could be. ${plan.reason}`);
  chosen.isTold = true;
  return plan;
}

/** Whether WebAssembly code can run. Where it was asked for, the reason why not is said once. */
function canGenerate(isAsked: boolean): boolean {
  const { problem } = wasmFeatures();
  if (problem === undefined) return true;
  if (isAsked && !chosen.isWasmTold) console.warn(`No code is generated for compiled functions: ${problem}.`);
  if (isAsked) chosen.isWasmTold = true;
  return false;
}

function describeWasm(why: string): string {
  return `wasm: generated code with SIMD${wasmFeatures().isFused ? ' and fused multiply-add' : ''}: ${why}`;
}

function globalChoice(): { readonly choice: ExecutorChoice; readonly by: string } {
  if (chosen.asked !== 'auto') return { choice: chosen.asked, by: 'as asked' };
  const choice = environment(VARIABLE) ?? 'auto';
  checkChoice(VARIABLE, choice);
  return { choice, by: `${VARIABLE} asks for it` };
}

async function eagerPlan(why: string): Promise<ExecutorPlan> {
  await ensureBackend();
  return { name: 'eager', reason: `eager on ${tf.getBackend()}: ${why}` };
}
