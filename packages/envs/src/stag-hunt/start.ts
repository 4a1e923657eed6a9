import type { Generator } from '@coplay/core';
import { addCell, clearSet } from '../game';
import { NO_ACTION, type Rules } from './rules';

/** Starts an episode: random obstacles, then agents, stags and hares on distinct free cells, uniformly. */
export function reset(rules: Rules, state: Int32Array, offset: number, generator: Generator): void {
  const { at, agents, settings } = rules;
  const { stags, hares } = settings;
  state[offset + at.steps] = 0;
  state[offset + at.firstCatch] = 0;
  if (settings.previousActions) state.fill(NO_ACTION, offset + at.previous, offset + at.previous + agents);
  rules.drawObstacles(state, offset + at.obstacles, generator);
  const places = rules.drawPlaces(state, offset + at.obstacles, agents + stags + hares, generator);
  for (let agent = 0; agent < agents; agent++) state[offset + at.cells + agent] = places[agent];
  clearSet(state, offset + at.stags, at.words);
  clearSet(state, offset + at.hares, at.words);
  for (let stag = 0; stag < stags; stag++) addCell(state, offset + at.stags, places[agents + stag]);
  for (let hare = 0; hare < hares; hare++) addCell(state, offset + at.hares, places[agents + stags + hare]);
}
