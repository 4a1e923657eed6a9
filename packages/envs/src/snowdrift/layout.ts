import { checkOptions, fail, type Scene, show } from '@coplay/core';
import { z } from 'zod';
import {
  agentsSchema,
  countOf,
  gridScene,
  type Kind,
  OBSTACLES,
  objectForm,
  type Place,
  placeOf,
  placesIn,
  placesSchema,
  putThings,
  textFromThings,
  thingsFromText,
} from '../game';
import type { Rules } from './rules';

/** A state as lists of places `[row, column]`, both from 0: needed where several things share a cell. */
export interface SnowdriftLayout {
  /** [A] the place of each agent. Agents may share a cell with each other and with a drift */
  readonly agents: readonly Place[];
  /** Obstacles and drifts stand on different cells. None by default; any number */
  readonly obstacles?: readonly Place[] | undefined;
  /** Any number, at least 1 at the start of an episode; without any it's over */
  readonly drifts?: readonly Place[] | undefined;
  /** Steps done in the episode, 0 to maxSteps. Default 0 */
  readonly steps?: number | undefined;
}

const WHERE = 'snowdrift layout';
const KINDS: readonly Kind<'obstacles' | 'drifts'>[] = [OBSTACLES, { name: 'drifts', item: 'drift', symbol: 'd' }];

const schema = z
  .object({
    agents: agentsSchema,
    obstacles: placesSchema,
    drifts: placesSchema,
    steps: z.int().min(0).default(0),
  })
  .strict();

/**
 * Starts from a map or from lists of places. A map has one character a cell: `.` free, `#` obstacle, `d` drift,
 * `1`..`8` agents; below it there may be a line `steps: 12`.
 *
 * @throws CoplayError, and then the state is as it was before
 */
export function readLayout(rules: Rules, layout: unknown, state: Int32Array, offset: number): void {
  const given = objectForm(WHERE, layout, (text) => fromText(rules, text));
  const checked = checkOptions(WHERE, schema, given);
  checkNumbers(rules, checked);
  const read = new Int32Array(rules.at.size);
  read[rules.at.steps] = checked.steps;
  putThings(WHERE, checked, KINDS, rules.at, rules.grid, read);
  state.set(read, offset);
}

/** A map where each cell holds at most one thing, else JSON of the object form; `readLayout` gives an equal state. */
export function writeLayout(rules: Rules, state: Int32Array, offset: number): string {
  const layout = layoutOf(rules, state, offset);
  const map = textFromThings(layout, KINDS, rules.grid);
  if (map === undefined) return JSON.stringify(layout);
  return layout.steps ? `${map}\nsteps: ${layout.steps}` : map;
}

/** For renderers. */
export function scene(rules: Rules, state: Int32Array, offset: number): Scene {
  return gridScene(rules.grid, layoutOf(rules, state, offset), KINDS);
}

function fromText({ agents, grid }: Rules, text: string): unknown {
  const { places, notes } = thingsFromText(WHERE, text, agents, grid, KINDS, ['steps']);
  return { ...places, ...(notes.has('steps') && { steps: countOf(notes.get('steps') as string) }) };
}

function checkNumbers({ settings }: Rules, { agents, drifts, steps }: z.infer<typeof schema>): void {
  if (agents.length !== settings.agents || agents.includes(null)) {
    fail(
      WHERE,
      `agents: ${settings.agents} places`,
      show(agents),
      'Give one for each agent; agents never leave this game.',
    );
  }
  if (steps > settings.maxSteps) {
    fail(WHERE, `steps from 0 to maxSteps ${settings.maxSteps}`, show(steps), 'Give fewer steps.');
  }
  if (drifts.length === 0 && steps === 0) fail(WHERE, 'a drift at the start', 'none', 'Add a drift.');
}

/** Defaults are left out, so that a layout shows only the particulars of a state. */
function layoutOf({ settings, at, grid }: Rules, state: Int32Array, offset: number): SnowdriftLayout {
  const cells = state.subarray(offset + at.cells, offset + at.cells + settings.agents);
  const steps = state[offset + at.steps];
  return {
    agents: Array.from(cells, (cell) => placeOf(cell, grid)),
    obstacles: placesIn(state, offset + at.obstacles, at.words, grid),
    drifts: placesIn(state, offset + at.drifts, at.words, grid),
    ...(steps > 0 && { steps }),
  };
}
