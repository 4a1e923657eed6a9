import { MOVE_NAMES } from '../game';

/** Legal on a drift's cell. */
export const SHOVEL = 5;

/** K = 6 names. */
export const ACTION_NAMES: readonly string[] = [...MOVE_NAMES, 'shovel'];
