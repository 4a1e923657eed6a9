import {
  adam,
  type Compiled,
  compile,
  compileScan,
  compileScanEach,
  compileTogether,
  stackVariables,
} from '@coplay/tensor';
import { areFinite } from '../training/finite-steps';
import { Network } from '../training/network';
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
export type HopNetwork = Network<'params' | 'slots', HopFunctions>;

/** A network without parameters as yet. */
export function hopNetwork(setup: HopSetup, name: string): HopNetwork {
  const { net, executor } = setup;
  return new Network({
    name: `HOP (${name})`,
    init: (generator) => {
      const params = net.init(generator);
      return { params, slots: optimiserOf(setup).init(params) };
    },
    slots: ['slots'],
    functions: (state) => ({
      act: compile(hopAct(net), { name: 'hop/act', state: { params: state.params }, executor }),
      update: compileScan(updateOf(setup), { name: 'hop/update', state, executor, acceptState: areFinite }),
    }),
  });
}

function optimiserOf({ options }: HopSetup) {
  return adam(options.clipNorm === false ? {} : { clipNorm: options.clipNorm });
}

function updateOf(setup: HopSetup) {
  return hopUpdate(setup.net, optimiserOf(setup), setup.options.valueWeight);
}

/**
 * Gives networks of one kind functions that run in one graph, so that a simulation of all their searches asks one
 * graph.
 */
export function joinNetworks(setup: HopSetup, networks: readonly HopNetwork[]): void {
  const { net, executor } = setup;
  const params = stackVariables(networks.map(({ groups }) => groups.params));
  const acts = compileTogether(hopAct(net), { name: 'hop/act', state: { params }, executor });
  const updates = compileScanEach<'params' | 'slots', HopUpdateInputs>(updateOf(setup), {
    name: 'hop/update',
    states: networks.map(({ groups }) => groups),
    executor,
    acceptState: areFinite,
  });
  networks.forEach((network, i) => {
    network.replace({ act: acts[i], update: updates[i] });
  });
}

/**
 * Setups with the same text have the same graphs. Undefined for one whose operations run one by one, and where a
 * network of the user's own is in it or in its models: two of the same name may build different ones.
 */
export function kindOf({ config, ids, executor }: HopSetup): string | undefined {
  if (executor === 'eager' || JSON.stringify(config).includes('"layers-model"')) return undefined;
  return JSON.stringify([config, ids.length]);
}
