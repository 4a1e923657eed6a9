import { type ArrayOf, checkGame, type DType, fail, type Game, type Scene } from '@coplay/core';
import { checkArgument, checkNumber, typedArrays } from '@coplay/core/checks';

/** The scene of a state. @throws CoplayError for a game that has none */
export function sceneOf<State extends DType>(
  where: string,
  game: Game<State>,
  state: ArrayOf<State>,
  offset: number,
): Scene {
  checkGame(where, game);
  checkArgument(where, 'state', typedArrays(game.stateType), state);
  checkNumber(where, 'offset', offset, { min: 0, max: state.length - game.stateSize, whole: true });
  if (!game.scene) {
    const remedy = 'Give the game a scene() ("Optional parts" in docs/writing-an-environment.md).';
    fail(where, 'a game with a scene', `${game.name}, which has none`, remedy);
  }
  return game.scene(state, offset);
}
