/*
 * What an agent that searches (HOP, HOP+) knows when it acts: the states that it searches from, as it sees them, and
 * its beliefs about its co-players' goals. Shapes: B rows, R rows that are searched, A agents, S numbers of a state, G
 * goals.
 */
import {
  type AgentInput,
  type AgentStep,
  type ArrayOf,
  allocate,
  type DType,
  fail,
  type Game,
  type Generator,
  type NDArray,
  ndarray,
  type SavedState,
} from '@coplay/core';
import {
  checkAct,
  checkAgentStep,
  checkArgument,
  checkCount,
  checkRecord,
  checkTypedArray,
  typedArrays,
} from '@coplay/core/checks';
import { takeRows } from '@coplay/core/rows';
import type { WorldModel } from '@coplay/models';
import { type CoPlayerRows, type GoalBeliefs, type SearchResult, type SearchRoots, seenStates } from '@coplay/planning';
import { z } from 'zod';
import { replaceByUniform, stepLikelihoods } from './goal-beliefs';

/** The game whose states a search plans in: that of the model, where its states are observations. */
export function searchedGame(game: Game, model: WorldModel | undefined): Game {
  return model?.source ? model.game : game;
}

/** The game whose states beliefs read: that of the model, where it is one of the agent's own view. */
export function believedGame(game: Game, model: WorldModel | undefined): Game {
  return model?.ownView ? model.game : game;
}

/**
 * Refuses a search from states that the agent doesn't see: the game must show its whole state, or the model must be one
 * of the agent's own view.
 *
 * @param model   of the world; undefined for the rules
 * @param remedy  how to do without, in the words of the agent's options
 * @param option  of the agent, for a world model
 */
export function checkSearched(
  where: string,
  game: Game,
  model: WorldModel | undefined,
  remedy: string,
  option: 'simulator' | 'worldModel',
): void {
  if (model?.source && !model.see) {
    const expected = 'a model that says in which state an agent acts: WorldModel.see';
    fail(where, expected, `one of ${model.kind} without it`, remedy);
  }
  if (model?.ownView || game.grid || game.observesState) return;
  const others =
    'declare observesState where that is so or give the game grid parts ("Optional parts" in docs/writing-an-environment.md), or give ' +
    `${option}: { model: observationsWorldModel({ view: 'own' }) }`;
  fail(where, 'a game whose agents see the whole state', game.name, `${remedy}, ${others}.`);
}

/** The memory of an agent that searches, from step to step. */
export type SearchedStep = {
  /** [B, S] the states before the previous step */
  readonly states: ArrayOf<DType>;
  /** [B, A] the actions of all agents in the step before that */
  readonly previousActions: Int32Array;
};

/** A search, and the rows of the batch that it was for. */
export interface RowSearch {
  /** [R] rows of the batch in which the agent played */
  readonly rows: Int32Array;
  readonly result: SearchResult;
}

/** [B, K] the visits of the root's actions; zeros in rows without a search. */
export function visitsOf(search: RowSearch | undefined, rows: number, K: number): NDArray<Int32Array> {
  const visits = new Int32Array(rows * K);
  search?.rows.forEach((row, i) => {
    visits.set(search.result.visits.subarray(i * K, (i + 1) * K), row * K);
  });
  return ndarray(visits, [rows, K]);
}

/** The parts of an agent that its view depends on. */
export interface SearchViewParts {
  /** The agent, for messages: `HOP (agent_0)`. */
  readonly name: string;
  /** The game that it plays in. */
  readonly game: Game;
  /** Of the world; undefined for the rules. */
  readonly model: WorldModel | undefined;
  readonly seat: number;
  /** Undefined without goals. */
  readonly beliefs: GoalBeliefs | undefined;
  /** Whether Bayes' rule updates beliefs within an episode. */
  readonly intra: boolean;
  /** The models of co-players: [n, K] log-probabilities. */
  readonly coPlayers: (rows: CoPlayerRows) => Promise<Float32Array>;
}

const savedSchema = z.looseObject({ playing: typedArrays('uint8').optional() });

export class SearchView {
  /** The game whose states are seen. */
  private readonly game: Game;
  /** [B, A] 1 for agents that play on after the last step, as all agents see: for models of own views. */
  private playing: Uint8Array | undefined;

  constructor(private readonly parts: SearchViewParts) {
    this.game = searchedGame(parts.game, parts.model);
  }

  initialState(rows: number): SearchedStep {
    const { stateType, stateSize, agents } = this.game;
    checkCount(`${this.parts.name}.initialState`, 'rows', rows);
    return {
      states: allocate(stateType, rows * stateSize) as ArrayOf<DType>,
      previousActions: new Int32Array(rows * agents.length).fill(-1),
    };
  }

  /** Refuses arguments of `act` of another form. */
  checkCall(input: AgentInput, before: SearchedStep, generator: Generator): void {
    const { game, parts } = this;
    const where = `${parts.name}.act`;
    checkAct(where, parts.game, input, generator);
    checkRecord(where, 'state', before);
    checkTypedArray(where, 'state.states', before.states, game.stateType, input.rows * game.stateSize);
    const { length } = input.previousActions;
    checkTypedArray(where, 'state.previousActions', before.previousActions, 'int32', length);
  }

  /**
   * The present states, from what the agent sees. A search begins at `states` [B, S] of the model's game; beliefs read
   * `believed`, states of the game that is played, unless the model is one of the agent's own view.
   */
  see(input: AgentInput, before: SearchedStep): { states: ArrayOf<DType>; believed: ArrayOf<DType> } {
    const { game, model, seat } = this.parts;
    const { rows, observations, masks, isFirst, previousActions } = input;
    const seen = { rows, observations, masks, isFirst, previousActions, active: this.stillPlaying(input) };
    if (model?.ownView) {
      const states = model.see!(seat, seen, before.states);
      return { states, believed: states };
    }
    const real = seenStates(game, input, seat);
    const states = model?.source ? model.see!(seat, { ...seen, states: real }, before.states) : real;
    return { states, believed: real };
  }

  /** [B, A] */
  private stillPlaying({ rows, isFirst, active, previousActions }: AgentInput): Uint8Array {
    const { seat } = this.parts;
    const A = this.game.agents.length;
    const known = this.playing?.length === rows * A ? this.playing : undefined;
    return Uint8Array.from(previousActions, (action, i) => {
      const row = Math.floor(i / A);
      if (i % A === seat) return active[row];
      if (isFirst[row] === 1) return 1;
      return action < 0 ? 0 : (known?.[i] ?? 1);
    });
  }

  /** [B, A, G] the beliefs in the states that they read; undefined without goals. */
  async believe(input: AgentInput, states: ArrayOf<DType>, before: SearchedStep): Promise<Float64Array | undefined> {
    const { beliefs, seat, intra, coPlayers } = this.parts;
    if (!beliefs) return undefined;
    const played = { ...before, actions: input.previousActions };
    const likelihoods = intra ? await stepLikelihoods(this.game, seat, beliefs.goals, played, coPlayers) : undefined;
    return beliefs.see(states, input.isFirst, likelihoods).slice();
  }

  /**
   * Where the searches of some rows begin.
   *
   * @param rows          [R]
   * @param uniformGoals  chance that a search replaces beliefs by the uniform distribution over open goals
   */
  roots(
    input: AgentInput,
    states: ArrayOf<DType>,
    beliefs: Float64Array | undefined,
    rows: Int32Array,
    uniformGoals: number,
    generator: Generator,
  ): SearchRoots {
    const { game } = this;
    const own = generator.fork();
    const generators = Array.from(rows, (row) => own.split(row));
    const supposed = beliefs && takeRows(beliefs, rows, beliefs.length / input.rows);
    if (supposed) replaceByUniform(supposed, generators, this.parts.beliefs!.goals, uniformGoals);
    return {
      rows: rows.length,
      states: takeRows(states, rows, game.stateSize),
      seats: new Int32Array(rows.length).fill(this.parts.seat),
      generator: generators,
      ...(supposed && { beliefs: supposed }),
      previousActions: takeRows(input.previousActions, rows, game.agents.length),
    };
  }

  observe(step: AgentStep): void {
    const { name, game, model, beliefs } = this.parts;
    checkAgentStep(`${name}.observe`, game, step);
    beliefs?.observe(step);
    if (model?.ownView) this.playing = step.terminated.map((ended) => 1 - ended);
  }

  save(): SavedState {
    return { ...this.parts.beliefs?.save(), ...(this.playing && { playing: this.playing.slice() }) };
  }

  restore(saved: SavedState): void {
    const { name, model, beliefs } = this.parts;
    if (model?.ownView) checkArgument(`${name}.restore`, 'saved', savedSchema, saved);
    beliefs?.restore(saved);
    if (model?.ownView) this.playing = (saved['playing'] as Uint8Array | undefined)?.slice();
  }
}
