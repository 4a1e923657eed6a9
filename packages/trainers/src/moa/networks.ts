import { type AgentId, createGenerator, fail, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import type { MoaNet } from '@coplay/models';
import {
  adam,
  type Compiled,
  compileScanEach,
  compileTogether,
  type ExecutorChoice,
  stackVariables,
  type Variables,
  variables,
} from '@coplay/tensor';
import { areFinite } from '../training/finite-steps';
import { checkSavedArrays } from '../training/saved-arrays';
import { type MoaPredictInputs, type MoaUpdateInputs, moaAct, moaPredict, moaUpdate } from './step';

/** The functions of one member. */
export interface MoaFunctions {
  readonly act: Compiled;
  readonly predict: Compiled<MoaPredictInputs>;
  readonly update: Compiled<MoaUpdateInputs>;
}

/** One network and its optimiser's memory. */
export interface MoaMember {
  readonly params: Variables;
  readonly slots: Variables;
  readonly functions: MoaFunctions;
  /** Acts by another function over the same parameters, and disposes of the one before; see `stackMoas`. */
  actBy(act: Compiled): void;
}

/** What networks are made with. */
export interface MoaNetworkSetup {
  readonly net: MoaNet;
  /** A name for each network, for messages: the co-player's id, or `all`. */
  readonly names: readonly AgentId[];
  readonly clipNorm: number | false;
  readonly executor: ExecutorChoice;
}

/**
 * The networks of one observer. What several of them are asked in the same turn runs in one graph; they share that of
 * their updates.
 */
export interface MoaNetworks {
  readonly members: readonly MoaMember[];
  state(): Promise<SavedState>;
  dispose(): void;
}

/** Fresh networks. */
export function freshMoaNetworks(setup: MoaNetworkSetup, generator: Generator): MoaNetworks {
  const optimiser = optimiserOf(setup);
  return buildNetworks(
    setup,
    setup.names.map(() => {
      const params = setup.net.init(generator.fork());
      return { params, slots: optimiser.init(params) };
    }),
  );
}

/**
 * Networks as they were saved.
 *
 * @param where  what restores them, for messages
 * @throws CoplayError if they belong to other models
 */
export function savedMoaNetworks(where: string, setup: MoaNetworkSetup, saved: SavedState): MoaNetworks {
  const params = setup.net.init(createGenerator(0));
  const slots = optimiserOf(setup).init(params);
  const states = setup.names.map((name) => {
    const state = saved[name] as unknown as Record<'params' | 'slots', NamedArrays> | undefined;
    const path = `saved.networks.${name}`;
    if (!state) fail(`${where}: ${path}`, `a network for ${name}`, Object.keys(saved).join(', ') || 'none', REMEDY);
    checkSavedArrays(where, `${path}.params`, params, state.params);
    checkSavedArrays(where, `${path}.slots`, slots, state.slots);
    return state;
  });
  return buildNetworks(setup, states);
}

const REMEDY = 'Make the models with the game and options that they were saved with.';

function optimiserOf({ clipNorm }: MoaNetworkSetup) {
  return adam(clipNorm === false ? {} : { clipNorm });
}

function buildNetworks(
  setup: MoaNetworkSetup,
  states: readonly Record<'params' | 'slots', NamedArrays>[],
): MoaNetworks {
  const live = states.map(({ params, slots }) => ({ params: variables(params), slots: variables(slots) }));
  const functions = live.length === 0 ? [] : compiled(setup, live);
  const members = live.map((own, i) => memberOf(own, functions[i]));
  return {
    members,
    async state() {
      const saved = live.map(async ({ params, slots }, i) => {
        return [setup.names[i], { params: await params.read(), slots: await slots.read() }] as const;
      });
      return Object.fromEntries(await Promise.all(saved));
    },
    dispose() {
      for (const member of members) {
        for (const part of Object.values(member.functions)) part.dispose();
        member.params.dispose();
        member.slots.dispose();
      }
    },
  };
}

function memberOf(own: Record<'params' | 'slots', Variables>, first: MoaFunctions): MoaMember {
  let functions = first;
  return {
    ...own,
    get functions() {
      return functions;
    },
    actBy(act) {
      functions.act.dispose();
      functions = { ...functions, act };
    },
  };
}

function compiled(setup: MoaNetworkSetup, live: readonly Record<'params' | 'slots', Variables>[]): MoaFunctions[] {
  const { net, executor } = setup;
  const params = stackVariables(live.map((member) => member.params));
  const acts = compileTogether(moaAct(net), { name: 'moa/act', state: { params }, executor });
  const predicts = compileTogether<'params', MoaPredictInputs>(moaPredict(net), {
    name: 'moa/predict',
    state: { params },
    executor,
  });
  // Large batches: one graph for all networks, each run by itself, works on arrays that fit into the processor's
  // caches.
  const updates = compileScanEach<'params' | 'slots', MoaUpdateInputs>(moaUpdate(net, optimiserOf(setup)), {
    name: 'moa/update',
    states: live,
    executor,
    acceptState: areFinite,
  });
  return live.map((_, i) => ({ act: acts[i], predict: predicts[i], update: updates[i] }));
}
