import { type AgentStep, type ArrayOf, allocateObservations, type DType, type Game } from '@coplay/core';

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
