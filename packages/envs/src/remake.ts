import {
  type ActionSpaces,
  type Agent,
  type AgentId,
  type AnyGame,
  fail,
  type Game,
  type Saved,
  show,
} from '@coplay/core';
import { checkRecord, checkText } from '@coplay/core/checks';
import { freeRider, mixed, nearestDrift, nearestHare, nearestStag, randomAgent, titForTat } from './agents';
import { cartPole, catchGame, gymEscalation, gymHarvest, gymHunt, pendulum } from './classic';
import { levelForaging } from './foraging';
import { matrixGame } from './matrix';
import { overcooked } from './overcooked';
import { simpleSpeakerListener, simpleSpread, simpleTag } from './particle';
import { snowdrift } from './snowdrift';
import { stagHunt } from './stag-hunt';
import { limitedView, permuteSeats, timeLimit, withAgentId, withPreviousActions, wrappersOf } from './wrappers';

type Options = Readonly<Record<string, unknown>>;

/** Makers of games with discrete actions by `game.name`; the name of a matrix game goes on with its kind. */
export const gamesByName = {
  'stag-hunt': stagHunt,
  snowdrift,
  matrix: matrixGame,
  'cart-pole': cartPole,
  catch: catchGame,
  'gym-hunt': gymHunt,
  'gym-harvest': gymHarvest,
  'gym-escalation': gymEscalation,
  'level-foraging': levelForaging,
  overcooked,
  'simple-spread': simpleSpread,
  'simple-tag': simpleTag,
  'simple-speaker-listener': simpleSpeakerListener,
} satisfies Readonly<Record<string, (options: never) => Game>>;

const GAMES: Readonly<Record<string, (options: never) => AnyGame>> = { ...gamesByName, pendulum };

/** Wrappers by the option in which they say that they are there; their values are JSON. */
const WRAPPERS: Readonly<Record<string, (game: Game, value: unknown) => Game>> = {
  limitedView: (game, radius) => limitedView(game, radius as number),
  permuteSeats: (game) => permuteSeats(game),
  timeLimit: (game, steps) => timeLimit(game, steps as number),
  withAgentId: (game) => withAgentId(game),
  withPreviousActions: (game) => withPreviousActions(game),
};

/** Rules by `agent.name`, up to the first bracket. */
const RULES: Readonly<Record<string, (options: never) => object>> = {
  Random: randomAgent,
  NearestStag: nearestStag,
  NearestHare: nearestHare,
  Mixed: mixed,
  TitForTat: titForTat,
  NearestDrift: nearestDrift,
  FreeRider: freeRider,
};

/** A game as run directories and recordings describe it: `game.name` and `game.options`, as JSON. */
export interface GameDescription {
  /** `stag-hunt`, `matrix-chicken` */
  readonly name: string;
  /** As JSON, those of wrappers included. */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * A game of this package from its description, with its wrappers: such as `config.json` of a run has.
 *
 * @throws CoplayError for a game or wrapper that this package can't make, and for options that the game doesn't have
 */
export function remakeGame(description: GameDescription): AnyGame {
  checkRecord('remakeGame', 'description', description);
  const { name, options } = description;
  checkText('remakeGame', 'description.name', name);
  checkRecord('remakeGame', 'description.options', options);
  const family = name.startsWith('matrix-') ? 'matrix' : name;
  if (!Object.hasOwn(GAMES, family)) {
    const remedy = 'Make it yourself, by its own function.';
    fail('remakeGame', `one of ${Object.keys(GAMES).join(', ')}`, show(name), remedy);
  }
  const { own, wrappers } = wrappersOf(options);
  let game = (GAMES[family] as (options: Options) => AnyGame)(own);
  for (const [wrapper, value] of wrappers) {
    if (!Object.hasOwn(WRAPPERS, wrapper)) {
      const expected = `a game in wrappers that JSON describes: ${Object.keys(WRAPPERS).join(', ')}`;
      fail('remakeGame', expected, `${name} in ${wrapper}`, 'Make it yourself, by its own functions.');
    }
    game = WRAPPERS[wrapper](game as Game, value) as AnyGame;
  }
  return game;
}

/** A rule as run directories describe it: the seat, `agent.name` and `agent.options`, as JSON. */
export interface RuleDescription {
  readonly game: AnyGame;
  /** One of `game.agents`. */
  readonly id: AgentId;
  /** `NearestStag`, `Mixed(0.5)` */
  readonly name: string;
  /** As JSON. */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * A rule-based agent of this package from its description.
 *
 * @throws CoplayError for another name, and for options that the rule doesn't have
 */
export function remakeRule(description: RuleDescription): Agent<Saved, ActionSpaces> {
  checkRecord('remakeRule', 'description', description);
  const { game, id, name, options } = description;
  checkText('remakeRule', 'name', name);
  checkRecord('remakeRule', 'options', options);
  const rule = name.split('(')[0];
  if (!Object.hasOwn(RULES, rule)) {
    fail('remakeRule', `one of ${Object.keys(RULES).join(', ')}`, show(name), 'Make it yourself, by its own function.');
  }
  const make = RULES[rule] as (options: object) => Agent<Saved, ActionSpaces>;
  return make({ ...options, game, id });
}
