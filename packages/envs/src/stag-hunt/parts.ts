import type { GridParts } from '@coplay/core';
import type { GridArrays } from '@coplay/core/arrays';
import { gridParts } from '../game';
import { HUNT_HARE, HUNT_STAG } from './actions';
import type { Rules } from './rules';

/** The events of {@link stagHuntParts}, by number. */
const STAG = 0;
const HARE = 1;
const NONE = -1;

/** The goals and events of a stag hunt. */
export const EVENTS = ['stag', 'hare'] as const;

/** The prey that an agent caught, if the rules ended it when it took `action`. */
export function eventOf(action: number, left: boolean): number {
  if (!left) return NONE;
  return action === HUNT_STAG ? STAG : action === HUNT_HARE ? HARE : NONE;
}

/** Whether there is prey of the goal's kind. */
export function isOpen({ at }: Rules, goal: number, state: Int32Array, offset: number): boolean {
  const set = offset + (goal === STAG ? at.stags : at.hares);
  for (let word = 0; word < at.words; word++) if (state[set + word] !== 0) return true;
  return false;
}

/**
 * Where agents, prey and obstacles are. Undefined for options with which an observation doesn't show the whole state.
 */
export function stagHuntParts(rules: Rules): GridParts<'int32'> | undefined {
  const { viewRadius, previousActions, stepsAfterFirstHunt } = rules.settings;
  if (viewRadius !== false || previousActions || stepsAfterFirstHunt !== false) return undefined;
  const parts = gridParts(rules, ['stags', 'hares']);
  return {
    ...parts,
    events: EVENTS,
    write(from, row, state, offset) {
      parts.write(from, row, state, offset);
      state[offset + rules.at.firstCatch] = 0; // only kept with the option stepsAfterFirstHunt, which has no parts
    },
    eventOf,
    pay: (before, events, rewards, row) => pay(rules, before, events, rewards, row),
  };
}

/** Hunters of one kind on one cell hunt the same prey; see shares.ts for how it's shared. */
function pay(
  { agents, grid, settings }: Rules,
  before: GridArrays,
  events: Int32Array,
  rewards: Float32Array,
  row: number,
): void {
  const start = row * agents;
  for (let agent = start; agent < start + agents; agent++) {
    rewards[agent] = before.cells[agent] === grid.cells ? 0 : settings.stepReward;
    if (events[agent] === NONE || before.cells[agent] === grid.cells) continue;
    let hunters = 0;
    let strength = 0;
    for (let other = start; other < start + agents; other++) {
      if (events[other] !== events[agent] || before.cells[other] !== before.cells[agent]) continue;
      hunters++;
      strength += settings.strengths[other - start];
    }
    const isStag = events[agent] === STAG;
    if (isStag && hunters === 1 && settings.partnerChance) strength *= 2; // a partner joined by chance
    rewards[agent] += isStag
      ? (settings.stagReward * settings.strengths[agent - start]) / strength
      : settings.hareReward / hunters;
  }
}
