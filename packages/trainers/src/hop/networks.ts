import { createGenerator, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import {
  adam,
  type Compiled,
  compile,
  compileScan,
  compileScanEach,
  compileTogether,
  type StepFunction,
  stackVariables,
  type Variables,
  variables,
} from '@coplay/tensor';
import { areFinite } from '../training/finite-steps';
import { checkSavedArrays } from '../training/saved-arrays';
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
  /** Replaces the functions by others over the same parameters, and disposes of those before; see {@link joinNetworks}. */
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
  checkSavedArrays(where, 'saved.params', expected, params);
  checkSavedArrays(where, 'saved.slots', optimiserOf(setup).init(expected), slots);
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
function updateOf(setup: HopSetup): StepFunction<'params' | 'slots', HopUpdateInputs> {
  return hopUpdate(setup.net, optimiserOf(setup), setup.options.valueWeight);
}

/** Gives networks of one kind functions that run in one graph, so that a simulation of all their searches asks one graph. */
export function joinNetworks(setup: HopSetup, networks: readonly HopNetworks[]): void {
  const { net, executor } = setup;
  const params = stackVariables(networks.map((member) => member.params));
  const acts = compileTogether(hopAct(net), { name: 'hop/act', state: { params }, executor });
  const updates = compileScanEach<'params' | 'slots', HopUpdateInputs>(updateOf(setup), {
    name: 'hop/update',
    states: networks.map(({ params: own, slots }) => ({ params: own, slots })),
    executor,
    acceptState: areFinite,
  });
  networks.forEach((member, i) => {
    member.use({ act: acts[i], update: updates[i] });
  });
}

/**
 * Setups with the same text have the same graphs. Undefined for one whose operations run one by one, and where a network of the user's own
 * is in it or in its models: two of the same name may build different ones.
 */
export function kindOf({ config, ids, executor }: HopSetup): string | undefined {
  if (executor === 'eager' || JSON.stringify(config).includes('"layers-model"')) return undefined;
  return JSON.stringify([config, ids.length]);
}
