import type { GridParts } from '@coplay/core';
import type { GridArrays } from '@coplay/core/arrays';
import { gridParts } from '../game';
import { SHOVEL } from './actions';
import type { Rules } from './rules';

/** The events of a snowdrift game, by number. */
const SHOVELLED = 0;
const NONE = -1;

/** Where agents, drifts and obstacles are. */
export function snowdriftParts(rules: Rules): GridParts<'int32'> {
  const { cells } = rules.grid;
  return {
    ...gridParts(rules, ['drifts']),
    events: ['shovelled'],
    eventOf: (action) => (action === SHOVEL ? SHOVELLED : NONE),
    pay: (before, events, rewards, row, after) => pay(rules, before, events, rewards, row, after),
    isOver: ({ things }, row) => !things.subarray(row * cells, (row + 1) * cells).includes(1),
  };
}

/**
 * Every cleared drift pays all agents; the agents that shovelled it share the cost. A drift that no agent shovelled
 * pays nothing.
 */
function pay(
  { agents, grid, settings }: Rules,
  before: GridArrays,
  events: Int32Array,
  rewards: Float32Array,
  row: number,
  after: GridArrays,
): void {
  const start = row * agents;
  let cleared = 0;
  for (let agent = start; agent < start + agents; agent++) {
    const isFirst = shovellersWith(before, events, agent, start, agent) === 0;
    if (isFirst && clears(grid.cells, before, events, agent, row, after)) cleared++;
  }
  for (let agent = start; agent < start + agents; agent++) {
    rewards[agent] = cleared * settings.driftReward;
    if (!clears(grid.cells, before, events, agent, row, after)) continue;
    rewards[agent] =
      cleared * settings.driftReward -
      settings.shovelCost / shovellersWith(before, events, agent, start, start + agents);
  }
}

/** Whether an agent shovels away the drift on its cell: the drift is there before the step, and not after it. */
function clears(size: number, before: GridArrays, events: Int32Array, agent: number, row: number, after: GridArrays) {
  const cell = before.cells[agent];
  if (events[agent] !== SHOVELLED || cell === size) return false;
  return before.things[row * size + cell] === 1 && after.things[row * size + cell] === 0;
}

/** How many of the agents from `start` to before `end` shovel on an agent's cell. */
function shovellersWith({ cells }: GridArrays, events: Int32Array, agent: number, start: number, end: number): number {
  let count = 0;
  for (let other = start; other < end; other++) {
    if (cells[other] === cells[agent] && events[other] === SHOVELLED) count++;
  }
  return count;
}
