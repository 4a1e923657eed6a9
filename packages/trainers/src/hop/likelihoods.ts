import { type ArrayOf, allocate, type DType, type Game } from '@coplay/core';
import { type CoPlayerRows, openGoals } from '@coplay/planning';
import type { Questions } from './questions';

/** A step that was played, as an agent knows it when the next one comes: B games. */
export interface PlayedStep {
  /** [B, S] before it */
  readonly states: ArrayOf<DType>;
  /** [B, A] the actions of all agents in it; -1 in rows that begin, and for agents that had left */
  readonly actions: Int32Array;
  /** [B, A] what everyone did in the step before, where models read it */
  readonly previousActions: Int32Array;
}

/**
 * How likely what co-players did was under each goal, by the models of them: Pr(a | s, g) of intra-OM (Huang et al.
 * 2024, eq. 3). Goals that couldn't be reached any more aren't evaluated: their belief is 0 for any likelihood.
 *
 * @returns [B, A, G]; 1 for the agent itself, where there was no action, and for goals that were not open
 */
export async function stepLikelihoods(
  game: Game,
  seat: number,
  goals: number,
  step: PlayedStep,
  ask: Questions['coPlayers'],
): Promise<Float64Array> {
  const { actions } = step;
  const likelihoods = new Float64Array(actions.length * goals).fill(1);
  const places = unknownPlaces(game, seat, goals, step);
  if (places.length === 0) return likelihoods;
  const logProbs = await ask(questionsAbout(game, goals, step, places));
  places.forEach((place, row) => {
    likelihoods[place] = Math.exp(logProbs[row * game.actions + actions[Math.floor(place / goals)]]);
  });
  return likelihoods;
}

/** Places in [B, A, G]: of each co-player that did something, the goals that were open. */
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
function questionsAbout(game: Game, goals: number, step: PlayedStep, places: readonly number[]): CoPlayerRows {
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
