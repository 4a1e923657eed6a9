import type { GridArrays, GridParts } from '@coplay/core';
import { addCell, clearSet, hasCell } from '../game';
import { HUNT_HARE, HUNT_STAG } from './actions';
import { GONE, type Rules } from './rules';

/** The events of {@link stagHuntParts}, by number. */
const STAG = 0;
const HARE = 1;
const NONE = -1;

/** The goals and events of a stag hunt. */
export const EVENTS = ['stag', 'hare'] as const;

/** What an agent caught, if the rules ended it when it did `action`. */
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

/** Where agents, prey and obstacles are. Undefined for options with which an observation doesn't show the whole state. */
export function stagHuntParts(rules: Rules): GridParts<'int32'> | undefined {
  const { viewRadius, previousActions, stepsAfterFirstHunt } = rules.settings;
  if (viewRadius !== false || previousActions || stepsAfterFirstHunt !== false) return undefined;
  const { grid } = rules;
  return {
    rows: grid.rows,
    columns: grid.columns,
    things: ['stags', 'hares'],
    fixed: ['obstacles'],
    events: EVENTS,
    read: (state, offset, out, row) => read(rules, state, offset, out, row),
    write: (parts, row, state, offset) => write(rules, parts, row, state, offset),
    see: (observations, from, seat, out, row) => {
      const { planes, time } = observations;
      see(rules, planes as Uint8Array, from, seat, out, row);
      out.elapsed[row] = Math.round(time[from] * rules.settings.maxSteps);
    },
    eventOf,
    pay: (before, events, rewards, row) => pay(rules, before, events, rewards, row),
  };
}

function read({ agents, at, grid }: Rules, state: Int32Array, offset: number, out: GridArrays, row: number): void {
  const size = grid.cells;
  for (let agent = 0; agent < agents; agent++) {
    const cell = state[offset + at.cells + agent];
    out.cells[row * agents + agent] = cell === GONE ? size : cell;
  }
  for (let cell = 0; cell < size; cell++) {
    out.things[2 * row * size + cell] = hasCell(state, offset + at.stags, cell);
    out.things[(2 * row + 1) * size + cell] = hasCell(state, offset + at.hares, cell);
    out.fixed[row * size + cell] = hasCell(state, offset + at.obstacles, cell);
  }
  out.elapsed[row] = state[offset + at.steps];
}

function write({ agents, at, grid }: Rules, parts: GridArrays, row: number, state: Int32Array, offset: number): void {
  const size = grid.cells;
  for (let agent = 0; agent < agents; agent++) {
    const cell = parts.cells[row * agents + agent];
    state[offset + at.cells + agent] = cell === size ? GONE : cell;
  }
  for (const set of [at.stags, at.hares, at.obstacles]) clearSet(state, offset + set, at.words);
  for (let cell = 0; cell < size; cell++) {
    if (parts.fixed[row * size + cell] === 1) addCell(state, offset + at.obstacles, cell);
    else if (parts.things[2 * row * size + cell] === 1) addCell(state, offset + at.stags, cell);
    else if (parts.things[(2 * row + 1) * size + cell] === 1) addCell(state, offset + at.hares, cell);
  }
  state[offset + at.steps] = parts.elapsed[row];
  state[offset + at.firstCatch] = 0; // only kept with the option stepsAfterFirstHunt, which has no parts
}

function see(
  { agents, grid }: Rules,
  planes: Uint8Array,
  from: number,
  seat: number,
  out: GridArrays,
  row: number,
): void {
  const size = grid.cells;
  const C = agents + 3;
  out.cells.fill(size, row * agents, (row + 1) * agents);
  for (let cell = 0; cell < size; cell++) {
    const pixel = (from * size + cell) * C;
    for (let channel = 0; channel < agents; channel++) {
      if (planes[pixel + channel] === 1) out.cells[row * agents + ((seat + channel) % agents)] = cell;
    }
    out.fixed[row * size + cell] = planes[pixel + agents];
    out.things[2 * row * size + cell] = planes[pixel + agents + 1];
    out.things[(2 * row + 1) * size + cell] = planes[pixel + agents + 2];
  }
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
    rewards[agent] += isStag
      ? (settings.stagReward * settings.strengths[agent - start]) / strength
      : settings.hareReward / hunters;
  }
}
