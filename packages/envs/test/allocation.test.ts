import { type AnyGame, gameContract } from '@coplay/core';
import {
  cartPole,
  catchGame,
  flattenObservations,
  frameStack,
  gymEscalation,
  gymHarvest,
  gymHunt,
  limitedView,
  matrixGame,
  noOpAfterEnd,
  pendulum,
  permuteSeats,
  rescaleActions,
  scaleRewards,
  snowdrift,
  stagHunt,
  stickyActions,
  withPreviousActions,
} from '@coplay/envs';
import { expect, it } from 'vitest';

const games = [
  matrixGame(),
  cartPole(),
  catchGame(),
  gymHunt(),
  gymHarvest(),
  gymEscalation(),
  stagHunt({ preyMoves: 0.5 }),
  snowdrift({ obstaclePieces: 2 }),
  permuteSeats(withPreviousActions(limitedView(stagHunt(), 1))),
  flattenObservations(noOpAfterEnd(stickyActions(frameStack(stagHunt(), 2), 0.2))),
  scaleRewards(stickyActions(withPreviousActions(rescaleActions(pendulum())), 0.2), 0.1),
] as readonly unknown[] as AnyGame[];

// In a process of its own (vitest.config.ts): what ran before decides what the engine optimises.
it.each(games.map((game) => [game.name, game] as const))('a step of %s allocates nothing', (_, game) => {
  expect(gameContract(game, { episodes: 1 })).toEqual([]);
});
