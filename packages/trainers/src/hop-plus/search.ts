/*
 * The tree search of HOP+: a search as in HOP (Huang et al., ICML 2024) over the agent's own actions, with PPO's actor
 * as its prior and PPO's critic as its value. Co-players act by the models of them (MOA), under goals that each tree
 * draws from the beliefs. Shapes: E environments, T steps, A agents, B rows, R rows that are searched, K actions, G
 * goals.
 */
import {
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AgentStep,
  type ArrayOf,
  type DType,
  type Generator,
  type NamedArrays,
  type NDArray,
  ndarray,
  type SavedState,
} from '@coplay/core';
import { sharedAmongCopies } from '@coplay/core/checks';
import { mapColumns, nonZero, takeRows } from '@coplay/core/rows';
import {
  type CoPlayerRows,
  createSearch,
  type FocalAnswer,
  type GoalBeliefs,
  type LeafRows,
  type TreeSearch,
} from '@coplay/planning';
import type { LearningAgent } from '../training';
import { anneal } from '../training/annealed';
import { chooseActions } from '../training/choose-actions';
import { goalBeliefs } from '../training/goal-beliefs';
import { coPlayerQuery, type SeatPrediction, type StateViews, stateViewer } from '../training/search-queries';
import { believedGame, type RowSearch, type SearchedStep, SearchView, visitsOf } from '../training/search-view';
import { nothingKnown } from './co-players';
import { GoalPriors } from './goal-priors';
import type { HopPlusLearner } from './learner';
import { HopPlusPolicyAgent, readByPolicy } from './policy';
import { putPlayed, searchExtras } from './search-data';
import { modelOf, type ResolvedTreeSearch } from './search-options';
import type { HopPlusSetup } from './setup';

/** The extra with the beliefs about co-players' goals. */
const BELIEFS = 'beliefs';

/** The state of an agent that searches, from step to step. */
export type SearchingState = SearchedStep & {
  /** The policy's own: the memory of the inference of subgoals. */
  readonly memory: Float32Array;
};

/**
 * Acts as the policy does, with a tree search in each step, once the world model is accurate enough: the agent plays
 * the search's policy, or the experience keeps it as a target of the policy.
 */
export class HopPlusSearchAgent implements LearningAgent<SearchingState> {
  readonly name = 'HOP+';
  private readonly policy: HopPlusPolicyAgent<HopPlusLearner>;
  private readonly settings: ResolvedTreeSearch;
  /** Inputs of the policy, where it reads them. */
  private readonly priors: GoalPriors | undefined;
  private readonly search: TreeSearch;
  private readonly queries: ReturnType<typeof searchQueries>;
  private readonly view: SearchView;
  /** Behind the last answer. */
  private lastSearch: RowSearch | undefined;

  constructor(
    readonly id: AgentId,
    readonly learner: HopPlusLearner,
  ) {
    const { setup } = learner;
    this.priors = setup.priorSize > 0 ? new GoalPriors(setup.game, id, setup.goalDiscount) : undefined;
    this.policy = new HopPlusPolicyAgent(id, learner, this.priors && ((input) => this.priors!.read(input)));
    this.settings = setup.treeSearch as ResolvedTreeSearch;
    const { game, worldModel } = setup;
    const seat = game.agents.indexOf(id);
    this.search = searchOf(setup);
    this.queries = searchQueries(learner, seat);
    this.view = new SearchView({
      ...{ name: `HOP+ (${id})`, game, model: modelOf(worldModel), seat, beliefs: beliefsOf(setup, id) },
      ...{ intra: this.settings.intraOM, coPlayers: this.queries.coPlayers },
    });
  }

  initialState(rows: number): SearchingState {
    const seen = this.view.initialState(rows);
    return { memory: this.policy.initialState(rows), ...seen };
  }

  async act(input: AgentInput, state: SearchingState, generator: Generator): Promise<AgentOutput<SearchingState>> {
    const { view } = this;
    view.checkCall(input, state, generator);
    const { game } = this.learner.setup;
    const { rows } = input;
    const decided = await this.policy.decide(input, state.memory);
    const { states, believed } = view.see(input, state);
    const beliefs = await view.believe(input, believed, state);
    const chosen = chooseActions(decided.logProbs, rows, game.actions, generator);
    const found = await this.plan(input, states, beliefs, decided.extras, generator);
    this.lastSearch = found;
    if (found && this.settings.plays === 'search') putPlayed(found, game.actions, chosen);
    return {
      actions: chosen.actions,
      state: { memory: decided.state, states, previousActions: input.previousActions.slice() },
      extras: {
        logProbs: ndarray(chosen.logProbs),
        ...decided.extras,
        ...searchExtras(found, rows, game.actions, decided.logProbs),
        ...(beliefs && { [BELIEFS]: ndarray(Float32Array.from(beliefs), [rows, beliefs.length / rows]) }),
      },
    };
  }

  /** The policy's probabilities and values, and the visits of the last search; its policy is in the answer already. */
  async insight(input: AgentInput, state: SearchingState, output: AgentOutput<SearchingState>): Promise<NamedArrays> {
    const seen = await this.policy.insight(input, state.memory, { ...output, state: output.state.memory });
    return { ...seen, visits: visitsOf(this.lastSearch, input.rows, this.learner.setup.game.actions) };
  }

  observe(step: AgentStep): void {
    this.view.observe(step);
    this.priors?.observe(step);
  }

  save(): SavedState {
    return { ...this.view.save(), ...(this.priors && { goalPriors: this.priors.state() }) };
  }

  restore(saved: SavedState): void {
    const { view, priors } = this;
    const before = priors?.state();
    priors?.restore(saved['goalPriors'] as SavedState);
    try {
      view.restore(saved);
    } catch (error) {
      priors?.restore(before!);
      throw error;
    }
  }

  /** The search from all rows in which the agent plays; undefined where there is none, or the world model is poor. */
  private async plan(
    input: AgentInput,
    states: ArrayOf<DType>,
    beliefs: Float64Array | undefined,
    inferred: NamedArrays,
    generator: Generator,
  ): Promise<RowSearch | undefined> {
    const { learner, search, settings } = this;
    const rows = nonZero(input.active);
    if (rows.length === 0 || !learner.isReadyToSearch) return undefined;
    const uniformGoals = anneal(settings.uniformGoals, learner.progress);
    const roots = this.view.roots(input, states, beliefs, rows, uniformGoals, generator);
    const atRoots = mapColumns(readByPolicy(inferred), ({ data, shape }) => {
      return ndarray(takeRows(data as Float32Array, rows, shape[1]), [rows.length, shape[1]]);
    });
    search.forget(); // parameters, and the subgoals at a root of the same number, are others
    const { focal, coPlayers } = this.queries;
    const result = await search.search(roots, { focal: (leaves) => focal(leaves, atRoots), coPlayers });
    return { rows, result };
  }
}

sharedAmongCopies(HopPlusSearchAgent, '@coplay/trainers/HopPlusSearchAgent@0.1');

/** A search for an agent of this setup. */
function searchOf({ treeSearch, worldModel, imagined }: HopPlusSetup): TreeSearch {
  const { search } = treeSearch as ResolvedTreeSearch;
  if (typeof worldModel !== 'object') return createSearch(search); // which has a way of its own for the rules
  return createSearch({ ...search, simulator: worldModel.simulator({ sample: imagined ? imagined.sample : true }) });
}

/** An agent's beliefs about its co-players; undefined where the models of them know no goals. */
function beliefsOf(
  { game, treeSearch, worldModel, coPlayerModels }: HopPlusSetup,
  id: AgentId,
): GoalBeliefs | undefined {
  const { moa } = coPlayerModels.get(game.agents.indexOf(id)) ?? {};
  if (!moa || moa.goals === 0) return undefined;
  const { interOM, intraOM } = treeSearch as ResolvedTreeSearch;
  const goalDiscount = moa.config['goalDiscount'] as number | undefined;
  const believed = believedGame(game, modelOf(worldModel));
  const where = `HOP+ (${id}): option treeSearch.interOM`;
  return goalBeliefs(where, believed, id, { inter: interOM, intra: intraOM, goalDiscount });
}

/**
 * The networks of one agent, as its search and its beliefs call them: PPO's actor and critic, and the models of
 * co-players; without any, copies of the policy that see no subgoals.
 */
function searchQueries(learner: HopPlusLearner, seat: number) {
  const { ppo, setup } = learner;
  const { game } = (setup.treeSearch as ResolvedTreeSearch).search; // whose states the search plans in
  const { moa, omg } = learner.coPlayerModelsOf(seat);
  const size = omg?.subgoalSize ?? 0;
  const view = stateViewer(game);

  /** @param atRoots  [R, size] each, subgoals and priors as they are at the roots: a search holds them fixed */
  const focal = async (rows: LeafRows, atRoots: NamedArrays): Promise<FocalAnswer> => {
    const input = asInput(view(rows));
    const extras = mapColumns(atRoots, (column) => rowsOfRoots(rows, column as NDArray<Float32Array>, input.rows));
    const { policy: logProbs, values } = await ppo.policyAndValues(input, seat, extras);
    return { logits: logProbs, values };
  };

  const copy: SeatPrediction = async (other, views) => {
    const none = nothingKnown(setup, size, views.rows);
    return (await ppo.policy.act(asInput(views), other, new Float32Array(0), none)).policy;
  };
  const model: SeatPrediction = (other, views, goals) => moa!.predict(game.agents[other], views, goals);
  // One network that doesn't read the co-player's id predicts all of them in one call.
  const isShared = moa?.config['share'] === true && moa.config['previousActions'] !== true;
  const sharedBy = isShared ? (seat + 1) % game.agents.length : undefined;
  const coPlayers: (rows: CoPlayerRows) => Promise<Float32Array> = coPlayerQuery(game, moa ? model : copy, sharedBy);

  return { focal, coPlayers };
}

function asInput(views: StateViews): AgentInput {
  const { rows } = views;
  return { ...views, active: new Uint8Array(rows).fill(1), isFirst: new Uint8Array(rows) };
}

/** [n, size] the numbers of each row's root; zeros in rows that only fill up. */
function rowsOfRoots(rows: LeafRows, { data, shape }: NDArray<Float32Array>, count: number): NDArray {
  const own = new Float32Array(count * shape[1]);
  own.set(takeRows(data, rows.roots!.subarray(0, rows.rows), shape[1]));
  return ndarray(own, [count, shape[1]]);
}
