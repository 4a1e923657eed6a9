import {
  type ActionSpaces,
  checkOptions,
  type Experience,
  fail,
  type GoalSet,
  type NamedArrays,
  ndarray,
  show,
} from '@coplay/core';
import {
  checkArgument,
  checkExperience,
  checkNumber,
  checkNumbers,
  namedArrays,
  ndarrays,
  reachedGoal,
} from '@coplay/core/checks';
import { gatherRows, nonZero, rowCount } from '@coplay/core/rows';
import { z } from 'zod';
import { agentRows, splitEpisodes } from '../episodes';
import { goalsInHindsight, goalsReached, NO_STATES, observationsOf } from './hindsight';

/** Options of {@link moaRows}. */
export interface MoaRowsOptions {
  /**
   * What agents of the game may be after (`game.goals`): each step is labelled, in hindsight, with the goal that was
   * reached next. Where an agent leaves with the first goal that it reaches, that's one goal for the whole episode.
   */
  readonly goals?: GoalSet | undefined;
  /** Leaves out episodes in which no goal was reached. Default false: their goal is -1, unknown */
  readonly caughtOnly?: boolean | undefined;
}

const goalSet = z.custom<GoalSet>(isGoalSet, 'the goals of a game: game.goals');
const rowsSchema = z.strictObject({ goals: goalSet.optional(), caughtOnly: z.boolean().optional() });
const attemptSchema = z.looseObject({
  ...{ isFirst: ndarrays, actions: ndarrays, previousActions: ndarrays, terminated: ndarrays, goals: ndarrays },
});

/** The columns of {@link agentRows} that a model of another agent learns from, in addition to its observations. */
const COLUMNS = ['masks', 'previousActions', 'actions', 'terminated', 'active'];

/**
 * One agent's whole episodes as rows for a model of it: the steps in which it played, those after it left never.
 * Episodes that began before the experience or go on after it are left out.
 *
 * @param seat  the agent's index in `experience.agents`
 * @returns `observations/<field>` [N, ...], `masks` [N, K], `previousActions` [N, A] of everyone, `actions` int32 [N]
 *          (in other spaces [N, A, W] and [N, W]), `goals` int32 [N] in -1..G-1, the same in all steps up to that in
 *          which it's reached, `isFirst` [N] 1 in the first step of an episode, `terminated` [N] 1 in the step in which
 *          the rules ended the agent, and `active` [N], all 1
 * @throws CoplayError for imagined experience, for experience without states where the goals read them, for goals where
 *         actions aren't one number, and for a `reached` that returns anything but 0..G-1 or -1
 */
export function moaRows(experience: Experience<ActionSpaces>, seat: number, options: MoaRowsOptions = {}): NamedArrays {
  checkExperience('moaRows', experience, 'experience', 'any');
  checkNumber('moaRows', 'seat', seat, { min: 0, max: experience.agents.length - 1, whole: true });
  const { goals, caughtOnly } = checkOptions('moaRows', rowsSchema, options);
  if (experience.isImagined.includes(1)) {
    const remedy = 'A model that learns from what it imagined agrees with itself: give it real episodes only.';
    fail('moaRows', 'real experience', 'imagined episodes', remedy);
  }
  const episodes = splitEpisodes(experience);
  const seated = agentRows(episodes, seat);
  const places = placesOf(episodes, seat);
  const numbers = places.map((place) => Math.floor(place / episodes.steps));
  const count = numbers.length;
  const rows: NamedArrays = { active: ndarray(new Uint8Array(count).fill(1)) };
  for (const name in seated) {
    if (name.startsWith('observations/') || COLUMNS.includes(name)) rows[name] = seated[name];
  }
  rows['isFirst'] = ndarray(Uint8Array.from(numbers, (number, row) => (number === numbers[row - 1] ? 0 : 1)));
  rows['goals'] = ndarray(new Int32Array(count).fill(-1));
  if (goals) {
    refuseOtherSpaces(experience);
    const reached = goalsReached(episodes, seat, places, rows, goals);
    rows['goals'] = ndarray(goalsInHindsight(reached, numbers, goals.noGoal));
  }
  if (!caughtOnly) return rows;
  const { data } = rows['goals'];
  return gatherRows(rows, nonZero(data.map((goal) => (goal >= 0 ? 1 : 0))));
}

/**
 * Episodes cut short after the first step in which the agent tried for a goal in vain, and another one than it reached
 * in the end: up to there it acted as an agent with that goal would (as in hindsight experience replay, Andrychowicz et
 * al. 2017). For goals that are hardly ever reached.
 *
 * @param rows  as {@link moaRows} makes them
 * @param seat  the agent's index in `game.agents`
 * @returns such rows, with `goals` of the goal that was tried for
 * @throws CoplayError for goals that read states: a try in vain has no state after it in which the goal was reached;
 *         and for a `reached` that returns anything but 0..G-1 or -1
 */
export function attemptRows(rows: NamedArrays, seat: number, goals: GoalSet): NamedArrays {
  checkArgument('attemptRows', 'rows', namedArrays, rows);
  checkArgument('attemptRows', 'rows', attemptSchema, rows);
  rowCount('attemptRows', rows);
  const agents = rows['previousActions'].shape[1];
  checkNumber('attemptRows', 'seat', seat, { min: 0, max: agents - 1, whole: true });
  checkArgument('attemptRows', 'goals', goalSet, goals);
  refuseAttempts('attemptRows: goals', goals);
  const { isFirst, actions, terminated } = rows;
  const observations = observationsOf(rows);
  const taken: number[] = [];
  const labels: number[] = [];
  const count = isFirst.data.length;
  for (let start = 0, end = 1; start < count; start = end++) {
    while (end < count && isFirst.data[end] === 0) end++;
    for (let row = start; row < end; row++) {
      const action = actions.data[row];
      const step = { agent: seat, action, left: true, observations, row, ...NO_STATES };
      const tried = terminated.data[row] === 1 ? -1 : reachedGoal('attemptRows: goals.reached', goals, step);
      if (tried < 0 || tried === rows['goals'].data[row]) continue;
      for (let step = start; step <= row; step++) {
        taken.push(step);
        labels.push(tried);
      }
      break;
    }
  }
  return { ...gatherRows(rows, taken), goals: ndarray(Int32Array.from(labels)) };
}

/** Whether a value has the parts of a game's goals that labels need. */
export function isGoalSet(value: unknown): boolean {
  const goals = value as Partial<GoalSet> | null | undefined;
  return typeof goals?.reached === 'function' && Array.isArray(goals.names);
}

/** Refuses goals whose attempts can't be recognised. */
export function refuseAttempts(where: string, goals: GoalSet): void {
  if (!goals.readsStates) return;
  const remedy =
    'Leave attempts out: only an action and an observation show an attempt ("Goals" in docs/writing-an-environment.md).';
  fail(where, 'goals that are recognised without states', 'goals with readsStates', remedy);
}

/** Refuses to look for goals in actions that they can't read. */
function refuseOtherSpaces({ actionSpaces }: Experience<ActionSpaces>): void {
  if (!actionSpaces) return;
  const remedy = 'Leave goals out: they are recognised by discrete actions (docs/spaces.md).';
  fail('moaRows: option goals', 'none where actions are not one number', 'goals', remedy);
}

/** [N] the place e T + t of each step in which the agent played. */
function placesOf({ envs, steps, agents, active }: Experience<ActionSpaces>, seat: number): Int32Array {
  const places: number[] = [];
  for (let place = 0; place < envs * steps; place++) {
    if (active[place * agents.length + seat] === 1) places.push(place);
  }
  return Int32Array.from(places);
}

/** The columns that rows for a model of another agent need in addition to observations. */
const NEEDED = ['masks', 'previousActions', 'actions', 'goals', 'isFirst', 'terminated', 'active'];

/**
 * Refuses rows of steps after the agent left: where it can only stay, a model learns that it always stays (its recall
 * of every other action falls to 0).
 */
export function checkMoaRows(where: string, rows: NamedArrays): void {
  checkArgument(where, 'rows', namedArrays, rows);
  rowCount(where, rows);
  for (const name of NEEDED) {
    if (!rows[name]) fail(where, `a column ${name}`, show(rows), 'Make rows with moaRows(experience, seat).');
  }
  const { active, isFirst, terminated } = rows;
  const remedy = 'Leave out the steps after an agent left; moaRows(experience, seat) does.';
  for (let row = 0; row < active.data.length; row++) {
    const isAfterEnd = row > 0 && terminated.data[row - 1] === 1 && isFirst.data[row] === 0;
    if (active.data[row] === 1 && !isAfterEnd) continue;
    fail(where, 'steps in which the agent played', `a step after it had left, in row ${row}`, remedy);
  }
  if (active.data.length > 0 && isFirst.data[0] !== 1) {
    fail(where, 'whole episodes, the first row with isFirst 1', 'the rest of an episode', 'Push whole episodes.');
  }
}

/**
 * Refuses saved rows whose numbers no game gives: flags and masks other than 0 and 1, goals and actions that don't
 * exist, and actions that were not legal. Of actions that aren't one number only that they are finite.
 *
 * @param rows   at least one, as {@link checkMoaRows} takes them
 * @param goals  G; undefined where it isn't known
 */
export function checkMoaValues(where: string, rows: NamedArrays, goals: number | undefined): void {
  const { masks, actions, previousActions } = rows;
  const K = masks.data.length / actions.data.length;
  for (const name of ['active', 'isFirst', 'terminated', 'masks']) {
    checkNumbers(where, `saved.rows.${name}`, rows[name].data, { min: 0, max: 1 });
  }
  if (actions.shape.length > 1) {
    // Of other spaces, which the rows don't say.
    checkNumbers(where, 'saved.rows.actions', actions.data);
    return;
  }
  checkNumbers(where, 'saved.rows.actions', actions.data, { min: 0, max: K - 1 });
  checkNumbers(where, 'saved.rows.previousActions', previousActions.data, { min: -1, max: K - 1 });
  checkNumbers(where, 'saved.rows.goals', rows['goals'].data, {
    min: -1,
    ...(goals !== undefined && { max: goals - 1 }),
  });
  for (let row = 0; row < actions.data.length; row++) {
    const action = actions.data[row];
    if (masks.data[row * K + action] === 1) continue;
    const remedy = 'Give what state() returned.';
    fail(`${where}: saved.rows.actions`, `a legal action in row ${row}`, `${action}, whose mask is 0`, remedy);
  }
}
