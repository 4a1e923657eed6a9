import { z } from 'zod';
import type { ActionArray, ActionSpaces } from './action-spaces';
import { checkCount } from './check-values';
import { checkArgument } from './checks';
import { fail } from './errors';
import type { AgentId, Game, StepArrays } from './game';
import type { ArrayOf, DType } from './typed-arrays';

/** Of a batch of environments with A agents: the active agents [rows, A] and the previous actions [rows, A, W]. */
interface ActingRows {
  readonly agents: readonly AgentId[];
  readonly active: Uint8Array;
  readonly previousActions: ActionArray;
}

/**
 * Writes row `env` of `previousActions`: the actions of active agents, "none" for the others.
 *
 * @param width  W, values of an action
 * @param none   -1, or NaN where an agent has a box
 */
export function rememberActions(
  { active, previousActions, agents }: ActingRows,
  env: number,
  actions: ActionArray,
  width = 1,
  none = -1,
): void {
  if (width === 1) {
    for (let row = env * agents.length; row < (env + 1) * agents.length; row++) {
      previousActions[row] = active[row] === 1 ? actions[row] : none;
    }
    return;
  }
  for (let row = env * agents.length; row < (env + 1) * agents.length; row++) {
    for (let i = row * width; i < (row + 1) * width; i++) previousActions[i] = active[row] === 1 ? actions[i] : none;
  }
}

/** Whether every agent of row `env` has ended, by the rules or by the time limit. */
export function isOver({ terminated, truncated }: StepArrays, env: number, agents: number): boolean {
  for (let row = env * agents; row < (env + 1) * agents; row++) {
    if (terminated[row] === 0 && truncated[row] === 0) return false;
  }
  return true;
}

/** Whether an episode is over in a state: all agents have left, or the time is up. */
export function isOverState<State extends DType>(
  game: Game<State, ActionSpaces>,
  states: ArrayOf<State>,
  offset: number,
): boolean {
  return (
    game.elapsed(states, offset) >= game.maxSteps ||
    !game.agents.some((_, agent) => game.isActive(states, offset, agent))
  );
}

/**
 * Reads a layout that an episode starts from.
 *
 * @throws CoplayError for a game without layouts, a layout that the game refuses, and one in which the episode is over
 */
export function readStart<State extends DType>(
  where: string,
  game: Game<State, ActionSpaces>,
  layout: unknown,
  state: ArrayOf<State>,
): void {
  if (!game.readLayout) {
    const remedy =
      'Leave the layout out, or give the game readLayout ("Optional parts" in docs/writing-an-environment.md).';
    fail(where, 'a game with layouts', `${game.name}, which has no readLayout`, remedy);
  }
  game.readLayout(layout, state, 0);
  if (!isOverState(game, state, 0)) return;
  const got = `one after ${game.elapsed(state, 0)} of ${game.maxSteps} steps in which no agent can play on`;
  fail(`${where}: layout`, 'a state from which the episode goes on', got, 'Give fewer steps, and an active agent.');
}

const sizedSchema = z.looseObject({ agents: z.array(z.string()), infos: z.array(z.string()) });

/** Zeroed step arrays for `rows` environments of a game. */
export function allocateStepArrays(game: Pick<Game, 'agents' | 'infos'>, rows: number): StepArrays {
  checkArgument('allocateStepArrays', 'game', sizedSchema, game);
  checkCount('allocateStepArrays', 'rows', rows);
  const size = rows * game.agents.length;
  return {
    rewards: new Float32Array(size),
    terminated: new Uint8Array(size),
    truncated: new Uint8Array(size),
    infos: Object.fromEntries(game.infos.map((name) => [name, new Float32Array(size)])),
  };
}
