import { MOVE_NAMES } from '../game';

/** Legal on a stag's cell. */
export const HUNT_STAG = 5;
/** Legal on a hare's cell. */
export const HUNT_HARE = 6;

/** K = 7 names. */
export const ACTION_NAMES: readonly string[] = [...MOVE_NAMES, 'hunt stag', 'hunt hare'];
