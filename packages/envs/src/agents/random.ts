import type { Agent } from '@coplay/core';
import { drawLegal } from './draw';
import { checkNoOptions, type RuleAgentOptions, seatOf } from './options';
import { type Rule, ruleAgent } from './rule';

/** Random: draws uniformly among its legal actions. Plays any game. */
export function randomAgent({ game, id, ...options }: RuleAgentOptions): Agent<null> {
  seatOf('randomAgent', game, id);
  checkNoOptions('randomAgent', options);
  const K = game.actions;
  const rule: Rule = ({ masks }, row, generator) => drawLegal(masks, row * K, K, generator);
  return ruleAgent(id, 'Random', rule);
}
