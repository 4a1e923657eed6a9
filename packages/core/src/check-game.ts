import { type ActionSpaces, describeSpaces } from './action-spaces';
import { fail, show } from './errors';
import type { ExperienceSpec, Game } from './game';
import { type DescriptionFault, descriptionFaults, specFaults } from './game-description';
import type { DType } from './typed-arrays';

/**
 * Refuses a value that isn't a game, and a game whose description is wrong: names, numbers of actions and of state
 * values, shapes, functions that are missing. Every function that is given a game calls it. How a game plays is checked
 * by `gameContract`.
 *
 * @param where   the function that was given the game, for the message
 * @param spaces  the actions that the function takes: `discrete`, their number the same for every agent, or `any`
 *                spaces. Default `discrete`
 * @param uses    what the function does with the game: it needs the `rules`, which copy and change states; or it only
 *                lets batches `play` it, or reads its description, so that an external game will do. Default `rules`
 * @throws CoplayError that names the first part that is wrong
 */
export function checkGame<State extends DType>(
  where: string,
  game: Game<State, ActionSpaces>,
  spaces: TakenSpaces = 'discrete',
  uses: 'rules' | 'play' = 'rules',
): void {
  if (typeof game !== 'object' || game === null) {
    const remedy = typeof game === 'function' ? 'Call it.' : 'Give what stagHunt() or your own function returns.';
    fail(where, 'a game, such as stagHunt()', show(game), remedy);
  }
  const missing = [!Array.isArray(game.agents) && 'agents', typeof game.step !== 'function' && 'step'].filter(Boolean);
  if (missing.length > 0) {
    const remedy = 'Give what stagHunt() or your own function returns.';
    fail(where, 'a game, such as stagHunt()', `one without ${missing.join(' and ')}`, remedy);
  }
  refuseFirst(where, game.name, descriptionFaults(game));
  if (spaces === 'discrete') checkDiscrete(where, game.name, game.actions);
  if (uses === 'rules' && game.external !== undefined) refuseExternal(where, game.name);
}

/** Refuses an external game in what needs rules. */
export function refuseExternal(where: string, name: string): never {
  const expected = 'a game whose states can be copied';
  const remedy =
    'Use it where a game is only played or described: selfPlay, evaluate, rollouts, PPO, MOA, Dreamer, world models of ' +
    'observations (docs/python-games.md).';
  fail(where, expected, `${name}, whose states are in another program`, remedy);
}

/** The actions that a function takes. */
export type TakenSpaces = 'discrete' | 'any';

/** Refuses actions that aren't a number, the same for every agent. */
function checkDiscrete(where: string, name: string, actions: ActionSpaces): void {
  if (typeof actions === 'number') return;
  const expected = 'discrete actions: a whole number of at least 1, the same for every agent';
  const remedy =
    'docs/spaces.md lists what takes other spaces, such as PPO; of several numbers give the greatest, and mask.';
  fail(`${where}: actions of ${name}`, expected, describeSpaces(actions), remedy);
}

/**
 * Refuses agents, actions and observations that are wrong: for functions that read no more of a game than these.
 *
 * @param where   the function that was given them, for the message
 * @param spaces  the actions that the function takes. Default `discrete`
 * @throws CoplayError that names the first part that is wrong
 */
export function checkExperienceSpec(
  where: string,
  spec: ExperienceSpec<ActionSpaces>,
  spaces: TakenSpaces = 'discrete',
): void {
  if (typeof spec !== 'object' || spec === null) {
    fail(where, 'a game, or its agents, actions and observation', show(spec), 'Give what stagHunt() returns.');
  }
  refuseFirst(where, 'the game', specFaults(spec));
  if (spaces === 'discrete') checkDiscrete(where, 'the game', spec.actions);
}

/**
 * Refuses an episode that lasts longer than the game says: it might never end, and with it what waits for its end.
 *
 * @param where  the function that plays the episode, for the message
 * @param steps  steps of the episode so far
 * @throws CoplayError for more steps than `game.maxSteps`
 */
export function checkEpisodeLength<State extends DType>(
  where: string,
  game: Game<State, ActionSpaces>,
  steps: number,
): void {
  if (steps <= game.maxSteps) return;
  const remedy = 'End every episode by then in the game, or raise its maxSteps.';
  fail(where, `episodes of ${game.name} that end within its maxSteps, ${game.maxSteps}`, `${steps} steps`, remedy);
}

function refuseFirst(where: string, game: string, [fault]: readonly DescriptionFault[]): void {
  if (fault) fail(`${where}: ${fault.part} of ${game}`, fault.expected, fault.got, fault.remedy);
}
