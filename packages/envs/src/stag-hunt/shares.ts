import type { Generator } from '@coplay/core';
import { HUNT_HARE, HUNT_STAG } from './actions';
import type { Rules } from './rules';

/** The share of a hunter that catches nothing; a reward is some finite number. */
export const NOTHING = Number.POSITIVE_INFINITY;

/**
 * The reward of a hunter in this step, by the verdicts of phase one. The hunters of one hare split it equally. Two or
 * more on one stag split it in proportion to their strengths, and a lone one gets {@link NOTHING}, or half of it if a
 * partner joins by chance. Hunters of one kind on one cell hunt the same prey, for no two prey share a cell.
 */
export function shareOf(rules: Rules, agent: number): number {
  return rules.hunts[agent] === HUNT_HARE ? hareShare(rules, agent) : stagShare(rules, agent);
}

function hareShare({ agents, hunts, destinations, settings }: Rules, agent: number): number {
  let hunters = 0;
  for (let other = 0; other < agents; other++) {
    if (hunts[other] === HUNT_HARE && destinations[other] === destinations[agent]) hunters++;
  }
  return settings.hareReward / hunters;
}

function stagShare({ agents, hunts, destinations, isJoined, settings }: Rules, agent: number): number {
  let hunters = 0;
  let strength = 0;
  for (let other = 0; other < agents; other++) {
    if (hunts[other] !== HUNT_STAG || destinations[other] !== destinations[agent]) continue;
    hunters++;
    strength += settings.strengths[other];
  }
  if (isJoined[agent] === 1) return settings.stagReward / 2;
  return hunters < 2 ? NOTHING : (settings.stagReward * settings.strengths[agent]) / strength;
}

/** Draws which lone hunters of a stag a partner joins, into `rules.isJoined`; by the verdicts of phase one. */
export function drawPartners(
  { agents, hunts, destinations, isJoined }: Rules,
  chance: number,
  generator: Generator,
): void {
  for (let agent = 0; agent < agents; agent++) {
    let hunters = 0;
    for (let other = 0; other < agents; other++) {
      if (hunts[other] === HUNT_STAG && destinations[other] === destinations[agent]) hunters++;
    }
    const isLone = hunts[agent] === HUNT_STAG && hunters === 1;
    isJoined[agent] = isLone && generator.uniform() < chance ? 1 : 0;
  }
}
