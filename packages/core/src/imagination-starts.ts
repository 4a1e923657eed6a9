import { allocate, dtypeOf } from './arrays';
import { checkExperienceOf } from './check-experience';
import { checkNumber, checkNumbers } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { fail } from './errors';
import type { Experience } from './experience';
import type { Game } from './game';
import { allocateGrid } from './grid-parts';
import { takeRows } from './rows';
import { checkSimulator, type Simulator } from './simulator';
import type { ArrayOf, DType, NDArray } from './typed-arrays';

/** Where B imagined episodes begin: somewhere in the middle of real ones, or at their start. */
export interface ImaginationStarts {
  /** [B, S] states of the simulator's game */
  readonly states: ArrayOf<DType>;
  /** [B, A] the actions of all agents in the previous step; -1 for none */
  readonly previousActions: Int32Array;
  /** [B] 1 where it's the first step of an episode */
  readonly isFirst: Uint8Array;
}

/**
 * Starts of imagined episodes at steps of real experience: for {@link imagine}.
 *
 * A model of observations with a history of L steps learns from steps whose past L steps, or all since the episode's
 * beginning, are in the experience. Give such steps: at others the past is cut off, and the model predicts worse.
 *
 * @param steps  [B] steps e T + t of the experience
 * @param seat   whose observations the states of a grid game are read from, where the experience has no states; and
 *               whose view is imagined, by a model of own views. Default 0
 * @throws CoplayError for experience without states of a game whose states can't be read from observations
 */
export function startsFrom(
  simulator: Simulator,
  experience: Experience,
  steps: Int32Array,
  seat = 0,
): ImaginationStarts {
  const where = 'startsFrom';
  checkSimulator(`${where}: simulator`, simulator);
  const { game } = simulator;
  checkExperienceOf(where, game, experience);
  const agents = game.agents.length;
  checkArgument(where, 'steps', typedArrays('int32'), steps);
  checkNumbers(where, 'steps', steps, { min: 0, max: experience.envs * experience.steps - 1 });
  checkNumber(where, 'seat', seat, { min: 0, max: agents - 1, whole: true });
  const states = simulator.statesAt?.(experience, steps, seat) ?? statesAt(where, game, experience, steps, seat);
  checkStates(where, game, states, steps);
  return {
    states,
    previousActions: takeRows(experience.previousActions, steps, agents),
    isFirst: takeRows(experience.isFirst, steps, 1),
  };
}

/** [B, S] the states of the game that was played. */
function statesAt(where: string, game: Game, experience: Experience, steps: Int32Array, seat: number) {
  const { states } = experience;
  if (states) return takeRows(checkedStates(where, game, states), steps, game.stateSize);
  const seen = allocate(game.stateType, steps.length * game.stateSize);
  const { grid } = game;
  if (!grid) {
    const remedy =
      'Collect it with createRollout, which records states, or imagine with a model of observations ' +
      '("Three kinds of simulator" in docs/world-models.md).';
    fail(`${where}: experience.states`, `the states of ${game.name}`, 'none', remedy);
  }
  const agents = game.agents.length;
  const parts = allocateGrid(grid, agents, 1);
  steps.forEach((step, row) => {
    grid.see(experience.observations, step * agents + seat, seat, parts, 0);
    grid.write(parts, 0, seen, row * game.stateSize);
  });
  return seen;
}

function checkStates(where: string, { stateType, stateSize }: Game, states: ArrayOf<DType>, steps: Int32Array): void {
  const wrong = stateType.startsWith('float') ? states.findIndex((value) => Number.isNaN(value)) : -1;
  if (wrong < 0) return;
  const expected = `numbers in the state at step ${steps[Math.floor(wrong / stateSize)]}`;
  fail(`${where}: experience`, expected, 'NaN', 'Look for it in step() and observe() of the game.');
}

function checkedStates(where: string, game: Game, { data, shape }: NDArray) {
  if (dtypeOf(data) === game.stateType && shape[2] === game.stateSize) return data;
  const expected = `states of ${game.stateSize} ${game.stateType} (${game.name})`;
  const remedy = 'Give experience of the game that the simulator plays.';
  return fail(`${where}: experience.states`, expected, `${shape[2]} ${dtypeOf(data)}`, remedy);
}
