import { hasCell, legalMoves, STAY } from '../game';
import { ACTION_NAMES, SHOVEL } from './actions';
import { hasDrifts, type Rules } from './rules';

/**
 * Writes the action mask of an agent, K bytes: 1 where an action is legal in this state. Only STAY once the drifts are
 * gone.
 */
export function legal(
  rules: Rules,
  state: Int32Array,
  offset: number,
  agent: number,
  mask: Uint8Array,
  maskOffset: number,
): void {
  const { at, grid } = rules;
  if (hasDrifts(rules, state, offset)) {
    const cell = state[offset + at.cells + agent];
    legalMoves(grid, state, offset + at.obstacles, cell, mask, maskOffset);
    mask[maskOffset + SHOVEL] = hasCell(state, offset + at.drifts, cell);
  } else {
    for (let action = 0; action < ACTION_NAMES.length; action++) mask[maskOffset + action] = 0;
  }
  mask[maskOffset + STAY] = 1;
}
