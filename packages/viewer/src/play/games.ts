import { type Agent, type AgentId, checkGame, checkOptions, fail, type Game, show } from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import {
  checkRecording,
  freeRider,
  nearestDrift,
  nearestHare,
  nearestStag,
  type Recording,
  randomAgent,
  snowdrift,
  stagHunt,
  titForTat,
} from '@coplay/envs';
import { z } from 'zod';

/** Games that the page knows, by their names. */
const GAMES: Readonly<Record<string, (options: Readonly<Record<string, unknown>>) => Game>> = {
  'stag-hunt': stagHunt,
  snowdrift,
};

/** Rule-based co-players of each game, by the names that the page shows. */
const RULES: Readonly<Record<string, Readonly<Record<string, (options: { game: Game; id: AgentId }) => Agent>>>> = {
  'stag-hunt': {
    NearestStag: nearestStag,
    NearestHare: nearestHare,
    TitForTat: titForTat,
    Random: randomAgent,
  },
  snowdrift: { NearestDrift: nearestDrift, FreeRider: freeRider, Random: randomAgent },
};

/**
 * A game that can be played in a page.
 *
 * @param name     `stag-hunt` or `snowdrift`
 * @param options  of `stagHunt()` or `snowdrift()`
 * @throws CoplayError for another game, or options that it doesn't have
 */
export function playableGame(name: string, options: Readonly<Record<string, unknown>> = {}): Game {
  checkText('playableGame', 'name', name);
  checkOptions('playableGame', z.looseObject({}), options);
  const make = Object.hasOwn(GAMES, name) ? GAMES[name] : undefined;
  if (make) return make(options ?? {});
  const remedy = 'Make other games yourself, and seat a person with createTable().';
  return fail('playableGame', `one of ${Object.keys(GAMES).join(', ')}`, show(name), remedy);
}

/** The game that a recording was made in, with its options. @throws CoplayError where the page doesn't have it */
export function gameOfRecording(recording: Recording): Game {
  const { game, options } = checkRecording('gameOfRecording', recording);
  return playableGame(game, options);
}

/** Names of the rule-based agents that play a game. */
export function rulesOf(game: Game): readonly string[] {
  checkGame('rulesOf', game);
  return Object.keys(RULES[game.name] ?? {});
}

/** A rule-based agent by its name, one of `rulesOf(game)`. @throws CoplayError for another name */
export function ruleAgentNamed(rule: string, game: Game, id: AgentId): Agent {
  checkGame('ruleAgentNamed', game);
  if (!game.agents.includes(id)) {
    fail('ruleAgentNamed: id', `one of ${game.agents.join(', ')}`, show(id), 'Name a seat of the game.');
  }
  checkText('ruleAgentNamed', 'rule', rule);
  const rules = RULES[game.name] ?? {};
  if (Object.hasOwn(rules, rule)) return rules[rule]({ game, id });
  return fail('ruleAgentNamed', `one of ${Object.keys(rules).join(', ')}`, show(rule), 'Choose a rule of the game.');
}
