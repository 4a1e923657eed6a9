import { type AgentId, type ArrayOf, allocate, type DType, fail, type Game, type Generator } from '@coplay/core';
import {
  type BeliefOptions,
  type CoPlayerRows,
  createBeliefs,
  type GoalBeliefs,
  type GoalMemory,
  goalMemory,
  openGoals,
} from '@coplay/planning';
import { z } from 'zod';

/**
 * The option `interOM` of an agent, its memory of a co-player between episodes: `true` for the one that fits the game's
 * goals, `false` for equally likely goals, or a function that makes one.
 */
export type InterOM = boolean | ((coPlayer: AgentId) => GoalMemory);

export const interOMSchema = z.custom<InterOM>((value) => typeof value === 'boolean' || typeof value === 'function', {
  error: 'true, false, or a function that makes the memory of a co-player',
});

/** As JSON, for run directories and checkpoints. */
export function describeMemory(interOM: InterOM): boolean | string {
  return typeof interOM === 'function' ? `function ${interOM.name || 'anonymous'}` : interOM;
}

/** How {@link goalBeliefs} believes. */
export interface GoalBeliefOptions {
  readonly inter: InterOM;
  /** Whether Bayes' rule updates beliefs within an episode. */
  readonly intra: boolean;
  /** Discount per episode of the counts of goals shown, for games whose goals have no `noGoal`. */
  readonly goalDiscount: number | undefined;
  /** Whether games that are played at once share a memory of a co-player. Default `shared` */
  readonly memories?: BeliefOptions['memories'];
}

/**
 * An agent's beliefs about its co-players, of a game with goals. The belief is updated in `beliefs.see` of
 * `@coplay/planning`; its prior is that of the memory made here.
 *
 * @param where  name of the option for the memory, for messages
 */
export function goalBeliefs(where: string, game: Game, id: AgentId, options: GoalBeliefOptions): GoalBeliefs {
  const { intra, memories } = options;
  return createBeliefs({ game, id, intra, memories, inter: memoryOf(game, options) }, where);
}

/** Makes the memory of a co-player between episodes; undefined for the default of games whose goals have a `noGoal`. */
function memoryOf({ goals }: Game, { inter, goalDiscount }: GoalBeliefOptions): BeliefOptions['inter'] {
  if (inter !== true) return inter;
  if (!goals || goals.noGoal !== undefined) return undefined;
  return () => goalMemory(goals.names.length, goalDiscount);
}

/**
 * Refuses beliefs about goals that read states in a game whose agents don't see them.
 *
 * @param remedy  how to do without, in the words of the agent's options
 */
export function checkGoalsSeen(where: string, { goals, observesState, name }: Game, remedy: string): void {
  if (!goals?.readsStates || observesState) return;
  const expected = 'goals that agents recognise without states, or a game with observesState';
  const others = 'declare observesState if each agent sees all of the state';
  const got = `${name}, whose goals have readsStates, without observesState`;
  fail(where, expected, got, `${remedy}, or ${others} ("Goals" in docs/writing-an-environment.md).`);
}

/** The previous step of B games, as an agent knows it in the present one. */
export interface PlayedStep {
  /** [B, S] before the step */
  readonly states: ArrayOf<DType>;
  /** [B, A] the actions of all agents in the step; -1 in rows that begin, and for agents that had left */
  readonly actions: Int32Array;
  /** [B, A] the actions of all agents in the step before it, for models that read them */
  readonly previousActions: Int32Array;
}

/**
 * Likelihoods of the co-players' actions under each goal, by the models of them: Pr(a | s, g) of intra-OM (Huang et al.
 * 2024, eq. 3). Goals that couldn't be reached any more aren't evaluated: their belief is 0 for any likelihood.
 *
 * @param coPlayers  the models: [n, K] log-probabilities
 * @returns [B, A, G]; 1 for the agent itself, where there was no action, and for goals that were not open
 */
export async function stepLikelihoods(
  game: Game,
  seat: number,
  goals: number,
  step: PlayedStep,
  coPlayers: (rows: CoPlayerRows) => Promise<Float32Array>,
): Promise<Float64Array> {
  const { actions } = step;
  const likelihoods = new Float64Array(actions.length * goals).fill(1);
  const places = unknownPlaces(game, seat, goals, step);
  if (places.length === 0) return likelihoods;
  const logProbs = await coPlayers(rowsAt(game, goals, step, places));
  places.forEach((place, row) => {
    likelihoods[place] = Math.exp(logProbs[row * game.actions + actions[Math.floor(place / goals)]]);
  });
  return likelihoods;
}

/** Places in [B, A, G]: of each co-player that took an action, the goals that were open. */
function unknownPlaces(game: Game, seat: number, goals: number, { states, actions }: PlayedStep): number[] {
  const places: number[] = [];
  const A = game.agents.length;
  const open = openGoals(game, states, actions.length / A);
  for (let at = 0; at < actions.length; at++) {
    if (at % A === seat || actions[at] < 0) continue;
    const from = Math.floor(at / A) * goals;
    for (let goal = 0; goal < goals; goal++) if (open[from + goal] === 1) places.push(at * goals + goal);
  }
  return places;
}

/** One row for each of the places [N], numbered (b A + a) G + g. */
function rowsAt(game: Game, goals: number, step: PlayedStep, places: readonly number[]): CoPlayerRows {
  const rows = places.length;
  const { stateSize: S, stateType } = game;
  const A = game.agents.length;
  const states = allocate(stateType, rows * S);
  const previousActions = new Int32Array(rows * A);
  const seats = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const at = Math.floor(places[row] / goals);
    const env = Math.floor(at / A);
    seats[row] = at % A;
    for (let i = 0; i < S; i++) states[row * S + i] = step.states[env * S + i];
    for (let i = 0; i < A; i++) previousActions[row * A + i] = step.previousActions[env * A + i];
  }
  const wanted = Int32Array.from(places, (place) => place % goals);
  return { rows, states, seats, players: seats, goals: wanted, previousActions };
}

/**
 * In a random fraction of rows, replaces beliefs by the uniform distribution over open goals (`uniformGoals`:
 * exploration, not in the paper).
 *
 * @param beliefs  [B, A, G] replaced; a goal is taken to be open where its belief isn't 0
 * @param generators  [B]
 * @param goals    G
 * @param chance   of each row, in [0, 1]
 */
export function replaceByUniform(
  beliefs: Float64Array,
  generators: readonly Generator[],
  goals: number,
  chance: number,
): void {
  const size = beliefs.length / generators.length;
  generators.forEach((generator, row) => {
    if (!(chance > 0) || generator.uniform() >= chance) return;
    for (let from = row * size; from < (row + 1) * size; from += goals) {
      const own = beliefs.subarray(from, from + goals);
      const open = own.reduce((count, belief) => count + (belief > 0 ? 1 : 0), 0);
      for (let goal = 0; goal < goals; goal++) own[goal] = own[goal] > 0 ? 1 / open : 0;
    }
  });
}
