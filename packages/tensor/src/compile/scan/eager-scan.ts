import type { NamedArrays, NDArray } from '@coplay/core';
import { isAccepted } from '../checks';
import { eagerExecutor } from '../eager';
import type { Executor, StepSetup } from '../executor';
import { joinMembers } from '../stacked/join';
import type { Tree } from '../tree';
import { inputsOfStep, stepCount } from './scan-inputs';

/** Runs a step function S times, one after the other; a state that is refused in the end is undone. */
export function eagerScan(setup: StepSetup): Executor {
  const where = `compiled function ${setup.name}`;
  const machine = eagerExecutor({ ...setup, acceptState: () => true });
  const stores = Object.values(setup.state);
  return {
    async run(inputs, statics) {
      const before = await Promise.all(stores.map((store) => store.read()));
      const undo = () => stores.forEach((store, i) => void store.write(before[i]));
      const results: Tree<NDArray>[] = [];
      try {
        const steps = stepCount(where, inputs);
        for (let step = 0; step < steps; step++) results.push(await machine.run(inputsOfStep(inputs, step), statics));
      } catch (error) {
        undo();
        throw error;
      }
      const outputs = joinMembers(results);
      if (!isAccepted(setup.acceptState(outputs as NamedArrays))) undo();
      return outputs;
    },
    dispose: () => machine.dispose(),
  };
}
