import { ensureBackend } from '../backend';
import { eagerExecutor } from './eager';
import type { Executor, StepSetup } from './executor';
import { isUncompilable } from './onnx/errors';

/**
 * Runs a function as compiled as long as it can be, and eagerly from the first operation on that can't be compiled;
 * that is said once. Nothing has run by then, so nothing is done twice.
 */
export function withFallback(where: string, compiled: Executor, step: StepSetup): Executor {
  let present = compiled;
  return {
    ...compiled,
    async run(inputs, statics) {
      try {
        return await present.run(inputs, statics);
      } catch (error) {
        if (present !== compiled || !isUncompilable(error)) throw error;
        await compiled.dispose();
        await ensureBackend();
        present = eagerExecutor(step);
        console.warn(`${where} runs operation by operation, which is slower: it contains ${error.complaint.got}.`);
        return present.run(inputs, statics);
      }
    },
    dispose: () => present.dispose(),
  };
}
