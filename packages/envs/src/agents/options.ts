import {
  type ActionSpaces,
  type AgentId,
  type AnyGame,
  checkGame,
  checkOptions,
  type DType,
  fail,
  type Game,
  show,
} from '@coplay/core';
import { z } from 'zod';

/** What every rule-based agent is made of. */
export interface RuleAgentOptions<Spaces extends ActionSpaces = number> {
  /** The game it plays; its observation tells the agent where to look. */
  readonly game: Game<DType, Spaces>;
  /** Who it is; one of `game.agents`. */
  readonly id: AgentId;
}

/**
 * The seat of an agent in the game's arrays.
 *
 * @param spaces  the actions that the agent takes. Default `discrete`
 * @throws CoplayError for an id that the game doesn't have
 */
export function seatOf(where: string, game: AnyGame, id: AgentId, spaces: 'discrete' | 'any' = 'discrete'): number {
  checkGame(`${where}: option game`, game, spaces, 'play');
  const seat = game.agents.indexOf(id);
  if (seat < 0) fail(`${where}: option id`, `one of ${game.agents.join(', ')}`, show(id), 'Use an id of game.agents.');
  return seat;
}

const anyRecord = z.looseObject({});

/** The options of an agent's function, which must be a record. */
export function recordOf<Options extends object>(where: string, options: Options): Options {
  checkOptions(where, anyRecord, options);
  return options ?? ({} as Options);
}

const noOptions = z.strictObject({});

/** Refuses options of an agent that has none except game and id. */
export function checkNoOptions(where: string, options: object): void {
  checkOptions(where, noOptions, options);
}

/** The action of that name. @throws CoplayError for a game that has none */
export function actionNamed(where: string, game: Game, name: string): number {
  const action = game.actionNames.indexOf(name);
  if (action < 0) {
    const remedy = 'Use another agent ("Rule-based agents" in packages/envs/README.md).';
    fail(where, `a game with the action ${name}`, `${game.name}: ${game.actionNames.join(', ')}`, remedy);
  }
  return action;
}
