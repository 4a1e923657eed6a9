import { checkOptions, type Game, type Generator } from '@coplay/core';
import { z } from 'zod';
import { type Board, cellOfThing, createBoard, kindOfThing, moveAgents, put, randomFreeCell } from './board';
import { boardGame, standsOn } from './board-game';
import { boardOptions, checkBoard, checkPlants, type GymBoardOptions } from './options';

/** Options of {@link gymHarvest}; in brackets the names of the public environment. */
export interface GymHarvestOptions extends GymBoardOptions {
  /** Plants on the board (max_plants), 1 to rows * columns - 3. Default 4 */
  readonly plants?: number | undefined;
  /** Probability in a step that a young plant matures (chance_to_mature). Default 0.1 */
  readonly chanceToMature?: number | undefined;
  /** Probability in a step that a mature plant dies (chance_to_die). Default 0.1 */
  readonly chanceToDie?: number | undefined;
  /** Reward for a young plant (young_reward). Default 1 */
  readonly youngReward?: number | undefined;
  /** What both agents get for a mature plant (mature_reward). Default 2 */
  readonly matureReward?: number | undefined;
}

const schema = z
  .object({
    ...boardOptions,
    plants: z.int().min(1).default(4),
    chanceToMature: z.number().min(0).max(1).default(0.1),
    chanceToDie: z.number().min(0).max(1).default(0.1),
    youngReward: z.number().default(1),
    matureReward: z.number().default(2),
  })
  .strict();

type Settings = z.infer<typeof schema>;

const YOUNG = 0;
const MATURE = 1;

/**
 * Harvest of Gym-Stag-Hunt (Nesterov-Rappoport 2022, after Peysakhovich and Lerer 2017): each agent can take young
 * plants alone, or wait for mature plants that reward both.
 *
 * Actions: 0 left, 1 down, 2 right, 3 up; into the border nothing moves.
 * Observation: `planes` uint8 [rows, columns, 4] (self, other, young, mature), `time` float32 [1].
 * Step: both agents move; then young plants mature and mature plants die, each with probability 0.1; then an agent on a
 * young plant gets 1 (two on one plant each), and for every mature plant with an agent on it both agents get 2. Plants
 * that were harvested or died grow again, young, on a random free cell.
 * Start: agents in the top corners, young plants on random free cells.
 * End: truncated after 1,000 steps.
 *
 * @throws CoplayError for unknown options or more plants than fit
 */
export function gymHarvest(options: GymHarvestOptions = {}): Game<'int32'> {
  const settings = checkOptions('gymHarvest', schema, options);
  const { rows, columns, plants, maxSteps } = settings;
  checkBoard('gymHarvest', rows, columns);
  checkPlants('gymHarvest', plants, rows, columns);
  const kinds = [
    { name: 'young', symbol: 'p' },
    { name: 'mature', symbol: 'P' },
  ];
  const board = createBoard(rows, columns, kinds, plants);
  return boardGame({
    name: 'gym-harvest',
    board,
    maxSteps,
    options: settings,
    showsStreak: false,
    start(state, offset, generator) {
      for (let plant = 0; plant < plants; plant++) grow(board, state, offset, plant, generator);
    },
    play(state, offset, actions, actionsOffset, generator, rewards, at) {
      moveAgents(board, state, offset, actions, actionsOffset);
      for (let plant = 0; plant < plants; plant++) {
        const isGone =
          age(state, offset, plant, settings, generator) || harvest(state, offset, plant, settings, rewards, at);
        // It grows on a cell without an agent, so that it can't be taken in this step.
        if (isGone) grow(board, state, offset, plant, generator);
      }
    },
  });
}

/** Lets a plant mature or die. @returns whether it died */
function age(state: Int32Array, offset: number, plant: number, settings: Settings, generator: Generator): boolean {
  const chance = generator.uniform();
  if (kindOfThing(state, offset, plant) === MATURE) return chance < settings.chanceToDie;
  if (chance < settings.chanceToMature) put(state, offset, plant, cellOfThing(state, offset, plant), MATURE);
  return false;
}

/** Pays for a plant. @returns whether it was taken */
function harvest(
  state: Int32Array,
  offset: number,
  plant: number,
  { youngReward, matureReward }: Settings,
  rewards: Float32Array,
  at: number,
): boolean {
  const cell = cellOfThing(state, offset, plant);
  const first = standsOn(state, offset, 0, cell);
  const second = standsOn(state, offset, 1, cell);
  if (!first && !second) return false;
  const isMature = kindOfThing(state, offset, plant) === MATURE;
  if (isMature || first) rewards[at] += isMature ? matureReward : youngReward;
  if (isMature || second) rewards[at + 1] += isMature ? matureReward : youngReward;
  return true;
}

function grow(board: Board, state: Int32Array, offset: number, plant: number, generator: Generator): void {
  put(state, offset, plant, randomFreeCell(board, state, offset, generator), YOUNG);
}
