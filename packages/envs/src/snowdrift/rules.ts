import {
  createGrid,
  type DrawObstacles,
  type DrawPlaces,
  type Grid,
  obstacleDrawer,
  placeDrawer,
  setWords,
} from '../game';
import type { SnowdriftSettings } from './options';

/** Layout of a state: the index of each field (int32 values), relative to its offset. A state has no other parts. */
export interface StateMap {
  /** Steps done in this episode */
  readonly steps: number;
  /** [A] cell of each agent */
  readonly cells: number;
  /** The two sets of cells, of `words` values each (see cell-set.ts) */
  readonly obstacles: number;
  readonly drifts: number;
  readonly words: number;
  /** Values in all */
  readonly size: number;
}

/**
 * A game's settings, and the values derived from them once. The functions that are the game take it as their first
 * argument. The arrays are working memory within one call; nothing in them lives from one call to the next.
 */
export interface Rules {
  readonly settings: SnowdriftSettings;
  /** A */
  readonly agents: number;
  readonly grid: Grid;
  readonly at: StateMap;
  readonly drawObstacles: DrawObstacles;
  readonly drawPlaces: DrawPlaces;
  /** [A] where each agent will stand after the step */
  readonly destinations: Int32Array;
  /** [A] the cell of the drift that each agent clears in this step, else OUTSIDE */
  readonly shovelled: Int32Array;
}

/** The rules for some settings. */
export function createRules(settings: SnowdriftSettings): Rules {
  const { agents, size, drifts, obstaclePieces } = settings;
  const grid = createGrid(size, size);
  const words = setWords(grid.cells);
  const obstacles = 1 + agents;
  return {
    settings,
    agents,
    grid,
    at: { steps: 0, cells: 1, obstacles, drifts: obstacles + words, words, size: obstacles + 2 * words },
    drawObstacles: obstacleDrawer('snowdrift', grid, obstaclePieces, agents + drifts),
    drawPlaces: placeDrawer(grid),
    destinations: new Int32Array(agents),
    shovelled: new Int32Array(agents),
  };
}

/** Whether drifts are left: the episode goes on, and everyone plays. */
export function hasDrifts({ at }: Rules, state: Int32Array, offset: number): boolean {
  for (let word = 0; word < at.words; word++) if (state[offset + at.drifts + word] !== 0) return true;
  return false;
}
