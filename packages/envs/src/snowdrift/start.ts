import type { Generator } from '@coplay/core';
import { addCell, clearSet } from '../game';
import type { Rules } from './rules';

/** Starts an episode: random obstacles, then agents and drifts on distinct free cells, uniformly. */
export function reset(rules: Rules, state: Int32Array, offset: number, generator: Generator): void {
  const { at, agents, settings } = rules;
  const { drifts } = settings;
  state[offset + at.steps] = 0;
  rules.drawObstacles(state, offset + at.obstacles, generator);
  const places = rules.drawPlaces(state, offset + at.obstacles, agents + drifts, generator);
  for (let agent = 0; agent < agents; agent++) state[offset + at.cells + agent] = places[agent];
  clearSet(state, offset + at.drifts, at.words);
  for (let drift = 0; drift < drifts; drift++) addCell(state, offset + at.drifts, places[agents + drift]);
}
