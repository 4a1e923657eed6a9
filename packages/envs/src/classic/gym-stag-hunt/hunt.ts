import { checkOptions, type Game, type Generator } from '@coplay/core';
import { z } from 'zod';
import {
  AGENTS,
  type Board,
  cellOfThing,
  createBoard,
  moveAgents,
  moved,
  put,
  randomFreeCell,
  randomNeighbour,
} from './board';
import { boardGame, standsOn } from './board-game';
import { boardOptions, checkBoard, checkPlants, type GymBoardOptions } from './options';

/** Options of {@link gymHunt}; in brackets the names of the public environment. */
export interface GymHuntOptions extends GymBoardOptions {
  /** Reward of each agent for catching the stag together (stag_reward). Default 5 */
  readonly stagReward?: number | undefined;
  /** Reward of an agent that is on the stag's cell without the other (mauling_punishment). Default -5 */
  readonly maulingReward?: number | undefined;
  /** Reward for a plant (forage_reward). Default 1 */
  readonly forageReward?: number | undefined;
  /** Plants on the board (forage_quantity), 0 to rows * columns - 3. Default 2 */
  readonly plants?: number | undefined;
  /** Whether the stag walks towards the nearest agent, or at random (stag_follows). Default true */
  readonly stagFollows?: boolean | undefined;
  /** Whether the stag appears elsewhere after mauling someone (run_away_after_maul). Default false */
  readonly runsAwayAfterMaul?: boolean | undefined;
}

const schema = z
  .object({
    ...boardOptions,
    stagReward: z.number().default(5),
    maulingReward: z.number().default(-5),
    forageReward: z.number().default(1),
    plants: z.int().min(0).default(2),
    stagFollows: z.boolean().default(true),
    runsAwayAfterMaul: z.boolean().default(false),
  })
  .strict();

/** Kinds and things: thing 0 is the stag, the others are plants. */
const STAG = 0;
const PLANT = 1;

/**
 * Hunt of Gym-Stag-Hunt (Nesterov-Rappoport 2022, after Peysakhovich and Lerer 2017): two agents and a dangerous stag.
 *
 * Actions: 0 left, 1 down, 2 right, 3 up; into the border nothing moves. There's no way to stay elsewhere.
 * Observation: `planes` uint8 [rows, columns, 4] (self, other, stag, plants), `time` float32 [1].
 * Step: the stag moves towards the agent that is nearest before the step (in a straight line; ties, and the axis, at
 * random) while both agents move. Then both on the stag's cell catch it: +5 each, and it appears on a random free cell.
 * One alone there is mauled: -5. An agent on a plant and not on the stag forages: +1, two on one plant each; the plant
 * grows again on a random free cell.
 * Start: agents in the top corners, stag in the middle, plants on random free cells.
 * End: truncated after 1,000 steps.
 *
 * @throws CoplayError for unknown options or more plants than fit
 */
export function gymHunt(options: GymHuntOptions = {}): Game<'int32'> {
  const settings = checkOptions('gymHunt', schema, options);
  const { rows, columns, plants, maxSteps } = settings;
  checkBoard('gymHunt', rows, columns);
  checkPlants('gymHunt', plants, rows, columns);
  const kinds = [
    { name: 'stag', symbol: 'S', count: 1 },
    { name: 'plants', symbol: 'P', count: plants },
  ];
  const board = createBoard(rows, columns, kinds, 1 + plants);
  return boardGame({
    name: 'gym-hunt',
    board,
    maxSteps,
    options: settings,
    showsStreak: false,
    start(state, offset, generator) {
      put(state, offset, 0, Math.floor(rows / 2) * columns + Math.floor(columns / 2), STAG);
      for (let thing = 1; thing <= plants; thing++) grow(board, state, offset, thing, generator);
    },
    play(state, offset, actions, actionsOffset, generator, rewards, at) {
      moveStag(board, state, offset, settings.stagFollows, generator);
      moveAgents(board, state, offset, actions, actionsOffset);
      forage(board, state, offset, settings.forageReward, generator, rewards, at);
      meetStag(board, state, offset, settings, generator, rewards, at);
    },
  });
}

function moveStag(board: Board, state: Int32Array, offset: number, follows: boolean, generator: Generator): void {
  const stag = cellOfThing(state, offset, 0);
  const next = follows ? chase(board, state, offset, stag, generator) : randomNeighbour(board, stag, generator);
  put(state, offset, 0, next, STAG);
}

/** One step towards the nearest agent. */
function chase(board: Board, state: Int32Array, offset: number, stag: number, generator: Generator): number {
  const { columns } = board.grid;
  const first = distance(stag, state[offset + AGENTS], columns);
  const second = distance(stag, state[offset + AGENTS + 1], columns);
  const prey = first === second ? generator.integer(2) : first < second ? 0 : 1;
  const target = state[offset + AGENTS + prey];
  const down = Math.floor(target / columns) - Math.floor(stag / columns);
  const right = (target % columns) - (stag % columns);
  const walksDown = down !== 0 && (right === 0 || generator.integer(2) === 0);
  if (walksDown) return moved(board, stag, down > 0 ? 1 : 3);
  return right === 0 ? stag : moved(board, stag, right > 0 ? 2 : 0);
}

/** Square of the straight distance of two cells. */
function distance(a: number, b: number, columns: number): number {
  const down = Math.floor(a / columns) - Math.floor(b / columns);
  const right = (a % columns) - (b % columns);
  return down * down + right * right;
}

/** Pays for plants, and lets taken plants grow elsewhere. */
function forage(
  board: Board,
  state: Int32Array,
  offset: number,
  reward: number,
  generator: Generator,
  rewards: Float32Array,
  at: number,
): void {
  const stag = cellOfThing(state, offset, 0);
  for (let thing = 1; thing < board.things; thing++) {
    const cell = cellOfThing(state, offset, thing);
    let foragers = 0;
    for (let agent = 0; agent < 2 && cell !== stag; agent++) {
      if (!standsOn(state, offset, agent, cell)) continue;
      rewards[at + agent] += reward;
      foragers++;
    }
    // A plant grows on a cell without an agent, so that a new plant can't be taken in this step.
    if (foragers > 0) grow(board, state, offset, thing, generator);
  }
}

function grow(board: Board, state: Int32Array, offset: number, thing: number, generator: Generator): void {
  put(state, offset, thing, randomFreeCell(board, state, offset, generator), PLANT);
}

/** Pays for the stag: caught by two, or mauling one. */
function meetStag(
  board: Board,
  state: Int32Array,
  offset: number,
  settings: Readonly<{ stagReward: number; maulingReward: number; runsAwayAfterMaul: boolean }>,
  generator: Generator,
  rewards: Float32Array,
  at: number,
): void {
  const stag = cellOfThing(state, offset, 0);
  let present = 0;
  for (let agent = 0; agent < 2; agent++) if (standsOn(state, offset, agent, stag)) present++;
  if (present === 0) return;
  const reward = present === 2 ? settings.stagReward : settings.maulingReward;
  for (let agent = 0; agent < 2; agent++) if (standsOn(state, offset, agent, stag)) rewards[at + agent] += reward;
  if (present === 2 || settings.runsAwayAfterMaul) {
    put(state, offset, 0, randomFreeCell(board, state, offset, generator), STAG);
  }
}
