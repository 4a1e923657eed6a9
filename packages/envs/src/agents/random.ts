import { type ActionArray, type ActionSpaces, type ActionsOf, type Agent, type AnyGame, allocate } from '@coplay/core';
import { actionLayout, drawAction, isBox, maskSizeOf, widthOf } from '@coplay/core/arrays';
import { checkAct, checkCount } from '@coplay/core/checks';
import { checkNoOptions, type RuleAgentOptions, recordOf, seatOf } from './options';

/**
 * Random: draws uniformly among its legal actions; in a box between the bounds (standard normal numbers where there are
 * none). Plays any game.
 */
export function randomAgent<Spaces extends ActionSpaces>(options: RuleAgentOptions<Spaces>): Agent<null, Spaces> {
  const { game, id, ...others } = recordOf('randomAgent', options);
  const seat = seatOf('randomAgent', game as AnyGame, id, 'any');
  checkNoOptions('randomAgent', others);
  const space = actionLayout(game).spaces[seat];
  const [width, maskSize] = [widthOf(space), maskSizeOf(space)];
  return {
    id,
    name: 'Random',
    options: {},
    initialState: (rows) => {
      checkCount(`Random (${id}).initialState`, 'rows', rows);
      return null;
    },
    act: (input, state, generator) => {
      checkAct(`Random (${id}).act`, game as AnyGame, input, generator, seat);
      const { rows, active, masks } = input;
      const actions: ActionArray = allocate(isBox(space) ? 'float32' : 'int32', rows * width);
      for (let row = 0; row < rows; row++) {
        if (active[row] === 1) drawAction(space, masks, row * maskSize, generator, actions, row * width);
      }
      return { actions: actions as ActionsOf<Spaces>, state };
    },
  };
}
