import {
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AgentStep,
  type ArrayOf,
  allocate,
  checkAgentStep,
  checkCount,
  checkRecord,
  checkTypedArray,
  type DType,
  type Game,
  type Generator,
  type NamedArrays,
  ndarray,
  type SavedState,
  sharedAmongCopies,
} from '@coplay/core';
import { nonZero, takeRows } from '@coplay/core/rows';
import { type GoalBeliefs, type SearchResult, seenStates, type TreeSearch } from '@coplay/planning';
import type { LearningAgent } from '../training';
import { checkAct } from '../training/check-calls';
import type { HopLearner } from './learner';
import { stepLikelihoods } from './likelihoods';
import type { HopSearchOptions } from './options';
import { createQuestions, type Questions } from './questions';
import { BELIEFS, SEARCH_POLICY, SEARCH_VALUES } from './rows';
import { beliefsOf, type HopSetup, searchOf } from './setup';
import { makeUniform } from './uniform-goals';

/** The state of a HOP agent from step to step. */
export type HopState = {
  /** [B, S] the states seen in the step before */
  readonly states: ArrayOf<DType>;
  /** [B, A] what everyone had done before that one */
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
 * Acts by tree search: in each step beliefs are brought up to date with what co-players did, then all rows are searched
 * at once, with goals of co-players drawn from the beliefs for each tree.
 */
export class Planner {
  readonly beliefs: GoalBeliefs | undefined;
  readonly search: TreeSearch;
  /** Plans nothing: for as long as the world model isn't to be trusted. */
  private readonly noSearch: TreeSearch;
  lastSearch: RowSearch | undefined;
  private readonly questions: Questions;
  private readonly seat: number;
  private version = -1;

  constructor(
    readonly id: AgentId,
    readonly player: HopLearner,
    search: HopSearchOptions,
    /** Probability that a search replaces beliefs by the uniform distribution over open goals. */
    private readonly uniformGoals: () => number,
    private readonly kind: HopSetup['beliefs'] = player.setup.beliefs,
  ) {
    const { setup } = player;
    this.seat = setup.game.agents.indexOf(id);
    this.beliefs = beliefsOf({ game: setup.game, beliefs: kind }, id);
    this.search = searchOf(setup, search);
    this.noSearch = searchOf(setup, { ...search, simulations: 0 });
    this.questions = createQuestions(player, this.seat);
  }

  initialState(rows: number): HopState {
    const { stateType, stateSize, agents } = this.player.setup.game;
    checkCount(`HOP (${this.id}).initialState`, 'rows', rows);
    return {
      states: allocate(stateType, rows * stateSize) as ArrayOf<DType>,
      previousActions: new Int32Array(rows * agents.length).fill(-1),
    };
  }

  async act(input: AgentInput, state: HopState, generator: Generator): Promise<AgentOutput<HopState>> {
    const { game } = this.player.setup;
    this.checkCall(input, state, generator);
    const states = seenStates(game, input.observations, input.rows, this.seat);
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
    checkAgentStep(`HOP (${this.id}).observe`, this.player.setup.game, step);
    this.beliefs?.observe(step);
  }

  save(): SavedState {
    return this.beliefs?.save() ?? {};
  }

  restore(saved: SavedState): void {
    this.beliefs?.restore(saved);
  }

  private checkCall(input: AgentInput, state: HopState, generator: Generator): void {
    const { game } = this.player.setup;
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
    const { game } = this.player.setup;
    const played = { ...before, actions: input.previousActions };
    const likelihoods = this.kind.intra
      ? await stepLikelihoods(game, seat, beliefs.goals, played, this.questions.coPlayers)
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
    const { player, seat } = this;
    const { game, networkInputs } = player.setup;
    const A = game.agents.length;
    const search = player.isReadyToSearch ? this.search : this.noSearch;
    if (this.version !== player.version) for (const one of [this.search, this.noSearch]) one.forget();
    this.version = player.version;
    const own = generator.fork();
    const generators = Array.from(active, (row) => own.split(row));
    const supposed = beliefs && takeRows(beliefs, active, beliefs.length / input.rows);
    if (supposed) makeUniform(supposed, generators, this.beliefs!.goals, this.uniformGoals());
    return search.search(
      {
        rows: active.length,
        states: takeRows(states, active, game.stateSize),
        seats: new Int32Array(active.length).fill(seat),
        generator: generators,
        ...(supposed && { beliefs: supposed }),
        ...(networkInputs.previousActions && { previousActions: takeRows(input.previousActions, active, A) }),
      },
      this.questions,
    );
  }
}

sharedAmongCopies(Planner, '@coplay/trainers/Planner@0.1');

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
