import { type ArrayOf, allocate, type DType, type Game } from '@coplay/core';
import type { CoPlayerRows } from '@coplay/planning';
import type { Questions } from './questions';

/** A step that was played, as an agent knows it when the next one comes: B games. */
export interface PlayedStep {
  /** [B, S] before it */
  readonly states: ArrayOf<DType>;
  /** [B, A] what everyone did in it; -1 in rows that begin, and for those who had left */
  readonly actions: Int32Array;
  /** [B, A] what everyone did in the step before, where models read it */
  readonly previousActions: Int32Array;
}

/**
 * How likely what co-players did was under each goal, by the models of them: Pr(a | s, g) of intra-OM (Huang et al. 2024, eq. 3).
 *
 * @returns [B, A, G]; 1 for oneself and where nothing was done
 */
export async function stepLikelihoods(
  game: Game,
  seat: number,
  goals: number,
  step: PlayedStep,
  ask: Questions['coPlayers'],
): Promise<Float64Array> {
  const { actions } = step;
  const A = game.agents.length;
  const likelihoods = new Float64Array(actions.length * goals).fill(1);
  const acted = Int32Array.from(actions.keys()).filter((at) => at % A !== seat && actions[at] >= 0);
  if (acted.length === 0) return likelihoods;
  const logProbs = await ask(questionsAbout(game, goals, step, acted));
  acted.forEach((at, i) => {
    for (let goal = 0; goal < goals; goal++) {
      const row = i * goals + goal;
      likelihoods[at * goals + goal] = Math.exp(logProbs[row * game.actions + actions[at]]);
    }
  });
  return likelihoods;
}

/** One row for each goal of each of the seats [N], numbered b A + a. */
function questionsAbout(game: Game, goals: number, step: PlayedStep, seats: Int32Array): CoPlayerRows {
  const rows = seats.length * goals;
  const { stateSize: S, stateType } = game;
  const A = game.agents.length;
  const states = allocate(stateType, rows * S);
  const previousActions = new Int32Array(rows * A);
  for (let row = 0; row < rows; row++) {
    const env = Math.floor(seats[Math.floor(row / goals)] / A);
    for (let i = 0; i < S; i++) states[row * S + i] = step.states[env * S + i];
    for (let i = 0; i < A; i++) previousActions[row * A + i] = step.previousActions[env * A + i];
  }
  const each = (value: (row: number) => number) => Int32Array.from({ length: rows }, (_, row) => value(row));
  const seatOf = each((row) => seats[Math.floor(row / goals)] % A);
  return { rows, states, seats: seatOf, players: seatOf, goals: each((row) => row % goals), previousActions };
}
