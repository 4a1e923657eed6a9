import { checkOptions, fail, type Scene, show } from '@coplay/core';
import { z } from 'zod';
import { agentsSchema, gridScene, objectForm, placeOf, placesIn, placesSchema, putThings } from '../game';
import { ACTION_NAMES } from './actions';
import { KINDS, layoutFromText, type StagHuntLayout, textFromLayout } from './layout-text';
import type { StagHuntSettings } from './options';
import { GONE, NO_ACTION, type Rules } from './rules';

const WHERE = 'stagHunt layout';

const action = z
  .int()
  .min(0)
  .max(ACTION_NAMES.length - 1);
const schema = z
  .object({
    agents: agentsSchema,
    obstacles: placesSchema,
    stags: placesSchema,
    hares: placesSchema,
    steps: z.int().min(0).default(0),
    firstCatch: z.int().min(0).default(0),
    previousActions: z.array(action.nullable()).readonly().optional(),
  })
  .strict();

type CheckedLayout = z.infer<typeof schema>;

/** Starts from a map or from lists of places. @throws CoplayError, and then the state is as it was before */
export function readLayout(rules: Rules, layout: unknown, state: Int32Array, offset: number): void {
  const given = objectForm(WHERE, layout, (text) => layoutFromText(WHERE, text, rules.agents, rules.grid));
  state.set(stateFrom(rules, checkOptions(WHERE, schema, given)), offset);
}

/** A map where each cell holds at most one thing, else JSON of the object form; `readLayout` gives an equal state. */
export function writeLayout(rules: Rules, state: Int32Array, offset: number): string {
  const layout = layoutOf(rules, state, offset);
  return textFromLayout(layout, rules.grid) ?? JSON.stringify(layout);
}

/** For renderers. */
export function scene(rules: Rules, state: Int32Array, offset: number): Scene {
  return gridScene(rules.grid, layoutOf(rules, state, offset), KINDS);
}

function stateFrom({ settings, at, grid }: Rules, layout: CheckedLayout): Int32Array {
  checkNumbers(layout, settings);
  const state = new Int32Array(at.size);
  state[at.steps] = layout.steps;
  state[at.firstCatch] = layout.firstCatch;
  putThings(WHERE, layout, KINDS, at, grid, state);
  for (let agent = 0; settings.previousActions && agent < settings.agents; agent++) {
    state[at.previous + agent] = layout.previousActions?.[agent] ?? NO_ACTION;
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

/** Defaults are left out, so that a layout shows only the particulars of a state. */
function layoutOf({ settings, at, grid }: Rules, state: Int32Array, offset: number): StagHuntLayout {
  const values = (start: number) => Array.from(state.subarray(offset + start, offset + start + settings.agents));
  const placesOf = (set: number) => placesIn(state, offset + set, at.words, grid);
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
