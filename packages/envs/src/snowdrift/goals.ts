import type { GoalSet } from '@coplay/core';
import { hasCell, placeOf } from '../game';
import { SHOVEL } from './actions';
import { channelNames } from './observe';
import type { Rules } from './rules';

/**
 * The goals of agents in a snowdrift game (Huang et al. 2024): one goal for each drift, numbered by the drift's cell,
 * so that goal g < cells is open while a drift lies on cell g; and the last goal, not to shovel again.
 */
export function snowdriftGoals({ agents, at, grid }: Rules): GoalSet<'int32'> {
  const { cells } = grid;
  const channels = channelNames(agents);
  const C = channels.length;
  const self = channels.indexOf('self');
  const drifts = channels.indexOf('drifts');
  return {
    names: [
      ...Array.from({ length: cells }, (_, cell) => `drift at ${placeOf(cell, grid).join(', ')}`),
      "won't shovel again",
    ],
    noGoal: cells,
    reads: ['planes'],
    reached({ action, observations, row }) {
      if (action !== SHOVEL) return -1;
      const { planes } = observations;
      for (let cell = 0; cell < cells; cell++) {
        const pixel = (row * cells + cell) * C;
        if (planes[pixel + self] === 1) return planes[pixel + drifts] === 1 ? cell : -1;
      }
      return -1;
    },
    isOpen: (goal, state, offset) => goal === cells || hasCell(state, offset + at.drifts, goal) === 1,
  };
}
