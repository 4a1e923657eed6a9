import { checkOptions, fail, type Scene, type SceneItem, show } from '@coplay/core';
import { z } from 'zod';
import { addCell, cellOf, listCells, type Place, placeOf } from '../game';
import { ACTION_NAMES } from './actions';
import { layoutFromText, textFromLayout } from './layout-text';
import type { StagHuntSettings } from './options';
import { GONE, NO_ACTION, type Rules } from './rules';

/** A state as lists of places `[row, column]`, both from 0: needed where several things share a cell. */
export interface StagHuntLayout {
  /** [A] the place of each agent, null for one that has left. Agents may share a cell with each other and with prey */
  readonly agents: readonly (Place | null)[];
  /** Obstacles, stags and hares stand on different cells. None by default; any number of each */
  readonly obstacles?: readonly Place[] | undefined;
  readonly stags?: readonly Place[] | undefined;
  readonly hares?: readonly Place[] | undefined;
  /** Steps done in the episode, 0 to maxSteps. Default 0 */
  readonly steps?: number | undefined;
  /** The step of the first catch, 1 to `steps`, with the option `stepsAfterFirstHunt`; 0 (default) if there was none */
  readonly firstCatch?: number | undefined;
  /** [A] what each agent did last, null for nothing, with the option `previousActions`. Default: nothing */
  readonly previousActions?: readonly (number | null)[] | undefined;
}

const WHERE = 'stagHunt layout';

const place = z.tuple([z.int(), z.int()], 'a place [row, column]').readonly();
const places = z.array(place).readonly().default([]);
const action = z
  .int()
  .min(0)
  .max(ACTION_NAMES.length - 1);
const schema = z
  .object({
    agents: z.array(place.nullable()).readonly(),
    obstacles: places,
    stags: places,
    hares: places,
    steps: z.int().min(0).default(0),
    firstCatch: z.int().min(0).default(0),
    previousActions: z.array(action.nullable()).readonly().optional(),
  })
  .strict();

type CheckedLayout = z.infer<typeof schema>;

/** Starts from a map or from lists of places. @throws CoplayError, and then the state is as it was before */
export function readLayout(rules: Rules, layout: unknown, state: Int32Array, offset: number): void {
  const given = typeof layout === 'string' ? layoutFromText(WHERE, layout, rules.agents, rules.grid) : layout;
  state.set(stateFrom(rules, checkOptions(WHERE, schema, given)), offset);
}

/** A map where each cell holds at most one thing, else JSON of the object form; `readLayout` gives an equal state. */
export function writeLayout(rules: Rules, state: Int32Array, offset: number): string {
  const layout = layoutOf(rules, state, offset);
  return textFromLayout(layout, rules.grid) ?? JSON.stringify(layout);
}

/** For renderers. */
export function scene(rules: Rules, state: Int32Array, offset: number): Scene {
  const { agents, obstacles = [], stags = [], hares = [] } = layoutOf(rules, state, offset);
  const item = (kind: string, symbol: string, [row, column]: Place): SceneItem => ({ kind, symbol, row, column });
  return {
    rows: rules.grid.rows,
    columns: rules.grid.columns,
    items: [
      ...obstacles.map((where) => item('obstacle', '#', where)),
      ...stags.map((where) => item('stag', 'S', where)),
      ...hares.map((where) => item('hare', 'h', where)),
      ...agents.flatMap((where, i) => (where ? [item('agent', String(i + 1), where)] : [])),
    ],
  };
}

function stateFrom({ settings, at, grid }: Rules, layout: CheckedLayout): Int32Array {
  checkNumbers(layout, settings);
  const state = new Int32Array(at.size);
  state[at.steps] = layout.steps;
  state[at.firstCatch] = layout.firstCatch;
  const taken = new Map<number, string>();
  for (const kind of ['obstacles', 'stags', 'hares'] as const) {
    for (const [i, where] of layout[kind].entries()) {
      const name = `${kind}[${i}]`;
      const cell = cellOf(WHERE, name, where, grid);
      if (taken.has(cell))
        fail(WHERE, `${name} on a cell of its own`, `that of ${taken.get(cell)}`, 'Move one of them.');
      taken.set(cell, name);
      addCell(state, at[kind], cell);
    }
  }
  for (const [agent, where] of layout.agents.entries()) {
    const cell = where === null ? GONE : cellOf(WHERE, `agents[${agent}]`, where, grid);
    const under = taken.get(cell);
    if (under?.startsWith('obstacles')) fail(WHERE, `agents[${agent}] on a free cell`, under, 'Move one of them.');
    state[at.cells + agent] = cell;
    if (settings.previousActions) state[at.previous + agent] = layout.previousActions?.[agent] ?? NO_ACTION;
  }
  return state;
}

function checkNumbers(layout: CheckedLayout, settings: StagHuntSettings): void {
  const { agents, maxSteps, stepsAfterFirstHunt, previousActions } = settings;
  const { steps, firstCatch, previousActions: previous } = layout;
  if (layout.agents.length !== agents) {
    fail(WHERE, `agents: ${agents} places, null for who has left`, String(layout.agents.length), 'Give one for each.');
  }
  if (steps > maxSteps) fail(WHERE, `steps from 0 to maxSteps ${maxSteps}`, show(steps), 'Give fewer steps.');
  if (firstCatch > steps || (firstCatch > 0 && stepsAfterFirstHunt === false)) {
    const remedy = 'Leave firstCatch out, or see the option stepsAfterFirstHunt.';
    fail(WHERE, `firstCatch from 0 to ${stepsAfterFirstHunt === false ? 0 : steps}`, show(firstCatch), remedy);
  }
  if (previous && !(previousActions && previous.length === agents)) {
    const expected = previousActions ? `previousActions of ${agents} agents` : 'no previousActions';
    fail(WHERE, expected, show(previous), 'They belong to the option previousActions, one for each agent.');
  }
}

/** Defaults are left out, so that a layout shows what is particular about a state. */
function layoutOf({ settings, at, grid }: Rules, state: Int32Array, offset: number): StagHuntLayout {
  const values = (start: number) => Array.from(state.subarray(offset + start, offset + start + settings.agents));
  const placesOf = (set: number) => {
    const cells: number[] = [];
    listCells(state, offset + set, at.words, cells);
    return cells.map((cell) => placeOf(cell, grid));
  };
  const steps = state[offset + at.steps];
  const firstCatch = state[offset + at.firstCatch];
  const previous = settings.previousActions ? values(at.previous) : [];
  return {
    agents: values(at.cells).map((cell) => (cell === GONE ? null : placeOf(cell, grid))),
    obstacles: placesOf(at.obstacles),
    stags: placesOf(at.stags),
    hares: placesOf(at.hares),
    ...(steps > 0 && { steps }),
    ...(firstCatch > 0 && { firstCatch }),
    ...(previous.some((action) => action !== NO_ACTION) && {
      previousActions: previous.map((action) => (action === NO_ACTION ? null : action)),
    }),
  };
}
