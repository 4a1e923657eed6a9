import { createGenerator, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import {
  adam,
  type Compiled,
  compile,
  compileScan,
  type StepFunction,
  type Variables,
  variables,
} from '@coplay/tensor';
import { areFinite } from '../learner/finite-steps';
import { checkSavedArrays } from '../learner/saved-arrays';
import type { HopSetup } from './setup';
import { type HopUpdateInputs, hopAct, hopUpdate } from './step';

/** The functions of tensors that HOP runs. */
export interface HopFunctions {
  /** {@link hopAct} */
  readonly act: Compiled;
  /** {@link hopUpdate}, S steps in a call; if the loss or gradient of one isn't finite, everything stays as it was. */
  readonly update: Compiled<HopUpdateInputs>;
}

/** Parameters and the functions over them; the search and the training see the same weights. */
export interface HopNetworks {
  readonly params: Variables;
  readonly slots: Variables;
  readonly functions: HopFunctions;
  /** Replaces the functions by others over the same parameters, and disposes of those before; see `stackHopLearners`. */
  use(functions: HopFunctions): void;
  dispose(): void;
}

/** Fresh parameters. */
export function freshNetworks(setup: HopSetup, generator: Generator): HopNetworks {
  const params = setup.net.init(generator);
  return buildNetworks(setup, params, optimiserOf(setup).init(params));
}

/** Parameters and optimiser slots as they were saved. @throws CoplayError for those of another network */
export function savedNetworks(setup: HopSetup, saved: SavedState): HopNetworks {
  const [params, slots] = [saved['params'], saved['slots']] as unknown as NamedArrays[];
  const expected = setup.net.init(createGenerator(0));
  const where = `HOP (${setup.ids.join(', ')}): restore`;
  checkSavedArrays(where, expected, params);
  checkSavedArrays(where, optimiserOf(setup).init(expected), slots);
  return buildNetworks(setup, params, slots);
}

function optimiserOf({ options }: HopSetup) {
  return adam(options.clipNorm === false ? {} : { clipNorm: options.clipNorm });
}

function buildNetworks(setup: HopSetup, params: NamedArrays, slots: NamedArrays): HopNetworks {
  const { net, executor } = setup;
  const state = { params: variables(params), slots: variables(slots) };
  let functions: HopFunctions = {
    act: compile(hopAct(net), { name: 'hop/act', state: { params: state.params }, executor }),
    update: compileScan(updateOf(setup), { name: 'hop/update', state, executor, acceptState: areFinite }),
  };
  const disposeFunctions = () => {
    functions.act.dispose();
    functions.update.dispose();
  };
  return {
    ...state,
    get functions() {
      return functions;
    },
    use(others) {
      disposeFunctions();
      functions = others;
    },
    dispose() {
      disposeFunctions();
      state.params.dispose();
      state.slots.dispose();
    },
  };
}

/** The function of tensors that updates a learner's parameters. */
export function updateOf(setup: HopSetup): StepFunction<'params' | 'slots', HopUpdateInputs> {
  return hopUpdate(setup.net, optimiserOf(setup), setup.options.valueWeight);
}
