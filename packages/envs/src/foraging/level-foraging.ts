import type { Game, Generator, GoalSet, ObservationArrays, ObservationSpec, Scene, StepArrays } from '@coplay/core';
import { createGrid, type Grid, OUTSIDE, placeOf } from '../game';
import { type ForagingSettings, type LevelForagingOptions, resolveOptions } from './options';

/** Actions, as numbered by lbforaging. Action m + 1 is the move m of the grid. */
const ACTION_NAMES = ['stay', 'up', 'down', 'left', 'right', 'load'];
const STAY = 0;
const LOAD = 5;

/**
 * Layout of a state: the index of each field, relative to its offset. Foods are in reading order and come first in
 * their list; the rest of it is OUTSIDE with level 0.
 */
interface StateMap {
  /** Steps done in this episode */
  readonly steps: number;
  /** Sum of the levels of all foods at the start; 1 where rewards aren't normalised */
  readonly spawned: number;
  /** [A] cell of each agent */
  readonly cells: number;
  /** [A] level of each agent */
  readonly levels: number;
  /** [F] cell of each food */
  readonly foods: number;
  /** [F] level of each food */
  readonly foodLevels: number;
  /** Values in all */
  readonly size: number;
}

/** Settings, and what follows from them. The arrays are working memory within one call. */
interface Rules {
  readonly settings: ForagingSettings;
  readonly grid: Grid;
  readonly at: StateMap;
  /** [A] the action of each agent; STAY for an illegal one */
  readonly judged: Int32Array;
  /** [A] where each agent wants to be after the step */
  readonly targets: Int32Array;
  /** [cells] cells to draw from */
  readonly free: Int32Array;
}

/**
 * Level-based foraging (Albrecht and Ramamoorthy 2013; Papoudakis et al. 2021; lbforaging): agents and foods have
 * levels. Agents next to a food that load it in the same step take it if their levels sum up to its own.
 *
 * Actions (K = 6): stay, up, down, left, right, load. Foods block the way, and load is legal next to a food. An illegal
 * action has the effect of staying, and sets the info `illegal`. Agents that want to be in the same cell all stay where
 * they are. As in lbforaging, two agents share a cell if one moves to the cell of another that doesn't get away.
 * Observation: `vector` float32 [3 foods + 3 A]: row, column and level of each food and of each agent (the observer,
 * then the others in the order of the seats), in the part of the grid that is seen; -1, -1 and 0 for all others. Or
 * `grid` uint8 [2 sight + 1, 2 sight + 1, 3], the observer in the middle: levels of agents, levels of foods, free
 * cells. Rewards: the level of a food that is loaded is paid to the agents that load it, in proportion to their levels,
 * and divided by the sum of the levels of all foods; without normalizeReward the product of the levels of food and
 * agent. Start: agents in different cells, then foods off the border, apart from each other, uniformly; levels uniform.
 * End: terminated when no food is left, else truncated after 50 steps. Goals: a food in each cell.
 *
 * @throws CoplayError for an option that is unknown or out of range
 */
export function levelForaging(options: LevelForagingOptions = {}): Game<'int32'> {
  const settings = resolveOptions(options);
  const rules = createRules(settings);
  const { at, grid } = rules;
  const { agents, size, sight, observation, observeLevels, normalizeReward } = settings;
  const isVector = observation === 'vector';
  const { maxFoodLevel, ...others } = settings;
  return {
    name: 'level-foraging',
    agents: Array.from({ length: agents }, (_, i) => `agent_${i}`),
    actions: ACTION_NAMES.length,
    actionNames: ACTION_NAMES,
    observation: observationSpec(settings),
    stateType: 'int32',
    stateSize: at.size,
    maxSteps: settings.maxSteps,
    infos: ['illegal', 'loaded'],
    options: { ...others, ...(maxFoodLevel > 0 && { maxFoodLevel }) }, // no limit is an option left out
    observesState: isVector && observeLevels && !normalizeReward && sight >= size - 1,
    reset: (state, offset, generator) => reset(rules, state, offset, generator),
    step: (state, offset, actions, actionsOffset, _generator, result, row) =>
      step(rules, state, offset, actions, actionsOffset, result, row),
    legal: (state, offset, agent, mask, maskOffset) => {
      const isOn = isActive(rules, state, offset);
      for (let action = 0; action < ACTION_NAMES.length; action++) {
        mask[maskOffset + action] = action === STAY || (isOn && isLegal(rules, state, offset, agent, action)) ? 1 : 0;
      }
    },
    observe: (state, offset, agent, out, row) =>
      isVector
        ? observeVector(rules, state, offset, agent, out, row)
        : observeGrid(rules, state, offset, agent, out, row),
    isActive: (state, offset) => isActive(rules, state, offset),
    elapsed: (state, offset) => state[offset + at.steps],
    scene: (state, offset) => scene(rules, state, offset),
    goals: foodGoals(rules, grid),
  };
}

function createRules(settings: ForagingSettings): Rules {
  const { agents, foods, size } = settings;
  const grid = createGrid(size, size);
  const cells = 2;
  const levels = cells + agents;
  const first = levels + agents;
  return {
    settings,
    grid,
    at: { steps: 0, spawned: 1, cells, levels, foods: first, foodLevels: first + foods, size: first + 2 * foods },
    judged: new Int32Array(agents),
    targets: new Int32Array(agents),
    free: new Int32Array(grid.cells),
  };
}

/** Where too many agents leave no room for any food, the first step ends the episode. */
function isActive({ at }: Rules, state: Int32Array, offset: number): boolean {
  return state[offset + at.foods] !== OUTSIDE || state[offset + at.steps] === 0;
}

function reset(rules: Rules, state: Int32Array, offset: number, generator: Generator): void {
  const { at, free, grid, settings } = rules;
  const { agents, foods, minAgentLevel, maxAgentLevel, normalizeReward } = settings;
  state.fill(0, offset, offset + at.size);
  state.fill(OUTSIDE, offset + at.foods, offset + at.foods + foods);
  for (let agent = 0; agent < agents; agent++) {
    let count = 0;
    for (let cell = 0; cell < grid.cells; cell++) {
      if (!hasAgent(rules, state, offset, cell, agent)) free[count++] = cell;
    }
    state[offset + at.cells + agent] = free[generator.integer(count)];
    state[offset + at.levels + agent] = minAgentLevel + generator.integer(maxAgentLevel - minAgentLevel + 1);
  }
  const highest = settings.maxFoodLevel || sumOfLowest(rules, state, offset, 3);
  const least = settings.forceCoop ? highest : settings.minFoodLevel;
  let spawned = 0;
  for (let food = 0; food < foods; food++) {
    let count = 0;
    for (let cell = 0; cell < grid.cells; cell++) {
      if (isRoomForFood(rules, state, offset, cell, food)) free[count++] = cell;
    }
    if (count === 0) break;
    const level = least + generator.integer(highest - least + 1);
    insertFood(rules, state, offset, food, free[generator.integer(count)], level);
    spawned += level;
  }
  state[offset + at.spawned] = normalizeReward ? spawned : 1;
}

/** Whether one of the first `count` agents is in a cell. */
function hasAgent({ at }: Rules, state: Int32Array, offset: number, cell: number, count: number): boolean {
  for (let agent = 0; agent < count; agent++) if (state[offset + at.cells + agent] === cell) return true;
  return false;
}

/** Sum of the lowest `count` levels of agents. */
function sumOfLowest({ at, settings }: Rules, state: Int32Array, offset: number, count: number): number {
  let sum = 0;
  let left = count;
  for (let level = 1; level <= settings.maxAgentLevel; level++) {
    for (let agent = 0; agent < settings.agents && left > 0; agent++) {
      if (state[offset + at.levels + agent] !== level) continue;
      sum += level;
      left--;
    }
  }
  return sum;
}

/**
 * Whether a food may be put into a cell: off the border, without an agent, and not where an agent between it and one of
 * the first `foods` foods would be next to both.
 */
function isRoomForFood(rules: Rules, state: Int32Array, offset: number, cell: number, foods: number): boolean {
  const { at, settings } = rules;
  const { size } = settings;
  const row = Math.floor(cell / size);
  const column = cell % size;
  if (row === 0 || column === 0 || row === size - 1 || column === size - 1) return false;
  for (let food = 0; food < foods; food++) {
    const other = state[offset + at.foods + food];
    const rows = Math.abs(Math.floor(other / size) - row);
    const columns = Math.abs((other % size) - column);
    if (rows + columns <= 2) return false;
  }
  return !hasAgent(rules, state, offset, cell, settings.agents);
}

/** Puts a food behind the first `foods` ones, in reading order. */
function insertFood(
  { at }: Rules,
  state: Int32Array,
  offset: number,
  foods: number,
  cell: number,
  level: number,
): void {
  const cells = offset + at.foods;
  const levels = offset + at.foodLevels;
  let i = foods;
  for (; i > 0 && state[cells + i - 1] > cell; i--) {
    state[cells + i] = state[cells + i - 1];
    state[levels + i] = state[levels + i - 1];
  }
  state[cells + i] = cell;
  state[levels + i] = level;
}

/** Level of the food in a cell; 0 for none. */
function foodIn({ at, settings }: Rules, state: Int32Array, offset: number, cell: number): number {
  for (let food = 0; food < settings.foods; food++) {
    if (state[offset + at.foods + food] === cell) return state[offset + at.foodLevels + food];
  }
  return 0;
}

/** Whether two cells have a side in common. */
function isNext(size: number, a: number, b: number): boolean {
  const distance = Math.abs(a - b);
  return distance === size || (distance === 1 && Math.floor(a / size) === Math.floor(b / size));
}

function isLegal(rules: Rules, state: Int32Array, offset: number, agent: number, action: number): boolean {
  const { at, grid, settings } = rules;
  const cell = state[offset + at.cells + agent];
  if (action === STAY) return true;
  if (action !== LOAD) {
    const exit = cell * 4 + action - 1;
    return grid.isInside[exit] === 1 && foodIn(rules, state, offset, grid.neighbours[exit]) === 0;
  }
  for (let food = 0; food < settings.foods; food++) {
    const other = state[offset + at.foods + food];
    if (other !== OUTSIDE && isNext(settings.size, cell, other)) return true;
  }
  return false;
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
  const { at, settings, judged } = rules;
  const { agents, maxSteps } = settings;
  const { rewards, terminated, truncated, infos } = result;
  const seat = row * agents;
  const isOn = isActive(rules, state, offset);
  for (let agent = 0; agent < agents; agent++) {
    const action = isOn ? actions[actionsOffset + agent] : STAY;
    const isFine = isLegal(rules, state, offset, agent, action);
    judged[agent] = isFine ? action : STAY;
    infos['illegal'][seat + agent] = isFine ? 0 : 1;
    infos['loaded'][seat + agent] = 0;
    rewards[seat + agent] = 0;
  }
  move(rules, state, offset);
  load(rules, state, offset, result, seat);
  state[offset + at.steps]++;
  const isLeft = isActive(rules, state, offset);
  const isCut = isLeft && state[offset + at.steps] >= maxSteps;
  for (let i = seat; i < seat + agents; i++) {
    terminated[i] = isLeft ? 0 : 1;
    truncated[i] = isCut ? 1 : 0;
  }
}

/** Moves each agent to the cell where it wants to be, if no other agent wants to be there. */
function move({ at, grid, settings, judged, targets }: Rules, state: Int32Array, offset: number): void {
  const { agents } = settings;
  for (let agent = 0; agent < agents; agent++) {
    const cell = state[offset + at.cells + agent];
    const action = judged[agent];
    targets[agent] = action === STAY || action === LOAD ? cell : grid.neighbours[cell * 4 + action - 1];
  }
  for (let agent = 0; agent < agents; agent++) {
    let wanted = 0;
    for (let other = 0; other < agents; other++) if (targets[other] === targets[agent]) wanted++;
    if (wanted === 1) state[offset + at.cells + agent] = targets[agent];
  }
}

/** Agents take the food that they load, if they are strong enough; no agent is next to two foods. */
function load(rules: Rules, state: Int32Array, offset: number, result: StepArrays, seat: number): void {
  const { at, settings } = rules;
  const { agents, foods, normalizeReward, penalty } = settings;
  let kept = 0;
  for (let food = 0; food < foods; food++) {
    const cell = state[offset + at.foods + food];
    const level = state[offset + at.foodLevels + food];
    if (cell === OUTSIDE) break;
    let strength = 0;
    for (let agent = 0; agent < agents; agent++) {
      if (loads(rules, state, offset, agent, cell)) strength += state[offset + at.levels + agent];
    }
    const isTaken = strength >= level;
    for (let agent = 0; agent < agents; agent++) {
      if (strength === 0 || !loads(rules, state, offset, agent, cell)) continue;
      const share = state[offset + at.levels + agent] * level;
      const paid = normalizeReward ? share / (strength * state[offset + at.spawned]) : share;
      result.rewards[seat + agent] = isTaken ? paid : -penalty;
      result.infos['loaded'][seat + agent] = isTaken ? 1 : 0;
    }
    if (isTaken) continue;
    state[offset + at.foods + kept] = cell;
    state[offset + at.foodLevels + kept++] = level;
  }
  state.fill(OUTSIDE, offset + at.foods + kept, offset + at.foods + foods);
  state.fill(0, offset + at.foodLevels + kept, offset + at.foodLevels + foods);
}

/** Whether an agent loads the food in a cell in this step. */
function loads({ at, settings, judged }: Rules, state: Int32Array, offset: number, agent: number, food: number) {
  return judged[agent] === LOAD && isNext(settings.size, state[offset + at.cells + agent], food);
}

function observationSpec(settings: ForagingSettings): ObservationSpec {
  const { agents, foods, sight, observation, observeLevels, maxAgentLevel, maxFoodLevel } = settings;
  if (observation === 'grid') {
    const lines = 2 * sight + 1;
    const channels = ['agents', 'foods', 'free'];
    const high = Math.max(maxAgentLevel, maxFoodLevel || Math.min(3, agents) * maxAgentLevel);
    return { grid: { shape: [lines, lines, 3], dtype: 'uint8', kind: 'image', high, channels } };
  }
  const names = ['agent', ...Array.from({ length: agents - 1 }, (_, i) => `other ${i + 1}`)];
  const channels = [
    ...Array.from({ length: foods }, (_, i) => `food ${i + 1}`).flatMap((name) => fieldsOf(name, true)),
    ...names.flatMap((name) => fieldsOf(name, observeLevels)),
  ];
  return { vector: { shape: [channels.length], dtype: 'float32', kind: 'vector', channels } };
}

function fieldsOf(name: string, hasLevel: boolean): string[] {
  return [`${name} row`, `${name} column`, ...(hasLevel ? [`${name} level`] : [])];
}

/**
 * Rows and columns count from the first ones that the observer sees. Where the border cuts its view, agents are seen as
 * far as the whole view would reach, as in lbforaging.
 */
function observeVector(
  rules: Rules,
  state: Int32Array,
  offset: number,
  observer: number,
  out: ObservationArrays,
  row: number,
): void {
  const { at, settings } = rules;
  const { size, agents, foods, sight, observeLevels } = settings;
  const values = out['vector'];
  const width = observeLevels ? 3 : 2;
  let next = row * (3 * foods + width * agents);
  const own = state[offset + at.cells + observer];
  const ownRow = Math.floor(own / size);
  const ownColumn = own % size;
  const top = ownRow - Math.min(sight, ownRow);
  const left = ownColumn - Math.min(sight, ownColumn);
  let seen = 0;
  for (let food = 0; food < foods; food++) {
    const cell = state[offset + at.foods + food];
    if (cell === OUTSIDE) break;
    const r = Math.floor(cell / size);
    const c = cell % size;
    if (Math.abs(r - ownRow) > sight || Math.abs(c - ownColumn) > sight) continue;
    values[next] = r - top;
    values[next + 1] = c - left;
    values[next + 2] = state[offset + at.foodLevels + food];
    next += 3;
    seen++;
  }
  for (; seen < foods; seen++) {
    values[next] = -1;
    values[next + 1] = -1;
    values[next + 2] = 0;
    next += 3;
  }
  const end = next + width * agents;
  for (let i = -1; i < agents; i++) {
    if (i === observer) continue;
    const agent = i === -1 ? observer : i;
    const cell = state[offset + at.cells + agent];
    const r = Math.floor(cell / size) - top;
    const c = (cell % size) - left;
    if (r < 0 || c < 0 || r > 2 * sight || c > 2 * sight) continue;
    values[next] = r;
    values[next + 1] = c;
    if (observeLevels) values[next + 2] = state[offset + at.levels + agent];
    next += width;
  }
  for (; next < end; next += width) {
    values[next] = -1;
    values[next + 1] = -1;
    if (observeLevels) values[next + 2] = 0;
  }
}

function observeGrid(
  rules: Rules,
  state: Int32Array,
  offset: number,
  observer: number,
  out: ObservationArrays,
  row: number,
): void {
  const { at, settings } = rules;
  const { size, agents, foods, sight, observeLevels } = settings;
  const values = out['grid'];
  const lines = 2 * sight + 1;
  const base = row * lines * lines * 3;
  const own = state[offset + at.cells + observer];
  const top = Math.floor(own / size) - sight;
  const left = (own % size) - sight;
  for (let r = 0; r < lines; r++) {
    for (let c = 0; c < lines; c++) {
      const isInside = r + top >= 0 && r + top < size && c + left >= 0 && c + left < size;
      const pixel = base + (r * lines + c) * 3;
      values[pixel] = 0;
      values[pixel + 1] = 0;
      values[pixel + 2] = isInside ? 1 : 0;
    }
  }
  for (let i = 0; i < agents + foods; i++) {
    const cell = i < agents ? state[offset + at.cells + i] : state[offset + at.foods + i - agents];
    if (cell === OUTSIDE) break; // a food that was taken, and so are all after it
    const r = Math.floor(cell / size) - top;
    const c = (cell % size) - left;
    if (r < 0 || c < 0 || r >= lines || c >= lines) continue;
    const pixel = base + (r * lines + c) * 3;
    values[pixel + 2] = 0;
    if (i >= agents) values[pixel + 1] = state[offset + at.foodLevels + i - agents];
    else values[pixel] = observeLevels ? state[offset + at.levels + i] : 1;
  }
}

/** Foods show their level; above 9 as a letter. */
function scene({ at, grid, settings }: Rules, state: Int32Array, offset: number): Scene {
  const itemOf = (kind: string, symbol: string, cell: number) => {
    const [row, column] = placeOf(cell, grid);
    return { kind, symbol, row, column };
  };
  const foods = Array.from({ length: settings.foods }, (_, food) => {
    const cell = state[offset + at.foods + food];
    if (cell === OUTSIDE) return [];
    return [itemOf('food', state[offset + at.foodLevels + food].toString(36), cell)];
  });
  const agents = Array.from({ length: settings.agents }, (_, agent) =>
    itemOf('agent', String(agent + 1), state[offset + at.cells + agent]),
  );
  return { rows: grid.rows, columns: grid.columns, items: [...foods.flat(), ...agents] };
}

/** A goal for each cell: the food there, open as long as it is there, reached by the agents that load it. */
function foodGoals(rules: Rules, grid: Grid): GoalSet<'int32'> {
  const { at, settings } = rules;
  return {
    names: Array.from({ length: grid.cells }, (_, cell) => `food at ${placeOf(cell, grid).join(', ')}`),
    readsStates: true,
    reached({ agent, action, before, after }) {
      if (action !== LOAD) return -1;
      for (let food = 0; food < settings.foods; food++) {
        const cell = before[at.foods + food];
        if (cell === OUTSIDE || !isNext(settings.size, before[at.cells + agent], cell)) continue;
        return foodIn(rules, after, 0, cell) === 0 ? cell : -1;
      }
      return -1;
    },
    isOpen: (goal, state, offset) => foodIn(rules, state, offset, goal) > 0,
  };
}
