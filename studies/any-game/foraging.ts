import type { Game } from '@coplay/core';

const SIZE = 4;
const CELLS = SIZE * SIZE;
/** The cell of food that was taken. */
const TAKEN = CELLS;
const AGENTS = 3;
const FOODS = 3;
const MAX_STEPS = 25;

const STAY = 0;
const LOAD = 5;
const ROWS = [0, -1, 1, 0, 0];
const COLUMNS = [0, 0, 0, -1, 1];

// Layout of one environment's state.
const STEPS = 0;
const PLACES = 1; // cells of the agents
const LEVELS = PLACES + AGENTS; // levels of the agents
const FOOD = LEVELS + AGENTS; // cells of the foods; food f has the level f + 1
const STATE_SIZE = FOOD + FOODS;

const LEVEL_SUM = 6; // of all foods
const CHANNELS = ['self of 1', 'self of 2', 'agents of 1', 'agents of 2', 'food of 1', 'food of 2', 'food of 3'];
const C = CHANNELS.length;

/**
 * Level-based foraging (after Albrecht and Ramamoorthy 2013; Papoudakis et al. 2021) as a user would write it: three
 * agents of level 1 or 2 on 4x4 and foods of the levels 1, 2 and 3. Nothing tells the library about its grid.
 *
 * Actions: stay, up, down, left, right, load. Agents may share cells with each other and with food.
 * Step: all move at once. Then the agents that load on a food's cell or next to it take it, if their levels sum up to
 * its own. They share its level, divided by the sum of the foods' levels, in proportion to their own levels.
 * Observation: `planes` uint8 [4, 4, 7], where the observer, the other agents and the foods of each level are.
 * End: once all food is taken, or truncated after 25 steps. All agents together earn 1 at most, 1/3 each.
 */
export function foraging(): Game<'int32'> {
  return {
    name: 'foraging',
    agents: Array.from({ length: AGENTS }, (_, i) => `forager_${i}`),
    actions: 6,
    actionNames: ['stay', 'up', 'down', 'left', 'right', 'load'],
    observation: { planes: { shape: [SIZE, SIZE, C], dtype: 'uint8', kind: 'planes', channels: CHANNELS } },
    stateType: 'int32',
    stateSize: STATE_SIZE,
    maxSteps: MAX_STEPS,
    infos: [],
    options: {},

    reset(state, offset, generator) {
      state[offset + STEPS] = 0;
      for (let i = 0; i < AGENTS; i++) {
        state[offset + PLACES + i] = generator.integer(CELLS);
        state[offset + LEVELS + i] = 1 + generator.integer(2);
      }
      for (let f = 0; f < FOODS; f++) {
        let cell = generator.integer(CELLS);
        while (f > 0 && isFood(state, offset, cell, f)) cell = generator.integer(CELLS);
        state[offset + FOOD + f] = cell;
      }
    },

    step(state, offset, actions, actionsOffset, _generator, result, row) {
      for (let i = 0; i < AGENTS; i++) {
        state[offset + PLACES + i] = moved(state[offset + PLACES + i], actions[actionsOffset + i]);
        result.rewards[row * AGENTS + i] = 0;
      }
      let left = 0;
      for (let f = 0; f < FOODS; f++) {
        const cell = state[offset + FOOD + f];
        if (cell === TAKEN) continue;
        const level = f + 1;
        let strength = 0;
        for (let i = 0; i < AGENTS; i++) {
          if (loads(state, offset, i, actions[actionsOffset + i], cell)) strength += state[offset + LEVELS + i];
        }
        if (strength < level) {
          left++;
          continue;
        }
        state[offset + FOOD + f] = TAKEN;
        for (let i = 0; i < AGENTS; i++) {
          if (!loads(state, offset, i, actions[actionsOffset + i], cell)) continue;
          result.rewards[row * AGENTS + i] += (level / LEVEL_SUM) * (state[offset + LEVELS + i] / strength);
        }
      }
      const isLast = ++state[offset + STEPS] >= MAX_STEPS;
      for (let at = row * AGENTS; at < (row + 1) * AGENTS; at++) {
        result.terminated[at] = left === 0 ? 1 : 0;
        result.truncated[at] = left > 0 && isLast ? 1 : 0;
      }
    },

    legal(state, offset, agent, mask, maskOffset) {
      if (!isFoodLeft(state, offset)) {
        mask.fill(0, maskOffset, maskOffset + LOAD + 1);
        mask[maskOffset + STAY] = 1;
        return;
      }
      const cell = state[offset + PLACES + agent];
      for (let action = STAY; action < LOAD; action++) {
        mask[maskOffset + action] = action === STAY || moved(cell, action) !== cell ? 1 : 0;
      }
      mask[maskOffset + LOAD] = 0;
      for (let f = 0; f < FOODS; f++) {
        if (isNear(cell, state[offset + FOOD + f])) mask[maskOffset + LOAD] = 1;
      }
    },

    observe(state, offset, agent, { planes }, row) {
      const base = row * CELLS * C;
      planes.fill(0, base, base + CELLS * C);
      for (let i = 0; i < AGENTS; i++) {
        const channel = (i === agent ? 0 : 2) + state[offset + LEVELS + i] - 1;
        planes[base + state[offset + PLACES + i] * C + channel] = 1;
      }
      for (let f = 0; f < FOODS; f++) {
        const cell = state[offset + FOOD + f];
        if (cell !== TAKEN) planes[base + cell * C + 4 + f] = 1;
      }
    },

    isActive: isFoodLeft,
    elapsed: (state, offset) => state[offset + STEPS],
  };
}

/** The cell that an action leads to; at the edge agents stay. */
function moved(cell: number, action: number): number {
  if (action === LOAD) return cell;
  const row = Math.floor(cell / SIZE) + ROWS[action];
  const column = (cell % SIZE) + COLUMNS[action];
  return Math.min(row, column) < 0 || Math.max(row, column) >= SIZE ? cell : row * SIZE + column;
}

/** Whether food that isn't taken is on the cell or next to it, not diagonally. */
function isNear(cell: number, food: number): boolean {
  if (food === TAKEN) return false;
  const rows = Math.abs(Math.floor(cell / SIZE) - Math.floor(food / SIZE));
  return rows + Math.abs((cell % SIZE) - (food % SIZE)) <= 1;
}

function loads(state: Int32Array, offset: number, agent: number, action: number, food: number): boolean {
  return action === LOAD && isNear(state[offset + PLACES + agent], food);
}

function isFood(state: Int32Array, offset: number, cell: number, foods: number): boolean {
  for (let f = 0; f < foods; f++) if (state[offset + FOOD + f] === cell) return true;
  return false;
}

function isFoodLeft(state: Int32Array, offset: number): boolean {
  for (let f = 0; f < FOODS; f++) if (state[offset + FOOD + f] !== TAKEN) return true;
  return false;
}
