import {
  checkGame,
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
import { allocateGrid, copyRow, type GridArrays, sizeOf } from '@coplay/core/arrays';
import { takeRows } from '@coplay/core/rows';
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
  if (!grid) fail(where, 'a game with grid parts', game.name, 'Use observationTransitions.');
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
    ...played(experience, places),
    'next/cells': ndarray(after.cells, [rows, agents]),
    'next/things': ndarray(after.things, [rows, things, cells]),
  };
}

/**
 * Transitions of any game, as the observations of all agents: each field [B, A, ...shape] and `next/FIELD`, `actions`
 * int32 [B, A] (-1 for agents that had left), `active` uint8 [B, A] before the step, `rewards` [B, A], and
 * `next/terminated` uint8 [B, A].
 *
 * @throws CoplayError for imagined experience
 */
export function observationTransitions(experience: Experience): NamedArrays {
  const places = transitionPlaces('observationTransitions', experience);
  const { observation, observations, cuts, agents } = experience;
  const rows: NamedArrays = {};
  for (const [name, field] of Object.entries(observation)) {
    const shape = [agents.length, ...field.shape];
    rows[name] = takeSteps(observations[name], places.steps, shape);
    rows[`next/${name}`] = takeNext(observations[name], cuts.observations[name], places, shape);
  }
  return {
    ...rows,
    active: takeSteps(experience.active, places.steps, [agents.length]),
    ...played(experience, places),
    'next/terminated': takeSteps(experience.terminated, places.steps, [agents.length]),
  };
}

/** Actions and rewards. */
function played({ actions, active, rewards, agents }: Experience, { steps }: TransitionPlaces): NamedArrays {
  const shape = [agents.length];
  const chosen = Int32Array.from(actions, (action, i) => (active[i] === 1 ? action : -1));
  return { actions: takeSteps(chosen, steps, shape), rewards: takeSteps(rewards, steps, shape) };
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
