import { type Agent, checkOptions, type Game } from '@coplay/core';
import { z } from 'zod';
import { STAY } from '../game';
import { chaser, HERE, NOWHERE } from './chase';
import { actionNamed, checkNoOptions, type RuleAgentOptions, recordOf, seatOf } from './options';
import { type Rule, ruleAgent } from './rule';

/** Options of {@link nearestStag}. */
export interface NearestStagOptions extends RuleAgentOptions {
  /**
   * Its action when it is alone on a stag's cell: `hunt` in every step (default), or `stay` until another agent is
   * there.
   */
  readonly waits?: 'hunt' | 'stay';
  /** Its behaviour when no stag is left: take the nearest `hare` (default), or `stay`. */
  readonly whenGone?: 'hare' | 'stay';
}

const behaviour = z
  .object({ waits: z.enum(['hunt', 'stay']).default('hunt'), whenGone: z.enum(['hare', 'stay']).default('hare') })
  .strict();

/**
 * NearestStag (NS): takes a shortest path to a nearest stag and hunts there, even if no other agent comes to help. The
 * path is found anew in each step; where several moves begin a shortest path to some nearest stag it draws one
 * uniformly. Other prey on the way is ignored.
 */
export function nearestStag(options: NearestStagOptions): Agent<null> {
  const { game, id, ...others } = recordOf('nearestStag', options);
  seatOf('nearestStag', game, id);
  return ruleAgent(game, id, 'NearestStag', nearestStagRule('nearestStag', game, others), others);
}

/** NearestHare (NH): the same with hares. When no hare is left it stays. */
export function nearestHare(options: RuleAgentOptions): Agent<null> {
  const { game, id, ...others } = recordOf('nearestHare', options);
  seatOf('nearestHare', game, id);
  checkNoOptions('nearestHare', others);
  return ruleAgent(game, id, 'NearestHare', nearestHareRule('nearestHare', game));
}

/** The rule of {@link nearestStag}. */
export function nearestStagRule(
  where: string,
  game: Game,
  options: Pick<NearestStagOptions, 'waits' | 'whenGone'> = {},
): Rule {
  const { waits, whenGone } = checkOptions(where, behaviour, options);
  const stags = chaser(where, game, 'stags');
  const hunt = actionNamed(where, game, 'hunt stag');
  const afterwards = whenGone === 'hare' ? nearestHareRule(where, game) : () => STAY;
  return (input, row, generator) => {
    const next = stags.next(input, row, generator);
    if (next === NOWHERE) return afterwards(input, row, generator);
    if (next !== HERE) return next;
    const isReady = waits === 'hunt' || stags.hasCompany(input, row);
    return isReady && input.masks[row * game.actions + hunt] === 1 ? hunt : STAY;
  };
}

/** The rule of {@link nearestHare}. */
export function nearestHareRule(where: string, game: Game): Rule {
  const hares = chaser(where, game, 'hares');
  const hunt = actionNamed(where, game, 'hunt hare');
  return (input, row, generator) => {
    const next = hares.next(input, row, generator);
    if (next === NOWHERE) return STAY;
    return next === HERE ? hunt : next;
  };
}
