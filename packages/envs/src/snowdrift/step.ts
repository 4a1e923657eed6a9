import type { StepArrays } from '@coplay/core';
import { destination, hasCell, OUTSIDE, removeCell, STAY } from '../game';
import { hasDrifts, type Rules } from './rules';

/** Names of the extra numbers of a step, 1 where it's so: the action was illegal, a drift was shovelled. */
export const INFOS = ['illegal', 'shovelled'] as const;

/**
 * One step, in two phases: every action is judged on the state before the step, then everything happens at once. So the
 * effect of an action depends neither on the order of agents nor on the other agents' actions in this step.
 */
export function step(
  rules: Rules,
  state: Int32Array,
  offset: number,
  actions: Int32Array,
  actionsOffset: number,
  result: StepArrays,
  row: number,
): void {
  const { agents, at, destinations, shovelled, settings } = rules;
  const { rewards, terminated, truncated, infos } = result;
  const seat = row * agents;
  const isOn = hasDrifts(rules, state, offset);
  for (let agent = 0; agent < agents; agent++) {
    const action = isOn ? actions[actionsOffset + agent] : STAY;
    infos['illegal'][seat + agent] = judge(rules, state, offset, agent, action);
  }

  state[offset + at.steps]++;
  const cleared = clear(rules, state, offset);
  const isLeft = hasDrifts(rules, state, offset);
  const isCut = isLeft && state[offset + at.steps] >= settings.maxSteps;
  for (let agent = 0; agent < agents; agent++) {
    state[offset + at.cells + agent] = destinations[agent];
    rewards[seat + agent] = cleared * settings.driftReward - costOf(rules, agent);
    infos['shovelled'][seat + agent] = shovelled[agent] === OUTSIDE ? 0 : 1;
    terminated[seat + agent] = isLeft ? 0 : 1;
    truncated[seat + agent] = isCut ? 1 : 0;
  }
}

/**
 * Phase one for one agent: judges its action on the state before the step, and changes nothing of it. Where the agent
 * goes is written to `rules.destinations`, the drift that it clears to `rules.shovelled`.
 *
 * @returns 1 for an illegal action, which becomes STAY, else 0
 */
function judge(rules: Rules, state: Int32Array, offset: number, agent: number, action: number): number {
  const { at, grid, destinations, shovelled } = rules;
  const cell = state[offset + at.cells + agent];
  destinations[agent] = cell;
  shovelled[agent] = OUTSIDE;
  if (action === STAY) return 0;
  if (action < STAY) {
    const next = destination(grid, state, offset + at.obstacles, cell, action);
    if (next === OUTSIDE) return 1;
    destinations[agent] = next;
    return 0;
  }
  if (hasCell(state, offset + at.drifts, cell) === 0) return 1;
  shovelled[agent] = cell;
  return 0;
}

/** Takes away the drifts that are shovelled. @returns how many they are */
function clear({ agents, at, shovelled }: Rules, state: Int32Array, offset: number): number {
  let cleared = 0;
  for (let agent = 0; agent < agents; agent++) {
    const cell = shovelled[agent];
    if (cell === OUTSIDE || hasCell(state, offset + at.drifts, cell) === 0) continue; // a drift's second shoveller
    removeCell(state, offset + at.drifts, cell);
    cleared++;
  }
  return cleared;
}

/** An agent's cost for the drift that it shovels: an equal share among its shovellers. */
function costOf({ agents, shovelled, settings }: Rules, agent: number): number {
  if (shovelled[agent] === OUTSIDE) return 0;
  let shovellers = 0;
  for (let other = 0; other < agents; other++) if (shovelled[other] === shovelled[agent]) shovellers++;
  return settings.shovelCost / shovellers;
}
