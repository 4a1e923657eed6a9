import type { CoplayError } from '@coplay/core';
import { ensureBackend } from '../backend';
import type { Executor } from './executor';
import type { ExecutorPlan } from './executor-choice';
import { isRefused, isUncompilable } from './onnx/errors';
import type { Runtime } from './onnx/runtime';

/**
 * Runs a function as compiled as long as it can be, and eagerly from the first operation on that can't be compiled;
 * that is said once. Nothing has run by then, so nothing is done twice.
 */
export function withFallback(
  where: string,
  compiled: Executor,
  eager: () => Executor,
  isReason: (error: unknown) => error is CoplayError = isUncompilable,
): Executor {
  let present = compiled;
  return {
    ...compiled,
    async run(inputs, statics) {
      try {
        return await present.run(inputs, statics);
      } catch (error) {
        if (present !== compiled || !isReason(error)) throw error;
        await compiled.dispose();
        await ensureBackend();
        present = eager();
        console.warn(`${where} runs operation by operation, which is slower: it contains ${error.complaint.got}.`);
        return present.run(inputs, statics);
      }
    },
    dispose: () => present.dispose(),
  };
}

/** The executor of a plan: compiled where a runtime is there and takes the graphs, else eager. */
export function planned(
  where: string,
  { runtime }: ExecutorPlan,
  compiled: (runtime: Runtime) => Executor,
  eager: () => Executor,
): Executor {
  if (!runtime) return eager();
  return runtime.isPartial ? withFallback(where, compiled(runtime), eager, isRefused) : compiled(runtime);
}
