import {
  checkOptions,
  fail,
  type Game,
  type GoalSet,
  type ObservationArrays,
  type Scene,
  type SceneItem,
  type StepArrays,
  show,
} from '@coplay/core';
import { z } from 'zod';
import { DOWN, LEFT, placeOf, RIGHT, type Settings, stepLimit, UP, whole } from '../game';
import { COUNTER, DISHES, FLOOR, type Kitchen, LAYOUTS, ONIONS, POT, readKitchen, SERVING, TERRAIN } from './kitchen';

/** Options of {@link overcooked}. All have defaults. */
export interface OvercookedOptions {
  /**
   * `cramped-room`, `asymmetric-advantages`, `coordination-ring`, `forced-coordination` or `counter-circuit`; or a map
   * of your own, a line a row: `X` counter, `P` pot, `O` onions, `D` dishes, `S` serving, blank floor, `1` and `2`
   * agents. Default `cramped-room`
   */
  readonly layout?: string | undefined;
  /**
   * Whether a pot starts to cook by itself once it has three onions, as in the first version of the game and in JaxMARL
   * (`old_dynamics` of overcooked-ai). Default false: an agent with empty hands starts it, with any number of onions
   */
  readonly autoCook?: boolean | undefined;
  /** Steps that a soup cooks, 1 to 255. Default 20 */
  readonly cookTime?: number | undefined;
  /** Paid to both agents for a soup of three onions that is served. Default 20 */
  readonly deliveryReward?: number | undefined;
  /** Factor of an agent's own shaped rewards in its reward. Default 0: they are only in the infos */
  readonly shaping?: number | undefined;
  /** Steps after which an episode is truncated, 1 to 1,000,000. Default 400 */
  readonly maxSteps?: number | undefined;
}

const schema = z
  .object({
    layout: z.string().default('cramped-room'),
    autoCook: z.boolean().default(false),
    cookTime: whole(1, 255).default(20),
    deliveryReward: z.number().default(20),
    shaping: z.number().default(0),
    maxSteps: stepLimit.default(400),
  })
  .strict();

/** Actions, as numbered by overcooked-ai. */
const ACTION_NAMES = ['up', 'down', 'right', 'left', 'stay', 'interact'];
const STAY = 4;
const INTERACT = 5;
/** [4] the move of the grid of each of the first actions. */
const MOVES = [UP, DOWN, RIGHT, LEFT];

/** A */
const AGENTS = 2;

/** What an agent holds or a counter has; SOUP + n is a soup of n onions. */
const NOTHING = 0;
const ONION = 1;
const DISH = 2;
const SOUP = 2;
/** Onions of a full pot. */
const FULL = 3;
/** In place of the number of steps that a pot has cooked. */
const IDLE = -1;

const SHAPED = { onionInPot: 3, dish: 3, soup: 5 };

/**
 * Layout of a state: the index of each field, relative to its offset; behind these fields come those of the kitchen.
 */
const STEPS = 0;
/** [2] cell of each agent */
const CELLS = 1;
/** [2] 0 to 3, where each agent looks, as its actions */
const FACING = CELLS + AGENTS;
/** [2] what each agent holds */
const HELD = FACING + AGENTS;
/** [cells] what lies on each counter; 0 in all other cells */
const ITEMS = HELD + AGENTS;

/** Kinds in pictures of what stands in a cell. */
const LOOKS = ['floor', 'obstacle', 'pot', 'onions', 'dishes', 'serving'];

/** Names of the planes, in the order of overcooked-ai's lossless encoding. */
const FACINGS = ACTION_NAMES.slice(0, 4);
const CHANNELS = [
  ...['self', 'other', ...FACINGS.map((name) => `self looks ${name}`), ...FACINGS.map((name) => `other looks ${name}`)],
  ...['pots', 'counters', 'onion dispensers', 'tomato dispensers', 'dish dispensers', 'serving'],
  ...['onions in idle pots', 'tomatoes in idle pots', 'onions in soups', 'tomatoes in soups', 'steps left to cook'],
  ...['finished soups', 'dishes', 'onions', 'tomatoes', 'urgency'],
];
const C = CHANNELS.length;
const channel = (name: string) => CHANNELS.indexOf(name);
const SELF_FACING = channel('self looks up');
const OTHER_FACING = channel('other looks up');
const ONIONS_IN_POT = channel('onions in idle pots');
const ONIONS_IN_SOUP = channel('onions in soups');
const STEPS_LEFT = channel('steps left to cook');
const FINISHED = channel('finished soups');
const DISH_PLANE = channel('dishes');
const ONION_PLANE = channel('onions');
const URGENCY = channel('urgency');
/** The planes `urgency` are 1 in the last steps of an episode, fewer than this. */
const URGENT_STEPS = 40;

/** Settings, and what follows from them. The arrays are working memory within one call. */
interface Rules {
  readonly settings: Settings<OvercookedOptions>;
  readonly kitchen: Kitchen;
  /** Where [P] onions in each pot begin in a state */
  readonly onions: number;
  /** Where [P] steps that each pot has cooked begin; IDLE for a pot that doesn't cook */
  readonly cooked: number;
  readonly size: number;
  /** [cells, C] the planes that never change */
  readonly planes: Uint8Array;
  /** [2] where each agent wants to be after the step */
  readonly targets: Int32Array;
}

/**
 * Overcooked (Carroll et al. 2019; overcooked-ai): two cooks put onions into pots, cook soups, and serve them on
 * dishes.
 *
 * Actions (K = 6): up, down, right, left, stay, interact; all are always legal. A move turns the agent, and moves it if
 * the cell is floor; if both want the same cell, or each other's, none moves. Interact does what fits the cell in
 * front: take an onion or a dish, put down or take something from a counter, put an onion into a pot, start to cook
 * (with empty hands; see `autoCook`), take a finished soup with a dish, serve. The first agent's interaction comes
 * first, then that of the second, then moves, then cooking. Observation: `grid` uint8 [H, W, 26], overcooked-ai's
 * lossless encoding, the observer first; numbers of onions and of steps left to cook, all other planes 0 or 1. Rewards:
 * 20 to both for a soup of three onions; infos `sparse`, an agent's own deliveries, and `shaped`: 3 for an onion in a
 * pot and for a dish that is needed, 5 for a soup that it takes. Start: as in the map, all look up, all is empty. End:
 * truncated after 400 steps. Goals: fill a pot, plate a soup, serve a soup.
 *
 * @throws CoplayError for an option that is unknown or out of range, and for a map that can't be read
 */
export function overcooked(options: OvercookedOptions = {}): Game<'int32'> {
  const settings = checkOptions('overcooked', schema, options);
  const rules = createRules(settings);
  const { grid, starts } = rules.kitchen;
  const { maxSteps, cookTime } = settings;
  return {
    name: 'overcooked',
    agents: Array.from({ length: AGENTS }, (_, i) => `agent_${i}`),
    actions: ACTION_NAMES.length,
    actionNames: ACTION_NAMES,
    observation: {
      grid: {
        ...{ shape: [grid.rows, grid.columns, C], dtype: 'uint8', kind: 'image' },
        ...{ high: Math.max(FULL, cookTime), channels: CHANNELS },
      },
    },
    stateType: 'int32',
    stateSize: rules.size,
    maxSteps,
    infos: ['sparse', 'shaped'],
    options: { ...settings },
    observesState: true,
    reset(state, offset) {
      state.fill(0, offset, offset + rules.size);
      state.fill(IDLE, offset + rules.cooked, offset + rules.size);
      for (let agent = 0; agent < AGENTS; agent++) state[offset + CELLS + agent] = starts[agent];
    },
    step: (state, offset, actions, actionsOffset, _generator, result, row) =>
      step(rules, state, offset, actions, actionsOffset, result, row),
    legal: (_state, _offset, _agent, mask, maskOffset) => {
      for (let action = 0; action < ACTION_NAMES.length; action++) mask[maskOffset + action] = 1;
    },
    observe: (state, offset, agent, out, row) => observe(rules, state, offset, agent, out, row),
    isActive: () => true,
    elapsed: (state, offset) => state[offset + STEPS],
    scene: (state, offset) => scene(rules, state, offset),
    goals: cookingGoals(rules),
  };
}

function createRules(settings: Settings<OvercookedOptions>): Rules {
  const { layout } = settings;
  const where = 'overcooked: option layout';
  const isMap = layout.includes('\n');
  if (!isMap && !Object.hasOwn(LAYOUTS, layout)) {
    fail(where, `one of ${Object.keys(LAYOUTS).join(', ')}, or a map with several lines`, show(layout), 'Change it.');
  }
  const kitchen = readKitchen(where, isMap ? layout : LAYOUTS[layout as keyof typeof LAYOUTS]);
  const onions = ITEMS + kitchen.grid.cells;
  const cooked = onions + kitchen.pots.length;
  const planes = new Uint8Array(kitchen.grid.cells * C);
  const names = { [POT]: 'pots', [COUNTER]: 'counters', [ONIONS]: 'onion dispensers', [DISHES]: 'dish dispensers' };
  kitchen.terrain.forEach((kind, cell) => {
    if (kind !== FLOOR) planes[cell * C + channel({ ...names, [SERVING]: 'serving' }[kind] as string)] = 1;
  });
  const size = cooked + kitchen.pots.length;
  return { settings, kitchen, onions, cooked, size, planes, targets: new Int32Array(AGENTS) };
}

function step(
  rules: Rules,
  state: Int32Array,
  offset: number,
  actions: Int32Array,
  actionsOffset: number,
  result: StepArrays,
  row: number,
): void {
  const { maxSteps, shaping } = rules.settings;
  const { rewards, terminated, truncated, infos } = result;
  const { sparse, shaped } = infos;
  const seat = row * AGENTS;
  // Whether a dish is needed goes by the pots before the step.
  const started = startedPots(rules, state, offset);
  for (let agent = 0; agent < AGENTS; agent++) {
    sparse[seat + agent] = 0;
    shaped[seat + agent] = 0;
    if (actions[actionsOffset + agent] === INTERACT) {
      interact(rules, state, offset, agent, started, sparse, shaped, seat + agent);
    }
  }
  move(rules, state, offset, actions, actionsOffset);
  cook(rules, state, offset);
  const isLast = ++state[offset + STEPS] >= maxSteps ? 1 : 0;
  const delivered = sparse[seat] + sparse[seat + 1];
  for (let i = seat; i < seat + AGENTS; i++) {
    rewards[i] = delivered + shaping * shaped[i];
    terminated[i] = 0;
    truncated[i] = isLast;
  }
}

/** How many pots cook, have a finished soup, or have some but not all onions. */
function startedPots({ kitchen, onions, cooked }: Rules, state: Int32Array, offset: number): number {
  let count = 0;
  for (let pot = 0; pot < kitchen.pots.length; pot++) {
    const inside = state[offset + onions + pot];
    if (state[offset + cooked + pot] !== IDLE || (inside > 0 && inside < FULL)) count++;
  }
  return count;
}

/** @param at  the agent's place in `sparse` and `shaped` */
function interact(
  rules: Rules,
  state: Int32Array,
  offset: number,
  agent: number,
  started: number,
  sparse: Float32Array,
  shaped: Float32Array,
  at: number,
): void {
  const { kitchen, settings } = rules;
  const cell = kitchen.grid.neighbours[state[offset + CELLS + agent] * 4 + MOVES[state[offset + FACING + agent]]];
  const hand = offset + HELD + agent;
  const held = state[hand];
  switch (kitchen.terrain[cell]) {
    case COUNTER: {
      const item = offset + ITEMS + cell;
      if ((held === NOTHING) === (state[item] === NOTHING)) return;
      state[hand] = state[item];
      state[item] = held;
      return;
    }
    case ONIONS:
      if (held === NOTHING) state[hand] = ONION;
      return;
    case DISHES:
      if (held !== NOTHING) return;
      if (isDishNeeded(rules, state, offset, started)) shaped[at] += SHAPED.dish;
      state[hand] = DISH;
      return;
    case POT:
      shaped[at] += usePot(rules, state, offset, kitchen.potIn[cell], hand);
      return;
    case SERVING:
      if (held <= SOUP) return;
      if (held === SOUP + FULL) sparse[at] += settings.deliveryReward;
      state[hand] = NOTHING;
  }
}

/** Puts an onion into a pot, starts to cook, or takes the soup. @returns the shaped reward */
function usePot(
  { settings, onions, cooked }: Rules,
  state: Int32Array,
  offset: number,
  pot: number,
  hand: number,
): number {
  const content = offset + onions + pot;
  const time = offset + cooked + pot;
  const held = state[hand];
  if (held === NOTHING) {
    if (!settings.autoCook && state[time] === IDLE && state[content] > 0) state[time] = 0;
  } else if (held === DISH && state[time] >= settings.cookTime) {
    state[hand] = SOUP + state[content];
    state[content] = 0;
    state[time] = IDLE;
    return SHAPED.soup;
  } else if (held === ONION && state[time] === IDLE && state[content] < FULL) {
    state[hand] = NOTHING;
    state[content]++;
    return SHAPED.onionInPot;
  }
  return 0;
}

/** Whether no dish lies on a counter, and agents hold fewer dishes than there are started pots. */
function isDishNeeded({ kitchen }: Rules, state: Int32Array, offset: number, started: number): boolean {
  let held = 0;
  for (let agent = 0; agent < AGENTS; agent++) if (state[offset + HELD + agent] === DISH) held++;
  if (held >= started) return false;
  for (let cell = 0; cell < kitchen.grid.cells; cell++) if (state[offset + ITEMS + cell] === DISH) return false;
  return true;
}

/** Turns agents, and moves them unless they would collide. */
function move(
  { kitchen, targets }: Rules,
  state: Int32Array,
  offset: number,
  actions: Int32Array,
  actionsOffset: number,
): void {
  for (let agent = 0; agent < AGENTS; agent++) {
    const action = actions[actionsOffset + agent];
    const cell = state[offset + CELLS + agent];
    targets[agent] = cell;
    if (action >= STAY) continue;
    state[offset + FACING + agent] = action;
    const next = kitchen.grid.neighbours[cell * 4 + MOVES[action]];
    if (kitchen.terrain[next] === FLOOR) targets[agent] = next;
  }
  const first = state[offset + CELLS];
  const second = state[offset + CELLS + 1];
  const swap = targets[0] === second && targets[1] === first;
  if (targets[0] === targets[1] || swap) return;
  state[offset + CELLS] = targets[0];
  state[offset + CELLS + 1] = targets[1];
}

/** Cooks what is on for one step. */
function cook({ settings, kitchen, onions, cooked }: Rules, state: Int32Array, offset: number): void {
  const { autoCook, cookTime } = settings;
  for (let pot = 0; pot < kitchen.pots.length; pot++) {
    const time = offset + cooked + pot;
    if (autoCook && state[time] === IDLE && state[offset + onions + pot] === FULL) state[time] = 0;
    if (state[time] !== IDLE && state[time] < cookTime) state[time]++;
  }
}

function observe(
  rules: Rules,
  state: Int32Array,
  offset: number,
  observer: number,
  out: ObservationArrays,
  row: number,
): void {
  const { kitchen, settings, onions, cooked } = rules;
  const grid = out['grid'] as Uint8Array;
  const { cells } = kitchen.grid;
  const base = row * cells * C;
  grid.set(rules.planes, base);
  for (let i = 0; i < AGENTS; i++) {
    const agent = i === 0 ? observer : 1 - observer;
    const pixel = base + state[offset + CELLS + agent] * C;
    grid[pixel + i] = 1;
    grid[pixel + (i === 0 ? SELF_FACING : OTHER_FACING) + state[offset + FACING + agent]] = 1;
    markItem(grid, pixel, state[offset + HELD + agent]);
  }
  for (let cell = 0; cell < cells; cell++) {
    const item = state[offset + ITEMS + cell];
    if (item !== NOTHING) markItem(grid, base + cell * C, item);
  }
  for (let pot = 0; pot < kitchen.pots.length; pot++) {
    const pixel = base + kitchen.pots[pot] * C;
    const content = state[offset + onions + pot];
    const time = state[offset + cooked + pot];
    if (time === IDLE) {
      grid[pixel + ONIONS_IN_POT] = content;
    } else {
      grid[pixel + ONIONS_IN_SOUP] = content;
      grid[pixel + STEPS_LEFT] = settings.cookTime - time;
      grid[pixel + FINISHED] = time >= settings.cookTime ? 1 : 0;
    }
  }
  if (settings.maxSteps - state[offset + STEPS] >= URGENT_STEPS) return;
  for (let cell = 0; cell < cells; cell++) grid[base + cell * C + URGENCY] = 1;
}

/** Marks what is held or lies in a cell. */
function markItem(grid: Uint8Array, pixel: number, item: number): void {
  if (item === ONION) grid[pixel + ONION_PLANE] = 1;
  else if (item === DISH) grid[pixel + DISH_PLANE] = 1;
  else if (item > SOUP) {
    grid[pixel + ONIONS_IN_SOUP] = item - SOUP;
    grid[pixel + FINISHED] = 1;
  }
}

/**
 * Agents, where they look and what they hold; a pot shows its number of onions, `*` in addition for a finished soup.
 */
function scene({ kitchen, settings, onions, cooked }: Rules, state: Int32Array, offset: number): Scene {
  const { grid, terrain, pots } = kitchen;
  const items: SceneItem[] = [];
  const add = (kind: string, symbol: string, cell: number) => {
    const [row, column] = placeOf(cell, grid);
    items.push({ kind, symbol, row, column });
  };
  const addItem = (item: number, cell: number) => {
    if (item === ONION) add('onion', 'o', cell);
    else if (item === DISH) add('dish', 'd', cell);
    else if (item > SOUP) add('soup', 's', cell);
  };
  terrain.forEach((kind, cell) => {
    if (kind !== FLOOR) add(LOOKS[kind], kind === COUNTER ? '#' : TERRAIN[kind], cell);
    addItem(state[offset + ITEMS + cell], cell);
  });
  pots.forEach((cell, pot) => {
    const content = state[offset + onions + pot];
    if (content > 0) add('onion', String(content), cell);
    if (state[offset + cooked + pot] >= settings.cookTime) add('soup', '*', cell);
  });
  for (let agent = 0; agent < AGENTS; agent++) {
    const cell = state[offset + CELLS + agent];
    add('agent', String(agent + 1), cell);
    add('facing', '^v><'[state[offset + FACING + agent]], cell);
    addItem(state[offset + HELD + agent], cell);
  }
  return { rows: grid.rows, columns: grid.columns, items };
}

/** An agent reaches a goal when the thing in its hands goes, or becomes a soup. */
function cookingGoals({ kitchen }: Rules): GoalSet<'int32'> {
  return {
    names: ['fill a pot', 'plate a soup', 'serve a soup'],
    readsStates: true,
    reached({ agent, action, before, after }) {
      if (action !== INTERACT) return -1;
      const had = before[HELD + agent];
      const has = after[HELD + agent];
      const facing = kitchen.grid.neighbours[before[CELLS + agent] * 4 + MOVES[before[FACING + agent]]];
      if (had === ONION && has === NOTHING && kitchen.terrain[facing] === POT) return 0;
      if (had === DISH && has > SOUP) return 1;
      return had > SOUP && has === NOTHING && kitchen.terrain[facing] === SERVING ? 2 : -1;
    },
  };
}
