import {
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AgentStep,
  type ArrayOf,
  checkOptions,
  type DType,
  fail,
  type Game,
  type Generator,
  type NamedArrays,
  ndarray,
  type SavedState,
  show,
} from '@coplay/core';
import { checkRecord, sharedAmongCopies } from '@coplay/core/checks';
import { nonZero, takeRows } from '@coplay/core/rows';
import type { GoalBeliefs, SearchResult, TreeSearch } from '@coplay/planning';
import { z } from 'zod';
import type { LearningAgent } from '../training';
import { anneal } from '../training/annealed';
import { type InterOM, interOMSchema } from '../training/goal-beliefs';
import { type RowSearch, type SearchedStep, SearchView, visitsOf } from '../training/search-view';
import { BELIEFS, readBeliefs, SEARCH_POLICY, SEARCH_VALUES } from './data';
import { HopLearner } from './learner';
import { checkSearchOptions, type HopOptions, type HopSearchOptions, type SharedHopOptions } from './options';
import { type NetworkQueries, networkQueries } from './queries';
import { beliefsOf, checkBudget, type HopSetup, hopSetup, searchOf } from './setup';

/** The state of a HOP agent from step to step. */
export type HopState = SearchedStep;

/** An agent that plans, and infers the goals of its co-players. */
export interface HopPlayer extends Agent<HopState> {
  /** Its beliefs about its co-players; undefined for direct-OM. */
  readonly beliefs: GoalBeliefs | undefined;
  /** Its tree search, with counters. */
  readonly search: TreeSearch;
  /** The search results behind its last answer, for inspection; undefined before the first. */
  readonly lastSearch: RowSearch | undefined;
}

/** One that learns from its search results. */
export interface HopAgent extends HopPlayer, LearningAgent<HopState> {
  readonly learner: HopLearner;
}

/**
 * HOP (Huang et al., ICML 2024): an agent that infers each co-player's goal from its actions in this episode (intra-OM)
 * and in earlier ones (inter-OM), plans by tree search against goal-conditioned models of the co-players, and learns
 * from the search results.
 *
 * @throws CoplayError for unknown options, an id that the game doesn't have, and games whose state agents don't see
 */
export function hopAgent(given: HopOptions): HopAgent {
  checkRecord('hopAgent', 'options', given);
  const { id, ...options } = given;
  return new LearningHopActor(id, new HopLearner(hopSetup('hopAgent', [id], options)));
}

/** Agents that share policy, value and world model; each has its own models of the others, and beliefs about them. */
export function sharedHopAgents(given: SharedHopOptions): HopAgent[] {
  checkRecord('sharedHopAgents', 'options', given);
  const { ids, ...options } = given;
  const sharing = ids ?? options.game?.agents ?? [];
  const learner = new HopLearner(hopSetup('sharedHopAgents', sharing, options));
  return sharing.map((id) => new LearningHopActor(id, learner));
}

/** Options of {@link planner}. */
export type PlannerOptions = HopSearchOptions & {
  /** The seat to play in: one of those whose co-players the learner models. Default: the agent's own */
  readonly id?: AgentId;
  /** The memory of goals between episodes, as in {@link HopOptions}. Default: as the agent's */
  readonly interOM?: InterOM;
  /** Whether Bayes' rule updates beliefs within an episode. Default: as for the agent */
  readonly intraOM?: boolean;
};

/**
 * A trained agent with another budget, or with other beliefs: it plays with the agent's present networks but doesn't
 * learn. It begins with a copy of the agent's beliefs, or with none where `interOM` differs. Options that aren't given
 * are the agent's own, except that there's no noise at the root.
 *
 * @throws CoplayError for unknown options, and agents of another kind
 */
export function planner(agent: HopAgent, options: PlannerOptions = {}): HopPlayer {
  if (!(agent instanceof LearningHopActor)) {
    // What withInsight returns has the name of the agent inside.
    const remedy =
      (agent as Agent | undefined)?.name === 'HOP'
        ? 'Plan first, then add insight: withInsight(planner(agent)).'
        : 'Give one of those first, then the options; other agents have no search, and play as they are.';
    fail('planner', 'an agent of hopAgent or sharedHopAgents', agent?.name ?? show(agent), remedy);
  }
  const { id, interOM, intraOM, search } = plannerOptions(agent, options);
  const { setup } = agent.learner;
  const beliefs = { ...setup.beliefs, where: 'planner', inter: interOM, intra: intraOM };
  const budget = { ...setup.search, rootNoise: false as const, ...search };
  checkBudget('planner', setup, budget);
  const own = new PlanningHopActor(id, agent.learner, budget, () => 0, beliefs);
  if (id === agent.id && interOM === setup.beliefs.inter) own.restore(agent.save());
  return own;
}

function plannerOptions({ id: ownId, learner }: HopAgent, options: PlannerOptions) {
  const { inter, intra } = learner.setup.beliefs;
  checkRecord('planner', 'options', options);
  const { id = ownId, interOM = inter, intraOM = intra, ...others } = options;
  checkSearchOptions('planner', others, ['id', 'interOM', 'intraOM']);
  // Left out and undefined are the same.
  const search: HopSearchOptions = Object.fromEntries(
    Object.entries(others).filter(([, value]) => value !== undefined),
  );
  const schema = z.strictObject({
    id: z.enum([...learner.ids] as [string]),
    interOM: interOMSchema,
    intraOM: z.boolean(),
  });
  return { ...checkOptions('planner', schema, { id, interOM, intraOM }), search };
}

/**
 * Acts by tree search. In each step it updates its beliefs from the co-players' actions, then searches from all rows at
 * once; each tree draws the co-players' goals from the beliefs.
 */
class HopActor {
  readonly beliefs: GoalBeliefs | undefined;
  readonly search: TreeSearch;
  /** Without simulations: used until the world model is accurate enough. */
  private readonly noSearch: TreeSearch;
  lastSearch: RowSearch | undefined;
  private readonly queries: NetworkQueries;
  private readonly view: SearchView;
  private version = -1;

  constructor(
    readonly id: AgentId,
    /** Its networks act. Not named `learner`, because a planner doesn't learn. */
    protected readonly hop: HopLearner,
    search: HopSearchOptions,
    /** Probability that a search replaces beliefs by the uniform distribution over open goals. */
    private readonly uniformGoals: () => number,
    kind: HopSetup['beliefs'] = hop.setup.beliefs,
  ) {
    const { setup } = hop;
    const { game, worldModel } = setup;
    const seat = game.agents.indexOf(id);
    this.beliefs = beliefsOf({ game, worldModel, beliefs: kind }, id);
    this.search = searchOf(setup, search);
    this.noSearch = searchOf(setup, { ...search, simulations: 0 });
    this.queries = networkQueries(hop, seat);
    const { coPlayers } = this.queries;
    const parts = { game, model: worldModel?.model, seat, beliefs: this.beliefs, intra: kind.intra, coPlayers };
    this.view = new SearchView({ name: `HOP (${id})`, ...parts });
  }

  initialState(rows: number): HopState {
    return this.view.initialState(rows);
  }

  async act(input: AgentInput, state: HopState, generator: Generator): Promise<AgentOutput<HopState>> {
    const { game } = this.hop.setup;
    const { view } = this;
    view.checkCall(input, state, generator);
    const { states, believed } = view.see(input, state);
    const beliefs = await view.believe(input, believed, state);
    const active = nonZero(input.active);
    const next = { states, previousActions: input.previousActions.slice() };
    const found = active.length > 0 ? await this.plan(input, states, beliefs, active, generator) : undefined;
    this.lastSearch = found && { rows: active, result: found };
    return { ...answer(game, input.rows, active, found, beliefs), state: next };
  }

  /** The results of the last search, and its visits; the beliefs are in the answers already. */
  insight({ rows }: AgentInput, _: HopState, { extras = {} }: AgentOutput<HopState>): NamedArrays {
    const { [SEARCH_POLICY]: policy, [SEARCH_VALUES]: values } = extras;
    return { policy, values, visits: visitsOf(this.lastSearch, rows, policy.shape[1]) };
  }

  observe(step: AgentStep): void {
    this.view.observe(step);
  }

  save(): SavedState {
    return this.view.save();
  }

  restore(saved: SavedState): void {
    this.view.restore(saved);
  }

  private plan(
    input: AgentInput,
    states: ArrayOf<DType>,
    beliefs: Float64Array | undefined,
    active: Int32Array,
    generator: Generator,
  ): Promise<SearchResult> {
    const { hop } = this;
    const { game, readsBeliefs } = hop.setup;
    const search = hop.isReadyToSearch ? this.search : this.noSearch;
    // Answers of before are those of other parameters, or of other beliefs at a root of the same number.
    if (this.version !== hop.version || readsBeliefs) for (const one of [this.search, this.noSearch]) one.forget();
    this.version = hop.version;
    const roots = this.view.roots(input, states, beliefs, active, this.uniformGoals(), generator);
    const { focal, coPlayers } = this.queries;
    if (!readsBeliefs || !beliefs) return search.search(roots, { focal: (rows) => focal(rows), coPlayers });
    const own = takeRows(beliefs, active, beliefs.length / input.rows);
    const read = readBeliefs(own, active.length, game.agents.indexOf(this.id), game);
    return search.search(roots, { focal: (rows) => focal(rows, read), coPlayers });
  }
}

sharedAmongCopies(HopActor, '@coplay/trainers/HopActor@0.1');

class LearningHopActor extends HopActor implements HopAgent {
  readonly name = 'HOP';
  readonly learner: HopLearner;

  constructor(id: AgentId, learner: HopLearner) {
    super(id, learner, learner.setup.search, () => anneal(learner.setup.uniformGoals, learner.progress));
    this.learner = learner;
    learner.watch(this.search);
  }
}

sharedAmongCopies(LearningHopActor, '@coplay/trainers/LearningHopActor@0.1');

class PlanningHopActor extends HopActor implements HopPlayer {
  readonly name = 'HOP (planner)';
}

/** The results for the rows in which the agent plays, at their places among all rows; zeros elsewhere. */
function answer(
  game: Game,
  rows: number,
  active: Int32Array,
  found: SearchResult | undefined,
  beliefs: Float64Array | undefined,
): { readonly actions: Int32Array; readonly extras: NamedArrays } {
  const K = game.actions;
  const actions = new Int32Array(rows);
  const policy = new Float32Array(rows * K);
  const values = new Float32Array(rows);
  if (found) {
    active.forEach((row, i) => {
      actions[row] = found.actions[i];
      values[row] = found.values[i];
      policy.set(found.policy.subarray(i * K, (i + 1) * K), row * K);
    });
  }
  const extras: NamedArrays = { [SEARCH_POLICY]: ndarray(policy, [rows, K]), [SEARCH_VALUES]: ndarray(values) };
  if (beliefs) extras[BELIEFS] = ndarray(Float32Array.from(beliefs), [rows, beliefs.length / rows]);
  return { actions, extras };
}
