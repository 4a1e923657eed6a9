import { type AgentId, checkGame, fail, type Game, show } from '@coplay/core';
import { checkArgument, checkCount, checkNumbers, typedArrays } from '@coplay/core/checks';

/** The beliefs about one co-player in one row, step by step: plain data for logs and figures. */
export interface BeliefTrace {
  readonly coPlayer: AgentId;
  /** G names */
  readonly goals: readonly string[];
  /** [N][G] the belief in each step that was seen */
  readonly beliefs: number[][];
  /** Which of the N steps are the first of an episode. */
  readonly starts: number[];
}

/** Writes a trace. */
export interface BeliefTracer {
  readonly trace: BeliefTrace;
  /**
   * Takes the beliefs of a step.
   *
   * @param beliefs  [B, A, G]
   * @param isFirst  [B]
   */
  add(beliefs: Float64Array, isFirst: Uint8Array): void;
}

/** A trace of the beliefs about `coPlayer` in row `row`. */
export function beliefTracer(game: Game, coPlayer: AgentId, row = 0): BeliefTracer {
  checkGame('beliefTracer', game);
  checkCount('beliefTracer', 'row', row);
  const seat = game.agents.indexOf(coPlayer);
  if (seat < 0) fail('beliefTracer', `one of ${game.agents.join(', ')}`, show(coPlayer), 'Name an agent of the game.');
  const remedy = 'Give the game goals ("Goals" in docs/writing-an-environment.md).';
  const goals = game.goals?.names ?? fail('beliefTracer', 'a game with goals', game.name, remedy);
  const trace: BeliefTrace = { coPlayer, goals, beliefs: [], starts: [] };
  return {
    trace,
    add(beliefs, isFirst) {
      checkArgument('beliefTracer.add', 'beliefs', typedArrays('float64'), beliefs);
      checkNumbers('beliefTracer.add', 'isFirst', isFirst, { atLeast: row + 1 });
      const from = (row * game.agents.length + seat) * goals.length;
      checkNumbers('beliefTracer.add', 'beliefs', beliefs, { atLeast: from + goals.length, nan: true });
      if (isFirst[row] === 1) trace.starts.push(trace.beliefs.length);
      trace.beliefs.push(Array.from(beliefs.subarray(from, from + goals.length)));
    },
  };
}
