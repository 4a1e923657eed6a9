import type { Generator, StepArrays } from '@coplay/core';
import { removeCell, STAY } from '../game';
import { HUNT_STAG } from './actions';
import { judge } from './judge';
import { movePrey } from './prey';
import { GONE, NO_ACTION, type Rules } from './rules';
import { drawPartners, NOTHING, shareOf } from './shares';

/** Names of the extra numbers of a step, 1 where it's so: the action was illegal, something was caught. */
export const INFOS = ['illegal', 'caught_hare', 'caught_stag'] as const;

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
  generator: Generator,
  result: StepArrays,
  row: number,
): void {
  const { agents, at, settings } = rules;
  const seat = row * agents;
  for (let agent = 0; agent < agents; agent++) {
    result.infos['illegal'][seat + agent] = judge(rules, state, offset, agent, actions[actionsOffset + agent]);
  }
  if (settings.partnerChance) drawPartners(rules, settings.partnerChance, generator);
  if (settings.previousActions) remember(rules, state, offset, actions, actionsOffset);

  state[offset + at.steps]++;
  for (let agent = 0; agent < agents; agent++) settle(rules, state, offset, agent, result, seat + agent);
  if (settings.preyMoves > 0) movePrey(rules, state, offset, generator);

  const cut = isCut(rules, state, offset);
  for (let agent = 0; agent < agents; agent++) {
    const hasLeft = state[offset + at.cells + agent] === GONE;
    result.terminated[seat + agent] = hasLeft ? 1 : 0;
    result.truncated[seat + agent] = cut && !hasLeft ? 1 : 0;
  }
}

function remember(rules: Rules, state: Int32Array, offset: number, actions: Int32Array, actionsOffset: number): void {
  const { at, agents } = rules;
  for (let agent = 0; agent < agents; agent++) {
    const isGone = state[offset + at.cells + agent] === GONE;
    state[offset + at.previous + agent] = isGone ? NO_ACTION : actions[actionsOffset + agent];
  }
}

/** Phase two for one agent: moves it, pays its catch, and removes it from the map if it caught something. */
function settle(
  rules: Rules,
  state: Int32Array,
  offset: number,
  agent: number,
  { rewards, infos }: StepArrays,
  seat: number,
): void {
  const { at, settings } = rules;
  const cell = rules.destinations[agent];
  rewards[seat] = cell === GONE ? 0 : settings.stepReward;
  infos['caught_hare'][seat] = 0;
  infos['caught_stag'][seat] = 0;
  state[offset + at.cells + agent] = cell;
  const hunt = rules.hunts[agent];
  if (hunt === STAY) return;
  const share = shareOf(rules, agent);
  if (share === NOTHING) return;
  rewards[seat] = settings.stepReward + share;
  infos[hunt === HUNT_STAG ? 'caught_stag' : 'caught_hare'][seat] = 1;
  state[offset + at.cells + agent] = GONE;
  removeCell(state, offset + (hunt === HUNT_STAG ? at.stags : at.hares), cell);
  const isFirst = settings.stepsAfterFirstHunt !== false && state[offset + at.firstCatch] === 0;
  if (isFirst) state[offset + at.firstCatch] = state[offset + at.steps];
}

/** Whether time is up for the active agents: at `maxSteps`, or `stepsAfterFirstHunt` steps after the first catch. */
function isCut({ at, settings }: Rules, state: Int32Array, offset: number): boolean {
  const { maxSteps, stepsAfterFirstHunt } = settings;
  const done = state[offset + at.steps];
  if (done >= maxSteps) return true;
  const firstCatch = state[offset + at.firstCatch];
  return stepsAfterFirstHunt !== false && firstCatch > 0 && done >= firstCatch + stepsAfterFirstHunt;
}
