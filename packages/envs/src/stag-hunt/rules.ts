import {
  createGrid,
  type DrawObstacles,
  type DrawPlaces,
  type Grid,
  obstacleDrawer,
  placeDrawer,
  setWords,
} from '../game';
import type { StagHuntSettings } from './options';

/** The agent's cell when it has left the map. */
export const GONE = -1;
/** The previous action of an agent that had none: in the first step, or after it left. */
export const NO_ACTION = -1;

/** Layout of a state: the index of each field (int32 values), relative to its offset. A state has no other parts. */
export interface StateMap {
  /** Steps done in this episode */
  readonly steps: number;
  /** The step, counted from 1, of the first catch; 0 before it, and without the option `stepsAfterFirstHunt` */
  readonly firstCatch: number;
  /** [A] cell of each agent, or {@link GONE} */
  readonly cells: number;
  /** [A] previous actions, or {@link NO_ACTION}; none of it without the option `previousActions` */
  readonly previous: number;
  /** The three sets of cells, of `words` values each (see cell-set.ts). No two prey share a cell. */
  readonly obstacles: number;
  readonly stags: number;
  readonly hares: number;
  readonly words: number;
  /** Values in all */
  readonly size: number;
}

/**
 * A game's settings, and the values derived from them once. The functions that are the game take it as their first
 * argument. The arrays are working memory within one call; nothing in them lives from one call to the next.
 */
export interface Rules {
  readonly settings: StagHuntSettings;
  /** A */
  readonly agents: number;
  readonly grid: Grid;
  readonly at: StateMap;
  readonly drawObstacles: DrawObstacles;
  readonly drawPlaces: DrawPlaces;
  /** [A] where each agent will stand after the step */
  readonly destinations: Int32Array;
  /** [A] HUNT_STAG or HUNT_HARE for a legal hunt in this step, else STAY */
  readonly hunts: Int32Array;
  /** [A] 1 for a lone hunter of a stag whom a partner joins by chance in this step (`partnerChance`) */
  readonly isJoined: Uint8Array;
  /** [cells] a list of cells */
  readonly list: Int32Array;
}

/** The rules for some settings. */
export function createRules(settings: StagHuntSettings): Rules {
  const { agents, size, obstaclePieces } = settings;
  const grid = createGrid(size, size);
  const things = agents + settings.stags + settings.hares;
  return {
    settings,
    agents,
    grid,
    at: stateMap(settings, setWords(grid.cells)),
    drawObstacles: obstacleDrawer('stagHunt', grid, obstaclePieces, things),
    drawPlaces: placeDrawer(grid),
    destinations: new Int32Array(agents),
    hunts: new Int32Array(agents),
    isJoined: new Uint8Array(agents),
    list: new Int32Array(grid.cells),
  };
}

function stateMap({ agents, previousActions }: StagHuntSettings, words: number): StateMap {
  const cells = 2;
  const previous = cells + agents;
  const obstacles = previous + (previousActions ? agents : 0);
  const stags = obstacles + words;
  const hares = stags + words;
  return { steps: 0, firstCatch: 1, cells, previous, obstacles, stags, hares, words, size: hares + words };
}
