import { createGenerator, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import {
  adam,
  type Compiled,
  compile,
  compileScan,
  compileScanEach,
  compileTogether,
  mergeRows,
  type StepFunction,
  stackVariables,
  type Variables,
  variables,
} from '@coplay/tensor';
import { areFinite } from '../training/finite-steps';
import { checkSavedArrays } from '../training/saved-arrays';
import { type Critic, createCritic, valueStep } from './critic';
import { actStep, createPolicy, type Policy } from './policy';
import type { PpoSetup } from './setup';
import { ppoStep, ppoUpdate, type UpdateInputs } from './step';

/** The three functions of tensors that PPO runs. */
export interface PpoFunctions {
  /** {@link actStep} */
  readonly act: Compiled;
  /** {@link valueStep} */
  readonly value: Compiled;
  /** {@link ppoUpdate}, S steps in a call; if the loss or gradient of one isn't finite, everything stays as it was. */
  readonly update: Compiled<UpdateInputs>;
}

/** Parameters and the functions over them. Acting and training see the same weights. */
export interface PpoNetworks {
  readonly params: Variables;
  readonly slots: Variables;
  readonly policy: Policy;
  readonly critic: Critic;
  readonly functions: PpoFunctions;
  /** Replaces the functions by others over the same parameters, and disposes of those before; see {@link joinNetworks}. */
  use(functions: PpoFunctions): void;
  dispose(): void;
}

/** Fresh parameters. */
export async function freshNetworks(setup: PpoSetup, generator: Generator): Promise<PpoNetworks> {
  const params = setup.net.init(generator);
  return buildNetworks(setup, params, optimiserOf(setup).init(params));
}

/**
 * Parameters and optimiser slots as they were saved.
 *
 * @throws CoplayError for those of another network
 */
export async function savedNetworks(setup: PpoSetup, saved: SavedState): Promise<PpoNetworks> {
  const params = saved['params'] as unknown as NamedArrays;
  const slots = saved['slots'] as unknown as NamedArrays;
  const where = `PPO (${setup.ids.join(', ')}): restore`;
  const expected = setup.net.init(createGenerator(0));
  checkSavedArrays(where, 'saved.params', expected, params);
  checkSavedArrays(where, 'saved.slots', optimiserOf(setup).init(expected), slots);
  return buildNetworks(setup, params, slots);
}

function optimiserOf({ options }: PpoSetup) {
  const clipping = options.clipNorm === false ? {} : { clipNorm: options.clipNorm };
  return adam({ epsilon: options.adamEpsilon, ...clipping });
}

async function buildNetworks(setup: PpoSetup, params: NamedArrays, slots: NamedArrays): Promise<PpoNetworks> {
  const { net, actorEncoder, criticEncoder } = setup;
  const live = { params: variables(params), slots: variables(slots) };
  let functions = ownFunctions(setup, live);
  return {
    ...live,
    policy: createPolicy({ net, encoder: actorEncoder, run: () => functions.act }),
    critic: createCritic({ net, encoder: criticEncoder, run: () => functions.value }),
    get functions() {
      return functions;
    },
    use: (others) => {
      disposeAll(functions);
      functions = others;
    },
    dispose: () => {
      disposeAll(functions);
      for (const part of Object.values(live)) part.dispose();
    },
  };
}

function disposeAll(functions: PpoFunctions): void {
  for (const part of Object.values(functions)) part.dispose();
}

/** Functions over one set of parameters. What several agents that share them ask in one turn is answered in one batch. */
function ownFunctions(setup: PpoSetup, state: Record<'params' | 'slots', Variables>): PpoFunctions {
  const { net, executor } = setup;
  const { params } = state;
  return {
    act: mergeRows(compile(actStep(net), { name: 'ppo/act', state: { params }, executor })),
    value: mergeRows(compile(valueStep(net), { name: 'ppo/value', state: { params }, executor })),
    update: compileScan(updateOf(setup), { name: 'ppo/update', state, executor, acceptState: areFinite }),
  };
}

/** The function of tensors that updates a learner's parameters. */
function updateOf(setup: PpoSetup): StepFunction<'params' | 'slots', UpdateInputs> {
  return ppoUpdate(ppoStep(setup.net, optimiserOf(setup), setup.options));
}

/** Gives networks of one kind functions that run in one graph: acting and valuing in one call, updates one after the other. */
export function joinNetworks(setup: PpoSetup, networks: readonly PpoNetworks[]): void {
  const { net, executor } = setup;
  const params = stackVariables(networks.map((member) => member.params));
  const acts = compileTogether(actStep(net), { name: 'ppo/act', state: { params }, executor });
  const values = compileTogether(valueStep(net), { name: 'ppo/value', state: { params }, executor });
  const updates = compileScanEach(updateOf(setup), {
    name: 'ppo/update',
    states: networks.map(({ params: own, slots }) => ({ params: own, slots })),
    executor,
    acceptState: areFinite,
  });
  networks.forEach((member, i) => {
    member.use({ act: acts[i], value: values[i], update: updates[i] });
  });
}

/** Setups with the same text have the same graphs; undefined for one whose operations run one by one. */
export function kindOf({ config, net, ids, networks, executor }: PpoSetup): string | undefined {
  if (executor === 'eager') return undefined;
  const builders = [networks.network, networks.criticNetwork].map(idOf);
  return JSON.stringify([config, net.stateSize, net.actions, ids.length, builders]);
}

const builderIds = new WeakMap<object, number>();
let builderCount = 0;

/** A number for each builder of a network that isn't ours: two of the same name may build different ones. */
function idOf(builder: { readonly config: Readonly<Record<string, unknown>> } | undefined): number {
  if (builder?.config['kind'] !== 'layers-model') return 0;
  if (!builderIds.has(builder)) builderIds.set(builder, ++builderCount);
  return builderIds.get(builder)!;
}
