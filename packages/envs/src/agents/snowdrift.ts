import type { Agent } from '@coplay/core';
import { STAY } from '../game';
import { chaser, HERE, NOWHERE } from './chase';
import { drawLegal } from './draw';
import { actionNamed, checkNoOptions, type RuleAgentOptions, recordOf, seatOf } from './options';
import { ruleAgent } from './rule';

/**
 * NearestDrift, the cleaner: takes a shortest path to a nearest drift and shovels it, even if others do too. The path
 * is found anew in each step; where several moves begin a shortest path to some nearest drift it draws one uniformly.
 */
export function nearestDrift(options: RuleAgentOptions): Agent<null> {
  const { game, id, ...others } = recordOf('nearestDrift', options);
  const where = 'nearestDrift';
  seatOf(where, game, id);
  checkNoOptions(where, others);
  const drifts = chaser(where, game, 'drifts');
  const shovel = actionNamed(where, game, 'shovel');
  return ruleAgent(game, id, 'NearestDrift', (input, row, generator) => {
    const next = drifts.next(input, row, generator);
    if (next === NOWHERE) return STAY;
    return next === HERE ? shovel : next;
  });
}

/** FreeRider: draws uniformly among its legal moves and staying, and never shovels. */
export function freeRider(options: RuleAgentOptions): Agent<null> {
  const { game, id, ...others } = recordOf('freeRider', options);
  const where = 'freeRider';
  seatOf(where, game, id);
  checkNoOptions(where, others);
  const shovel = actionNamed(where, game, 'shovel');
  return ruleAgent(game, id, 'FreeRider', ({ masks }, row, generator) =>
    drawLegal(masks, row * game.actions, game.actions, generator, shovel),
  );
}
