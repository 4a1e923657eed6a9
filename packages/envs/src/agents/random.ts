import type { Agent } from '@coplay/core';
import { checkNoOptions, type RuleAgentOptions, seatOf } from './options';
import { type Rule, ruleAgent } from './rule';

/** Random: draws uniformly among its legal actions. Plays any game. */
export function randomAgent({ game, id, ...options }: RuleAgentOptions): Agent<null> {
  seatOf('randomAgent', game, id);
  checkNoOptions('randomAgent', options);
  const K = game.actions;
  const rule: Rule = ({ masks }, row, generator) => {
    let count = 0;
    for (let action = 0; action < K; action++) count += masks[row * K + action];
    let skip = count > 1 ? generator.integer(count) : 0;
    for (let action = 0; action < K; action++) {
      if (masks[row * K + action] === 1 && skip-- === 0) return action;
    }
    return 0;
  };
  return ruleAgent(id, 'Random', rule);
}
