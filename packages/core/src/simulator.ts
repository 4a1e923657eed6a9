import type { ArrayOf, DType } from './arrays';
import type { Game, StepArrays } from './game';
import type { Generator } from './generator';

/**
 * Something that plays steps in the place of a game's rules: a learned model of the world, or the rules themselves. It works
 * on the game's own states, so that the game says what agents see and may do in them.
 */
export interface Simulator {
  readonly game: Game;
  /**
   * Plays one step in B games.
   *
   * @param states     B states of the game, one after the other; replaced by the next ones
   * @param actions    [B, A] in 0..K-1; those of agents who have left are ignored
   * @param generator  for whatever is drawn
   * @param result     [B, A] rewards, terminated and truncated are written (infos are left alone)
   */
  step(states: ArrayOf<DType>, actions: Int32Array, generator: Generator, result: StepArrays): Promise<void> | void;
}

/** The rules of a game as a simulator: what a perfect model of the world would do. */
export function rulesSimulator(game: Game): Simulator {
  return {
    game,
    step(states, actions, generator, result) {
      const rows = states.length / game.stateSize;
      for (let row = 0; row < rows; row++) {
        game.step(states, row * game.stateSize, actions, row * game.agents.length, generator, result, row);
      }
    },
  };
}
