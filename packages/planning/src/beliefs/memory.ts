import {
  type AgentStep,
  type ArrayOf,
  allocateObservations,
  checkCount,
  type DType,
  type Game,
  type SavedState,
} from '@coplay/core';
import { normaliseOpen } from './intra';

/** One observer's memory of one co-player from episode to episode (inter-OM). */
export interface GoalMemory {
  /**
   * The prior of the co-player's next goal.
   *
   * @param reached  goals that it has reached in this episode already
   * @param open     [G] from `from` on: 1 where a goal can still be reached
   * @returns [G] sums to 1 and is 0 for goals that aren't open; all 0 where none is
   */
  prior(reached: number, open: Uint8Array, from: number): Float64Array;
  /**
   * Takes in an episode that has ended.
   *
   * @param last     the goal that was reached last, in 0..G-1; -1 for none
   * @param reached  how many were reached
   */
  add(last: number, reached: number): void;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/** Remembers nothing: every open goal is as likely, in each episode anew. HOP without inter-OM. */
export function uniformMemory(goals: number): GoalMemory {
  checkCount('uniformMemory', 'goals', goals);
  return {
    prior: (_reached, open, from) => amongOpen(new Float64Array(goals).fill(1), open, from),
    add: () => {},
    state: () => ({}),
    restore: () => {},
  };
}

/** Weights [G] of goals as a distribution over the open ones. */
export function amongOpen(weights: Float64Array, open: Uint8Array, from: number): Float64Array {
  const own = open.subarray(from, from + weights.length);
  const prior = weights.map((weight, goal) => (own[goal] === 1 ? weight : 0));
  normaliseOpen(prior, own, 0, weights.length);
  return prior;
}

/**
 * The goals that were reached in a step.
 *
 * @param states  [B, S] before the step
 * @returns [B, A] 0..G-1, or -1 for none
 */
export function goalsReached(game: Game, states: ArrayOf<DType>, step: AgentStep): Int32Array {
  const { goals } = game;
  const A = game.agents.length;
  const shown = new Int32Array(step.rows * A).fill(-1);
  if (!goals) return shown;
  const seen = allocateObservations(game.observation, 1);
  for (let at = 0; at < shown.length; at++) {
    if (step.active[at] !== 1) continue;
    const row = Math.floor(at / A);
    if (goals.reads) game.observe(states, row * game.stateSize, at % A, seen, 0);
    shown[at] = goals.reached(step.actions[at], step.terminated[at] === 1, seen, 0);
  }
  return shown;
}
