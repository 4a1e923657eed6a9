import {
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AgentStep,
  type ArrayOf,
  allocate,
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
import { checkAgentStep, checkCount, checkRecord, checkTypedArray, sharedAmongCopies } from '@coplay/core/checks';
import { nonZero, takeRows } from '@coplay/core/rows';
import { type GoalBeliefs, type SearchResult, seenStates, type TreeSearch } from '@coplay/planning';
import { z } from 'zod';
import type { LearningAgent } from '../training';
import { anneal } from '../training/annealed';
import { checkAct } from '../training/check-calls';
import { replaceByUniform, stepLikelihoods } from '../training/goal-beliefs';
import { BELIEFS, SEARCH_POLICY, SEARCH_VALUES } from './data';
import { HopLearner } from './learner';
import {
  checkSearchOptions,
  type HopOptions,
  type HopSearchOptions,
  type InterOM,
  interOMSchema,
  type SharedHopOptions,
} from './options';
import { type NetworkQueries, networkQueries } from './queries';
import { beliefsOf, checkBudget, type HopSetup, hopSetup, searchOf } from './setup';

/** The state of a HOP agent from step to step. */
export type HopState = {
  /** [B, S] the states before the previous step */
  readonly states: ArrayOf<DType>;
  /** [B, A] the actions of all agents in the step before that */
  readonly previousActions: Int32Array;
};

/** An agent that plans, and infers the goals of its co-players. */
export interface HopPlayer extends Agent<HopState> {
  /** Its beliefs about its co-players; undefined for direct-OM. */
  readonly beliefs: GoalBeliefs | undefined;
  /** Its tree search, with counters. */
  readonly search: TreeSearch;
  /** The search results behind its last answer, for inspection; undefined before the first. */
  readonly lastSearch: RowSearch | undefined;
}

/** A search, and the rows of the batch that it was for. */
export interface RowSearch {
  /** [R] rows of the batch in which the agent played */
  readonly rows: Int32Array;
  readonly result: SearchResult;
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
  const beliefs = { ...setup.beliefs, inter: interOM, intra: intraOM };
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
  private readonly seat: number;
  private version = -1;

  constructor(
    readonly id: AgentId,
    /** Its networks act. Not named `learner`, because a planner doesn't learn. */
    protected readonly hop: HopLearner,
    search: HopSearchOptions,
    /** Probability that a search replaces beliefs by the uniform distribution over open goals. */
    private readonly uniformGoals: () => number,
    private readonly kind: HopSetup['beliefs'] = hop.setup.beliefs,
  ) {
    const { setup } = hop;
    this.seat = setup.game.agents.indexOf(id);
    this.beliefs = beliefsOf({ game: setup.game, beliefs: kind }, id);
    this.search = searchOf(setup, search);
    this.noSearch = searchOf(setup, { ...search, simulations: 0 });
    this.queries = networkQueries(hop, this.seat);
  }

  initialState(rows: number): HopState {
    const { stateType, stateSize, agents } = this.hop.setup.game;
    checkCount(`HOP (${this.id}).initialState`, 'rows', rows);
    return {
      states: allocate(stateType, rows * stateSize) as ArrayOf<DType>,
      previousActions: new Int32Array(rows * agents.length).fill(-1),
    };
  }

  async act(input: AgentInput, state: HopState, generator: Generator): Promise<AgentOutput<HopState>> {
    const { game } = this.hop.setup;
    this.checkCall(input, state, generator);
    const states = seenStates(game, input, this.seat);
    const beliefs = await this.believe(input, states, state);
    const active = nonZero(input.active);
    const next = { states, previousActions: input.previousActions.slice() };
    const found = active.length > 0 ? await this.plan(input, states, beliefs, active, generator) : undefined;
    this.lastSearch = found && { rows: active, result: found };
    return { ...answer(game, input.rows, active, found, beliefs), state: next };
  }

  /** The results of the last search, and its visits; the beliefs are in the answers already. */
  insight({ rows }: AgentInput, _: HopState, { extras = {} }: AgentOutput<HopState>): NamedArrays {
    const { [SEARCH_POLICY]: policy, [SEARCH_VALUES]: values } = extras;
    const K = policy.shape[1];
    const visits = new Int32Array(rows * K);
    this.lastSearch?.rows.forEach((row, i) => {
      visits.set(this.lastSearch!.result.visits.subarray(i * K, (i + 1) * K), row * K);
    });
    return { policy, values, visits: ndarray(visits, [rows, K]) };
  }

  observe(step: AgentStep): void {
    checkAgentStep(`HOP (${this.id}).observe`, this.hop.setup.game, step);
    this.beliefs?.observe(step);
  }

  save(): SavedState {
    return this.beliefs?.save() ?? {};
  }

  restore(saved: SavedState): void {
    this.beliefs?.restore(saved);
  }

  private checkCall(input: AgentInput, state: HopState, generator: Generator): void {
    const { game } = this.hop.setup;
    const where = `HOP (${this.id}).act`;
    checkAct(where, game, input, generator);
    checkRecord(where, 'state', state);
    checkTypedArray(where, 'state.states', state.states, game.stateType, input.rows * game.stateSize);
    const { length } = input.previousActions;
    checkTypedArray(where, 'state.previousActions', state.previousActions, 'int32', length);
  }

  /** [B, A, G], or undefined without goals. */
  private async believe(
    input: AgentInput,
    states: ArrayOf<DType>,
    before: HopState,
  ): Promise<Float64Array | undefined> {
    const { beliefs, seat } = this;
    if (!beliefs) return undefined;
    const { game } = this.hop.setup;
    const played = { ...before, actions: input.previousActions };
    const likelihoods = this.kind.intra
      ? await stepLikelihoods(game, seat, beliefs.goals, played, this.queries.coPlayers)
      : undefined;
    return beliefs.see(states, input.isFirst, likelihoods).slice();
  }

  private plan(
    input: AgentInput,
    states: ArrayOf<DType>,
    beliefs: Float64Array | undefined,
    active: Int32Array,
    generator: Generator,
  ): Promise<SearchResult> {
    const { hop, seat } = this;
    const { game, networkInputs } = hop.setup;
    const A = game.agents.length;
    const search = hop.isReadyToSearch ? this.search : this.noSearch;
    if (this.version !== hop.version) for (const one of [this.search, this.noSearch]) one.forget();
    this.version = hop.version;
    const own = generator.fork();
    const generators = Array.from(active, (row) => own.split(row));
    const supposed = beliefs && takeRows(beliefs, active, beliefs.length / input.rows);
    if (supposed) replaceByUniform(supposed, generators, this.beliefs!.goals, this.uniformGoals());
    return search.search(
      {
        rows: active.length,
        states: takeRows(states, active, game.stateSize),
        seats: new Int32Array(active.length).fill(seat),
        generator: generators,
        ...(supposed && { beliefs: supposed }),
        ...(networkInputs.previousActions && { previousActions: takeRows(input.previousActions, active, A) }),
      },
      this.queries,
    );
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
