import { hasCell, legalMoves, STAY } from '../game';
import { ACTION_NAMES, HUNT_HARE, HUNT_STAG } from './actions';
import { GONE, type Rules } from './rules';

/** Whether an agent on a cell may hunt the stag there. */
export function mayHuntStag(rules: Rules, state: Int32Array, offset: number, cell: number): boolean {
  if (hasCell(state, offset + rules.at.stags, cell) === 0) return false;
  return !rules.settings.stagNeedsPartner || agentsOn(rules, state, offset, cell) >= 2;
}

/** Whether an agent on a cell may hunt the hare there. */
export function mayHuntHare(rules: Rules, state: Int32Array, offset: number, cell: number): boolean {
  return hasCell(state, offset + rules.at.hares, cell) === 1;
}

function agentsOn(rules: Rules, state: Int32Array, offset: number, cell: number): number {
  let count = 0;
  for (let agent = 0; agent < rules.agents; agent++) {
    if (state[offset + rules.at.cells + agent] === cell) count++;
  }
  return count;
}

/**
 * Writes the action mask of an agent, K bytes: 1 where an action is legal in this state. Only STAY for one that has
 * left.
 */
export function legal(
  rules: Rules,
  state: Int32Array,
  offset: number,
  agent: number,
  mask: Uint8Array,
  maskOffset: number,
): void {
  const cell = state[offset + rules.at.cells + agent];
  if (cell === GONE) {
    for (let action = 0; action < ACTION_NAMES.length; action++) mask[maskOffset + action] = 0;
  } else {
    legalMoves(rules.grid, state, offset + rules.at.obstacles, cell, mask, maskOffset);
    mask[maskOffset + HUNT_STAG] = mayHuntStag(rules, state, offset, cell) ? 1 : 0;
    mask[maskOffset + HUNT_HARE] = mayHuntHare(rules, state, offset, cell) ? 1 : 0;
  }
  mask[maskOffset + STAY] = 1;
}
