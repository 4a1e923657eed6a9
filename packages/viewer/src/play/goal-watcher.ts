import type { AgentId, AgentStep, ArrayOf, DType, Game, SavedState } from '@coplay/core';
import { checkGame, fail, show } from '@coplay/core';
import { createBeliefs } from '@coplay/planning';
import { goalWalker } from './walker';

/** Infers the goals of all co-players in one game from public information. */
export interface GoalWatcher {
  /**
   * What to believe in a step that is about to be played.
   *
   * @param isFirst  whether it's the first of a game
   * @returns [A, G] a copy; 0 for the observer, and for goals that can't be reached any more
   */
  see(state: ArrayOf<DType>, isFirst: boolean): Float64Array;
  /** The actions of that step, one row. */
  observe(step: AgentStep): void;
  /** Beliefs, and the memory of co-players from game to game. */
  save(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * Beliefs of one observer by Bayes' rule (`createBeliefs` of `@coplay/planning`, with its memory between games), where
 * co-players are taken for noisily rational walkers to their goals: steps towards something speak for it.
 *
 * @returns undefined for games whose goals aren't things on a grid that everyone sees
 */
export function goalWatcher(game: Game, id: AgentId): GoalWatcher | undefined {
  checkGame('goalWatcher', game);
  if (!game.agents.includes(id)) {
    fail('goalWatcher: id', `one of ${game.agents.join(', ')}`, show(id), 'Name a seat of the game.');
  }
  const walker = goalWalker(game);
  if (!walker) return undefined;
  const beliefs = createBeliefs({ game, id });
  let last: { readonly state: ArrayOf<DType>; readonly actions?: ArrayLike<number> } | undefined;
  return {
    see(state, isFirst) {
      const likelihoods = last?.actions && !isFirst ? walker.likelihoods(last.state, last.actions) : undefined;
      last = { state };
      return beliefs.see(state, Uint8Array.of(isFirst ? 1 : 0), likelihoods).slice();
    },
    observe(step) {
      beliefs.observe(step);
      if (!last) return;
      last = {
        state: last.state,
        actions: step.actions.map((action, seat) => (step.active[seat] === 1 ? action : -1)),
      };
    },
    save: () => beliefs.save(),
    restore: (saved) => beliefs.restore(saved),
  };
}
