import {
  allocate,
  checkGame,
  checkOptions,
  type Experience,
  fail,
  type Game,
  type NamedArrays,
  type NDArray,
  ndarray,
  type ObservationArrays,
  show,
  type TypedArray,
} from '@coplay/core';
import { allocateGrid, copyRow, dtypeOf, type GridArrays, sizeOf } from '@coplay/core/arrays';
import {
  checkArgument,
  checkExperience,
  checkFieldNames,
  checkNumbers,
  checkRecord,
  typedArrays,
} from '@coplay/core/checks';
import { takeRows } from '@coplay/core/rows';
import { z } from 'zod';
import { type TransitionPlaces, transitionPlaces } from './places';

/**
 * Transitions of a grid game, as the parts that one seat saw: `cells` [B, A], `things` [B, M, HW], `fixed` [B, F, HW],
 * `elapsed` [B], `actions` int32 [B, A] (-1 for agents that had left), `rewards` [B, A], `next/cells`, `next/things`.
 *
 * @param seat  whose observations are read; all see the same, also after they left. Default 0
 * @throws CoplayError for a game without grid parts, and for imagined experience
 */
export function gridTransitions(game: Game, experience: Experience, seat = 0): NamedArrays {
  const where = 'gridTransitions';
  checkGame(where, game);
  const { grid } = game;
  if (!grid) {
    const remedy =
      'Use observationTransitions, or give the game grid parts ("Optional parts" in docs/writing-an-environment.md).';
    fail(where, 'a game with grid parts', game.name, remedy);
  }
  const agents = game.agents.length;
  if (!Number.isInteger(seat) || seat < 0 || seat >= agents) {
    fail(where, `a seat from 0 to ${agents - 1}`, show(seat), 'Give the seat whose observations are to be read.');
  }
  const places = transitionPlaces(where, experience);
  const rows = places.steps.length;
  const [before, after] = [allocateGrid(grid, agents, rows), allocateGrid(grid, agents, rows)];
  const see = (from: ObservationArrays, place: number, to: GridArrays, row: number) =>
    grid.see(from, place * agents + seat, seat, to, row);
  for (let row = 0; row < rows; row++) {
    see(experience.observations, places.steps[row], before, row);
    const next = places.next[row];
    if (next >= 0) see(experience.observations, next, after, row);
    else see(experience.cuts.observations, -1 - next, after, row);
  }
  const cells = grid.rows * grid.columns;
  const [things, fixed] = [grid.things.length, grid.fixed.length];
  return {
    cells: ndarray(before.cells, [rows, agents]),
    things: ndarray(before.things, [rows, things, cells]),
    fixed: ndarray(before.fixed, [rows, fixed, cells]),
    elapsed: ndarray(before.elapsed),
    actions: takeSteps(playedActions(experience), places.steps, [agents]),
    rewards: takeSteps(experience.rewards, places.steps, [agents]),
    'next/cells': ndarray(after.cells, [rows, agents]),
    'next/things': ndarray(after.things, [rows, things, cells]),
  };
}

/** Options of {@link observationTransitions}. */
export interface ObservationRowOptions {
  /** L, steps before each that are added as `past/FIELD` and `past/actions`, 0 or more. Default 0 */
  readonly history?: number;
  /**
   * Counts the steps played in each episode, where the experience has states. Default: from the episode's start, or
   * from the first step of the experience where it started before that
   */
  readonly game?: Game;
}

/**
 * Transitions of any game, as the observations of all agents: each field [B, A, ...shape] and `next/FIELD`, `masks`
 * uint8 [B, A, K] and `next/masks`, `actions` int32 [B, A] (-1 for agents that had left), `active` uint8 [B, A] before
 * the step, `elapsed` int32 [B], `rewards` [B, A], and `next/terminated` uint8 [B, A]. With `history` L also
 * `past/FIELD` [B, L, A, ...shape] and `past/actions` int32 [B, L, A], the oldest step first; actions are -1 where the
 * episode, or the experience, hadn't begun.
 *
 * @throws CoplayError for imagined experience
 */
export function observationTransitions(experience: Experience, options: ObservationRowOptions = {}): NamedArrays {
  const where = 'observationTransitions';
  checkRowOptions(where, options);
  const places = transitionPlaces(where, experience);
  const { observation, observations, cuts, agents, terminated, rewards, masks, actionCount: K } = experience;
  const A = agents.length;
  const rows = observationRows(experience, places.steps, options);
  for (const [name, field] of Object.entries(observation)) {
    rows[`next/${name}`] = takeNext(observations[name], cuts.observations[name], places, [A, ...field.shape]);
  }
  return {
    ...rows,
    rewards: takeSteps(rewards, places.steps, [A]),
    'next/masks': takeNext(masks, cuts.masks, places, [A, K]),
    'next/terminated': takeSteps(terminated, places.steps, [A]),
  };
}

/**
 * The columns of {@link observationTransitions} that are known before a step.
 *
 * @param steps  [B] steps e T + t of the experience
 */
export function observationRows(
  experience: Experience,
  steps: Int32Array,
  options: ObservationRowOptions = {},
): NamedArrays {
  const where = 'observationRows';
  checkExperience(where, experience);
  checkArgument(where, 'steps', typedArrays('int32'), steps);
  checkNumbers(where, 'steps', steps, { min: 0, max: experience.envs * experience.steps - 1 });
  const { history, game } = checkRowOptions(where, options);
  const { observation, observations, agents, actionCount: K, masks, active } = experience;
  const A = agents.length;
  checkFieldNames(`${where}: experience.observation`, observation);
  const rows: NamedArrays = {};
  for (const [name, { shape }] of Object.entries(observation)) {
    rows[name] = takeSteps(observations[name], steps, [A, ...shape]);
  }
  rows['masks'] = takeSteps(masks, steps, [A, K]);
  rows['active'] = takeSteps(active, steps, [A]);
  rows['elapsed'] = ndarray(elapsedAt(experience, steps, game));
  rows['actions'] = takeSteps(playedActions(experience), steps, [A]);
  if (history > 0) Object.assign(rows, pastRows(experience, steps, history));
  return rows;
}

const optionsSchema = z.strictObject({ history: z.int().min(0).default(0), game: z.unknown().optional() });

function checkRowOptions(where: string, options: ObservationRowOptions) {
  checkRecord(where, 'options', options);
  const { history } = checkOptions(where, optionsSchema, options);
  if (options.game !== undefined) checkGame(`${where}: option game`, options.game, 'discrete', 'play');
  return { history, game: options.game };
}

/** [B] steps that were played before. */
function elapsedAt(experience: Experience, steps: Int32Array, game: Game | undefined): Int32Array {
  const { states, isFirst } = experience;
  if (game && states) return steps.map((step) => game.elapsed(states.data, step * game.stateSize));
  return steps.map((step) => {
    let played = 0;
    for (let at = step; at % experience.steps > 0 && isFirst[at] === 0; at--) played++;
    return played;
  });
}

/** The columns of the L steps before. */
function pastRows(experience: Experience, steps: Int32Array, L: number): NamedArrays {
  const { observation, observations, agents } = experience;
  const A = agents.length;
  const places = new Int32Array(steps.length * L).fill(-1); // of past steps; -1 for none
  steps.forEach((step, row) => {
    let at = step;
    for (let l = L - 1; l >= 0 && at % experience.steps > 0 && experience.isFirst[at] === 0; l--) {
      places[row * L + l] = --at;
    }
  });
  const take = (data: TypedArray, shape: readonly number[], none: number): NDArray => {
    const size = sizeOf(shape);
    const taken = allocate(dtypeOf(data), places.length * size).fill(none);
    places.forEach((place, i) => {
      if (place >= 0) copyRow(data, place, taken, i, size);
    });
    return { data: taken, shape: [steps.length, L, ...shape] };
  };
  const fields = Object.entries(observation).map(([name, { shape }]) => {
    return [`past/${name}`, take(observations[name], [A, ...shape], 0)];
  });
  return { ...Object.fromEntries(fields), 'past/actions': take(playedActions(experience), [A], -1) };
}

/** [E, T, A] -1 for agents that had left */
function playedActions({ actions, active }: Experience): Int32Array {
  return actions.map((action, i) => (active[i] === 1 ? action : -1));
}

function takeSteps(from: TypedArray, places: Int32Array, shape: readonly number[]): NDArray {
  return { data: takeRows(from, places, sizeOf(shape)), shape: [places.length, ...shape] };
}

function takeNext(stream: TypedArray, cuts: TypedArray, { next }: TransitionPlaces, shape: readonly number[]): NDArray {
  const size = sizeOf(shape);
  const taken = new (stream.constructor as new (length: number) => TypedArray)(next.length * size);
  next.forEach((place, row) => {
    if (place >= 0) copyRow(stream, place, taken, row, size);
    else copyRow(cuts, -1 - place, taken, row, size);
  });
  return { data: taken, shape: [next.length, ...shape] };
}
