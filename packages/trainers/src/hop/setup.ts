import { type AgentId, checkGame, checkOptions, fail, type Game, rulesSimulator, type Simulator } from '@coplay/core';
import { canCentre, type InputEncoder, inputEncoder, mlp, type TorsoBuilder, torsoBuilderId } from '@coplay/models';
import { createSearch, type GoalBeliefs, resolveSearch, type SearchOptions, type TreeSearch } from '@coplay/planning';
import {
  adam,
  type Compiled,
  compile,
  compileScan,
  compileScanEach,
  compileTogether,
  type ExecutorChoice,
  stackVariables,
} from '@coplay/tensor';
import { createMoa, type MoaLearner, moaDefaults } from '../moa';
import type { Annealed } from '../training/annealed';
import { refuseStore } from '../training/check-calls';
import { areFinite } from '../training/finite-steps';
import { checkGoalsSeen, describeMemory, type GoalBeliefOptions, goalBeliefs } from '../training/goal-beliefs';
import { checkIds } from '../training/ids';
import { Network } from '../training/network';
import { checkOwnGoals, ownViewMoa } from '../training/own-view';
import { believedGame, checkSearched, searchedGame } from '../training/search-view';
import { checkModelOptions, createWorldModel, type WorldModelLearner } from '../world-model';
import { type HopUpdateInputs, hopForward, hopUpdate } from './algorithm';
import { BELIEFS, beliefSize } from './data';
import { type PolicyValueNet, policyValueNet } from './net';
import {
  type HopOptions,
  type HopSearchOptions,
  hopOptionsSchema,
  type ResolvedHopNumbers,
  resolveHopNumbers,
} from './options';
import { type RankedReward, rankedReward, rankedSimulator } from './ranked-reward';

/** Everything that's fixed before the first parameter is drawn. */
export interface HopSetup {
  readonly game: Game;
  /** The game whose states the search plans in. */
  readonly searched: Game;
  readonly ids: readonly AgentId[];
  readonly options: ResolvedHopNumbers;
  readonly search: HopSearchOptions;
  readonly net: PolicyValueNet;
  /** Builds the body of `net`. */
  readonly network: TorsoBuilder;
  /** Builds the networks of `coPlayerModels`; undefined for their default. */
  readonly modelNetwork: TorsoBuilder | undefined;
  readonly encoder: InputEncoder;
  /** Models of co-players, by the observer's seat. */
  readonly coPlayerModels: ReadonlyMap<number, MoaLearner>;
  /** Whether the network and the models of co-players read the previous actions of all agents. */
  readonly networkInputs: { readonly previousActions: boolean; readonly root: boolean };
  /** Whether policy and value read the agent's beliefs. */
  readonly readsBeliefs: boolean;
  /** One network for all co-players of an observer. */
  readonly isShared: boolean;
  readonly worldModel: WorldModelLearner | undefined;
  readonly minAccuracy: number;
  /** Probability that a search replaces beliefs by the uniform distribution over open goals. */
  readonly uniformGoals: Annealed;
  readonly ranks: RankedReward | undefined;
  readonly beliefs: GoalBeliefOptions & { readonly hasGoals: boolean; readonly where: string };
  readonly executor: ExecutorChoice;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The accuracy that a search waits for with a model of observations; see HOP+. */
const OBSERVED_ACCURACY = 0.8;

/** Checks options and makes networks and models. Nothing here is random or touches a tensor. */
export function hopSetup(where: string, ids: readonly AgentId[], given: Omit<HopOptions, 'id'>): HopSetup {
  const { game } = given;
  checkModelOptions(`${where}: option simulator`, given.simulator);
  const checked = checkOptions(where, hopOptionsSchema, given);
  checkGame(`${where}: option game`, game);
  checkIds(where, game, ids);
  checkModels(where, checked.moa);
  checkInputs(where, checked.inputs);
  const { interOM, intraOM, memories, beliefInputs, executor, uniformGoals } = checked;
  const search = checked.search as HopSearchOptions;
  const inputs = checked.inputs as NonNullable<HopOptions['inputs']>;
  const network = given.network ?? mlp();
  const centred = checked.centred ?? canCentre(game);
  const goals = checked.goals ?? (game.goals ? 'hindsight' : 'none');
  if (beliefInputs && goals === 'none') {
    fail(`${where}: option beliefInputs`, "an agent with beliefs: goals: 'hindsight'", 'none', 'Leave it out.');
  }
  const extras = beliefInputs ? { [BELIEFS]: beliefSize(game) } : undefined;
  const encoder = inputEncoder(game, { ...inputs, centred, ...(extras && { extras }) });
  const worldModel =
    typeof given.simulator === 'object' ? createWorldModel({ ...given.simulator, game, executor }) : undefined;
  const model = worldModel?.model;
  checkSearched(`${where}: option game`, game, model, 'Search only where agents see all of the state', 'simulator');
  if (model?.ownView && goals === 'hindsight') checkOwnGoals(`${where}: option goals`, game, "Give goals: 'none'.");
  if (goals === 'hindsight') checkGoalsSeen(`${where}: option goals`, game, "Give goals: 'none'");
  const minAccuracy = checked.minAccuracy ?? (model?.source ? OBSERVED_ACCURACY : 0.9);
  const moa = { ...moaDefaults(game), ...(model?.ownView && ownViewMoa(game)), ...given.moa, goals, executor };
  const options = resolveHopNumbers(where, given.hop);
  const parts = {
    ...{ game, ids, options, search, encoder, network, worldModel, minAccuracy, uniformGoals, executor },
    searched: searchedGame(game, model),
    net: policyValueNet(encoder.shapes, game.actions, network),
    coPlayerModels: new Map(ids.map((id) => [game.agents.indexOf(id), createMoa({ ...moa, game, id })])),
    modelNetwork: given.moa?.network,
    networkInputs: {
      previousActions: Boolean(inputs.previousActions || given.moa?.previousActions),
      root: beliefInputs,
    },
    readsBeliefs: beliefInputs,
    isShared: moa.share && !given.moa?.previousActions,
    ranks: options.rankedReward ? rankedReward(options.rankedReward) : undefined,
    beliefs: {
      ...{ hasGoals: goals === 'hindsight', where, inter: interOM, intra: intraOM, memories },
      goalDiscount: given.moa?.goalDiscount,
    },
  };
  const numbers = { inputs, centred, interOM: describeMemory(interOM), intraOM, uniformGoals, minAccuracy };
  const config = {
    ...describe(where, parts),
    ...numbers,
    ...(beliefInputs && { beliefInputs }),
    ...(memories === 'perGame' && { memories }),
  };
  return { ...parts, config };
}

/** For run directories and checkpoints. */
function describe(where: string, parts: Omit<HopSetup, 'config'>): Readonly<Record<string, unknown>> {
  const { options, network, worldModel, coPlayerModels } = parts;
  const {
    game: _,
    simulator: __,
    unvisited,
    ...numbers
  } = resolveSearch(searchOptions(parts, parts.search), `${where}: option search`);
  // Left out where it's as ever, so that runs begun before there was a choice fit.
  const search = { ...numbers, ...(unvisited !== 'zero' && { unvisited }) };
  const [moa] = coPlayerModels.values();
  return {
    ...{ algorithm: 'hop', ...options, network: network.config, search },
    ...{ simulator: worldModel?.config ?? 'game', moa: moa.config },
  };
}

/** A search for an agent of this setup. */
export function searchOf(
  setup: Pick<HopSetup, 'game' | 'searched' | 'options' | 'networkInputs' | 'worldModel' | 'ranks'>,
  search: HopSearchOptions,
): TreeSearch {
  const { ranks } = setup;
  const simulator = simulatorOf(setup);
  return createSearch({
    ...searchOptions(setup, search),
    ...(simulator && { simulator: ranks ? rankedSimulator(simulator, ranks) : simulator }),
  });
}

/** Refuses a search that {@link searchOf} can't make, in the name of `where`. */
export function checkBudget(
  where: string,
  setup: Pick<HopSetup, 'searched' | 'options' | 'networkInputs'>,
  search: HopSearchOptions,
): void {
  resolveSearch(searchOptions(setup, search), where);
}

/** All but the simulator. */
function searchOptions(
  { searched, options, networkInputs }: Pick<HopSetup, 'searched' | 'options' | 'networkInputs'>,
  search: HopSearchOptions,
): SearchOptions {
  const { gamma, truncation } = options;
  return { ...search, game: searched, gamma, truncation, networkInputs };
}

/** What plays the steps; undefined for the rules, for which a search has a way of its own. */
function simulatorOf({
  game,
  worldModel,
  ranks,
}: Pick<HopSetup, 'game' | 'worldModel' | 'ranks'>): Simulator | undefined {
  return worldModel?.simulator() ?? (ranks ? rulesSimulator(game) : undefined);
}

/** An agent's beliefs about its co-players; undefined without goals. */
export function beliefsOf(
  { game, worldModel, beliefs }: Pick<HopSetup, 'game' | 'worldModel' | 'beliefs'>,
  id: AgentId,
): GoalBeliefs | undefined {
  if (!beliefs.hasGoals) return undefined;
  return goalBeliefs(`${beliefs.where}: option interOM`, believedGame(game, worldModel?.model), id, beliefs);
}

/** The functions of tensors that HOP runs. */
export interface HopFunctions {
  /** {@link hopForward} */
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
      act: compile(hopForward(net), { name: 'hop/act', state: { params: state.params }, executor }),
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
 * Gives networks of one kind functions that run in one graph, so that a simulation of all their searches calls one
 * graph.
 */
export function joinNetworks(setup: HopSetup, networks: readonly HopNetwork[]): void {
  const { net, executor } = setup;
  const params = stackVariables(networks.map(({ groups }) => groups.params));
  const acts = compileTogether(hopForward(net), { name: 'hop/act', state: { params }, executor });
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
 * Setups with the same text have the same graphs, because the text has the numbers of the networks' builders. Undefined
 * for one whose operations run one by one.
 */
export function kindOf({ config, ids, executor, network, modelNetwork }: HopSetup): string | undefined {
  if (executor === 'eager') return undefined;
  const builders = [torsoBuilderId(network), modelNetwork ? torsoBuilderId(modelNetwork) : 0]; // its default is ours
  return JSON.stringify([{ ...config, interOM: undefined }, ids.length, builders]); // no graph depends on memories
}

function checkModels(where: string, moa: object): void {
  refuseStore(`${where}: option moa`, moa);
  if (!('recurrent' in moa)) return;
  const remedy = 'Leave recurrent out: a search asks about states, not about histories.';
  fail(`${where}: option moa`, 'models of the present step', 'recurrent', remedy);
}

function checkInputs(where: string, inputs: object): void {
  if (!('centred' in inputs)) return;
  const remedy = 'Give centred as an option of its own, next to inputs.';
  fail(`${where}: option inputs`, 'inputs of the network in addition to the observation', 'centred', remedy);
}
