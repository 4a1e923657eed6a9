import {
  type ActionArray,
  type ActionSpace,
  type ActionSpaces,
  type ActionsOf,
  type BoxSpace,
  box,
  checkGame,
  checkOptions,
  type DType,
  fail,
  type Game,
} from '@coplay/core';
import { actionLayout, isBox } from '@coplay/core/arrays';
import { z } from 'zod';
import { wrap, wrapOptions } from './wrap';

/**
 * Lets agents give any finite numbers for a box, and clips them to its bounds (`ClipAction` of Gymnasium): the boxes of
 * the wrapped game have no bounds. Agents with discrete actions or several choices keep them.
 *
 * @throws CoplayError for a game without boxes
 */
export function clipActions<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
): Game<State, Spaces> {
  checkGame('clipActions', game, 'any');
  return withBoxes('clipActions', game, true, ({ shape }) => ({ space: box({ shape }), inward: (value) => value }));
}

/** Options of {@link rescaleActions}. */
export interface RescaleActionsOptions {
  /** The least value of each number. Default -1 */
  readonly low?: number;
  /** The greatest value of each number, above `low`. Default 1 */
  readonly high?: number;
}

const schema = z
  .strictObject({ low: z.number().default(-1), high: z.number().default(1) })
  .refine(({ low, high }) => low < high, { error: 'low < high' });

/**
 * Gives all boxes the same bounds, and stretches actions linearly to those of the game: `low` becomes the lower bound
 * of each number, `high` the upper one (`RescaleAction` of Gymnasium). Agents with discrete actions or several choices
 * keep them.
 *
 * @throws CoplayError for a game without boxes, or with a box that lacks a bound
 */
export function rescaleActions<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  options: RescaleActionsOptions = {},
): Game<State, Spaces> {
  const where = 'rescaleActions';
  checkGame(where, game, 'any');
  const { low, high } = checkOptions(where, schema, options);
  return withBoxes(where, game, [low, high], (own) => {
    if (![...own.low, ...own.high].every(Number.isFinite)) {
      fail(where, 'boxes with a lower and an upper bound', `one without in ${game.name}`, 'Use clipActions(game).');
    }
    const space = box({ shape: own.shape, low, high });
    const share = (value: number, i: number) => (value - space.low[i]) / (space.high[i] - space.low[i]);
    return { space, inward: (value, i) => own.low[i] + share(value, i) * (own.high[i] - own.low[i]) };
  });
}

/** A box in place of the game's own, and the function from its values to those of the game's. */
interface OtherBox {
  readonly space: BoxSpace;
  inward(value: number, i: number): number;
}

/** A game with other boxes. Values that agents give are changed, rounded to float32, and clipped to the game's box. */
function withBoxes<State extends DType, Spaces extends ActionSpaces>(
  where: 'clipActions' | 'rescaleActions',
  game: Game<State, Spaces>,
  option: unknown,
  otherBox: (own: BoxSpace) => OtherBox,
): Game<State, Spaces> {
  const { spaces, width } = actionLayout(game);
  const others = spaces.map((space) => (isBox(space) ? otherBox(space) : undefined));
  if (others.every((other) => other === undefined)) {
    const remedy = 'Use the game as it is: discrete actions have no bounds.';
    fail(where, 'a game in which an agent has a box', `${game.name}, in which none has`, remedy);
  }
  const changed: readonly ActionSpace[] = spaces.map((space, agent) => others[agent]?.space ?? space);
  const isOneSpace = typeof game.actions === 'number' || 'kind' in (game.actions as object);
  const byId = Object.fromEntries(game.agents.map((id, agent) => [id, changed[agent]]));
  const inner = new Float32Array(spaces.length * width);

  return wrap(game, {
    actions: (isOneSpace ? changed[0] : byId) as Spaces,
    options: wrapOptions(game, where, option),
    ...(game.observesState && { observesState: true }),
    step(state, offset, actions, actionsOffset, generator, result, row) {
      const given = actions as ActionArray;
      for (let at = 0; at < inner.length; at++) inner[at] = given[actionsOffset + at];
      for (let agent = 0; agent < spaces.length; agent++) {
        const own = spaces[agent];
        const other = others[agent];
        if (other === undefined || !isBox(own)) continue;
        for (let i = 0; i < own.low.length; i++) {
          const value = Math.fround(other.inward(inner[agent * width + i], i));
          inner[agent * width + i] = Math.min(own.high[i], Math.max(own.low[i], value));
        }
      }
      game.step(state, offset, inner as ActionArray as ActionsOf<Spaces>, 0, generator, result, row);
    },
  });
}
