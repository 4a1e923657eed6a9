import type { Agent } from '@coplay/core';
import { drawLegal } from './draw';
import { checkNoOptions, type RuleAgentOptions, recordOf, seatOf } from './options';
import { type Rule, ruleAgent } from './rule';

/** Random: draws uniformly among its legal actions. Plays any game. */
export function randomAgent(options: RuleAgentOptions): Agent<null> {
  const { game, id, ...others } = recordOf('randomAgent', options);
  seatOf('randomAgent', game, id);
  checkNoOptions('randomAgent', others);
  const K = game.actions;
  const rule: Rule = ({ masks }, row, generator) => drawLegal(masks, row * K, K, generator);
  return ruleAgent(game, id, 'Random', rule);
}
