import { destination, OUTSIDE, STAY } from '../game';
import { HUNT_STAG } from './actions';
import { mayHuntHare, mayHuntStag } from './legal';
import { GONE, type Rules } from './rules';

/**
 * Phase one of a step for one agent: judges its action on the state before the step, and changes nothing of it. The
 * agent's place after the step goes to `rules.destinations`, its legal hunt (else STAY) to `rules.hunts`.
 *
 * @returns 1 for an illegal action, which becomes STAY, else 0
 */
export function judge(rules: Rules, state: Int32Array, offset: number, agent: number, action: number): number {
  const { destinations, hunts } = rules;
  const cell = state[offset + rules.at.cells + agent];
  destinations[agent] = cell;
  hunts[agent] = STAY;
  if (cell === GONE || action === STAY) return 0;
  if (action < STAY) {
    const next = destination(rules.grid, state, offset + rules.at.obstacles, cell, action);
    if (next === OUTSIDE) return 1;
    destinations[agent] = next;
    return 0;
  }
  const may = action === HUNT_STAG ? mayHuntStag(rules, state, offset, cell) : mayHuntHare(rules, state, offset, cell);
  if (!may) return 1;
  hunts[agent] = action;
  return 0;
}
