import type { Experience, Game, GridParts } from '@coplay/core';
import { allocateGrid } from '@coplay/core/arrays';
import { ACTIONS, type Board, HUNT_HARE, HUNT_STAG, type PlayerRules, STAG_HUNTER, STAY, type Waits } from './rules';

/**
 * The best possible predictions of a player's next action, [N, K] each, rows as `moaRows` gives them. Exact conditional
 * distributions:
 * - `type`: given the present state and the player's type;
 * - `history`: given the episode so far, the type by Bayes' rule over the player's actions;
 * - `present`: given the present state and, beyond it, the others' whole past and types, but nothing of the player's
 *   own past. No predictor of the present state alone can be better than this one: it is an upper bound;
 * - `stateOnly`: a predictor of the present state alone, as if the prey had been as now from the start and no other
 *   agent had been there. It isn't a distribution to score by: its own result, scored by `present`, is a lower bound of
 *   the best.
 */
export interface Optima {
  readonly type: Float64Array;
  readonly history: Float64Array;
  readonly present: Float64Array;
  readonly stateOnly: Float64Array;
}

/** What everyone can see of an episode. T steps, A agents. */
export interface Seen {
  /** By step. */
  readonly boards: readonly Board[];
  /** [T][A] cells; the number of cells for agents that have left */
  readonly cells: readonly Int32Array[];
  /** [T][A] */
  readonly actions: readonly Int32Array[];
}

/** One episode as the rules see it. */
interface Episode extends Seen {
  /** [A] */
  readonly types: Int32Array;
}

const TYPES = [0, 1];

/**
 * The optima of one seat's rows.
 *
 * @param episodes  one in each row, with the extra `types` [E, T, A]
 */
export function optimaOf(game: Game, rules: PlayerRules, waits: Waits, episodes: Experience, seat: number): Optima {
  const rows = countActive(episodes, seat);
  const optima = Object.fromEntries(
    ['type', 'history', 'present', 'stateOnly'].map((name) => [name, new Float64Array(rows * ACTIONS)]),
  ) as Record<keyof Optima, Float64Array>;
  const pasts = statePasts(rules);
  let row = 0;
  for (let e = 0; e < episodes.envs; e++) {
    const episode = readEpisode(game, episodes, e);
    const steps = stepsOf(rules, episode, seat);
    const present = presentPosteriors(rules, waits, episode, seat);
    let evidence = [0.5, 0.5];
    steps.forEach((byType, t) => {
      const at = row++ * ACTIONS;
      optima.type.set(byType[episode.types[seat]], at);
      optima.history.set(mix(byType, evidence), at);
      optima.present.set(mix(byType, present[t]), at);
      optima.stateOnly.set(mix(byType, pasts(episode.boards[t], t, episode.cells[t][seat])), at);
      evidence = normalised(TYPES.map((type) => evidence[type] * byType[type][episode.actions[t][seat]]));
    });
  }
  return optima;
}

function countActive({ active, agents }: Experience, seat: number): number {
  let count = 0;
  for (let i = seat; i < active.length; i += agents.length) count += active[i];
  return count;
}

/** The observations of episode `e`. */
export function seenOf(game: Game, episodes: Experience, e: number): Seen {
  const grid = game.grid as GridParts;
  const agents = game.agents.length;
  const size = grid.rows * grid.columns;
  const boards: Board[] = [];
  const cells: Int32Array[] = [];
  const actions: Int32Array[] = [];
  for (let t = 0; t < episodes.lengths[e]; t++) {
    const parts = allocateGrid(grid, agents, 1);
    const first = (e * episodes.steps + t) * agents;
    grid.see(episodes.observations, first, 0, parts, 0); // everyone sees all of it, also who has left
    boards.push({
      stags: parts.things.slice(0, size),
      hares: parts.things.slice(size, 2 * size),
      obstacles: parts.fixed.slice(0, size),
    });
    cells.push(parts.cells);
    actions.push(episodes.actions.slice(first, first + agents));
  }
  return { boards, cells, actions };
}

function readEpisode(game: Game, episodes: Experience, e: number): Episode {
  const agents = game.agents.length;
  const types = Int32Array.from(game.agents, (_, agent) => {
    return episodes.extras['types'].data[e * episodes.steps * agents + agent];
  });
  return { ...seenOf(game, episodes, e), types };
}

/** For each step of a seat, what either type does. */
export function stepsOf(rules: PlayerRules, { boards, cells }: Seen, seat: number): Float64Array[][] {
  const steps: Float64Array[][] = [];
  for (let t = 0; t < boards.length && cells[t][seat] < rules.cells; t++) {
    const cell = cells[t][seat];
    steps.push(TYPES.map((type) => rules.distribution(type, boards[t], cell, isOn(cells[t], cell, seat))));
  }
  return steps;
}

/** Whether any agent except `seat` (and `other`) is on a cell. */
function isOn(cells: Int32Array, cell: number, seat: number, other = seat): boolean {
  return cells.some((where, agent) => agent !== seat && agent !== other && where === cell);
}

/**
 * P(type | where the player is, everything of the others) for each of a seat's steps: the player's past is summed out,
 * over every start and every way that could have been gone among the others as they went.
 */
function presentPosteriors(rules: PlayerRules, waits: Waits, episode: Episode, seat: number): number[][] {
  const { boards, cells } = episode;
  const posteriors: number[][] = [];
  let weights = TYPES.map(() => startWeights(rules, boards[0], cells[0], seat));
  for (let t = 0; t < boards.length && cells[t][seat] < rules.cells; t++) {
    posteriors.push(normalised(weights.map((own) => own[cells[t][seat]])));
    weights = TYPES.map((type) => goneOn(rules, waits, episode, seat, t, type, weights[type]));
    const total = weights.reduce((sum, own) => sum + own.reduce((a, b) => a + b, 0), 0);
    weights = weights.map((own) => own.map((weight) => weight / total));
  }
  return posteriors;
}

/** Starts are distinct free cells, each as likely as any other. */
function startWeights(rules: PlayerRules, board: Board, cells: Int32Array, seat: number): Float64Array {
  const isFree = (cell: number) => board.stags[cell] + board.hares[cell] + board.obstacles[cell] === 0;
  return Float64Array.from({ length: rules.cells }, (_, cell) => (isFree(cell) && !isOn(cells, cell, seat) ? 1 : 0));
}

/**
 * One step on, of a player of a type who may be anywhere, given that it did not leave and the others took their
 * actions.
 */
function goneOn(
  rules: PlayerRules,
  waits: Waits,
  episode: Episode,
  seat: number,
  t: number,
  type: number,
  weights: Float64Array,
): Float64Array {
  const { boards, cells, actions } = episode;
  const next = new Float64Array(rules.cells);
  for (let cell = 0; cell < rules.cells; cell++) {
    if (weights[cell] === 0) continue;
    const weight = weights[cell] * (waits === 'stay' ? othersGiven(rules, episode, seat, t, cell) : 1);
    if (weight === 0) continue;
    const isJoint = cells[t].some((where, k) => k !== seat && where === cell && actions[t][k] === HUNT_STAG);
    const probabilities = rules.distribution(type, boards[t], cell, isOn(cells[t], cell, seat));
    probabilities.forEach((probability, action) => {
      const catches = action === HUNT_HARE || (action === HUNT_STAG && isJoint);
      if (probability > 0 && !catches) next[rules.target(cell, action)] += weight * probability;
    });
  }
  return next;
}

/** 1 where the others' actions are possible if the player was on `cell`, else 0: waiting for company shows it. */
function othersGiven(
  rules: PlayerRules,
  { boards, cells, actions, types }: Episode,
  seat: number,
  t: number,
  cell: number,
) {
  for (let k = 0; k < types.length; k++) {
    const where = cells[t][k];
    const isWaiting = k !== seat && where < rules.cells && types[k] === STAG_HUNTER && boards[t].stags[where] === 1;
    if (!isWaiting) continue;
    const hasCompany = where === cell || isOn(cells[t], where, seat, k);
    if (actions[t][k] !== (hasCompany ? HUNT_STAG : STAY)) return 0;
  }
  return 1;
}

/** P(type | board, step, cell) of a player alone on a board that was always as it is now. */
function statePasts(rules: PlayerRules): (board: Board, t: number, cell: number) => number[] {
  const known = new Map<string, Float64Array[][]>();
  return (board, t, cell) => {
    const key = `${board.stags.join('')}/${board.hares.join('')}/${board.obstacles.join('')}`;
    const steps = known.get(key) ?? [TYPES.map(() => startWeights(rules, board, new Int32Array(0), 0))];
    known.set(key, steps);
    while (steps.length <= t) steps.push(TYPES.map((type) => alone(rules, board, type, steps[steps.length - 1][type])));
    return normalised(steps[t].map((own) => own[cell]));
  };
}

function alone(rules: PlayerRules, board: Board, type: number, weights: Float64Array): Float64Array {
  const next = new Float64Array(rules.cells);
  weights.forEach((weight, cell) => {
    if (weight === 0) return;
    rules.distribution(type, board, cell, false).forEach((probability, action) => {
      if (probability > 0 && action !== HUNT_HARE) next[rules.target(cell, action)] += weight * probability;
    });
  });
  return next;
}

/** Weights that sum to 1; even where all are 0 (a state that an assumption calls impossible). */
function normalised(weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (sum > 0 ? weight / sum : 1 / weights.length));
}

function mix(byType: readonly Float64Array[], weights: readonly number[]): Float64Array {
  return byType[0].map((probability, action) => weights[0] * probability + weights[1] * byType[1][action]);
}
