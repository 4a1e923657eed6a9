import { assertGame, createGenerator } from '@coplay/core';
import { levelForaging } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { expectSameEpisode, recordedCases } from './recorded';

describe('levelForaging', () => {
  it.each(recordedCases('foraging'))('plays as lbforaging: %s', (name, recorded) => {
    expectSameEpisode('foraging', name, recorded);
  });

  it.each([
    ['a list', levelForaging({ size: 5, agents: 3, foods: 2, maxSteps: 15, sight: 1 })],
    ['planes', levelForaging({ size: 4, observation: 'grid', maxSteps: 15, maxAgentLevel: 1 })],
    ['all of the state', levelForaging({ size: 4, foods: 1, normalizeReward: false, maxSteps: 15 })],
    ['no room for food', levelForaging({ size: 3, agents: 9, maxSteps: 5 })],
    ['one agent', levelForaging({ agents: 1, size: 3, foods: 1, maxAgentLevel: 1, maxSteps: 30 })],
  ])('keeps the contract: %s', (_, game) => {
    assertGame(game, { episodes: 6 });
  });

  it('starts with agents anywhere, foods off the border and apart, and levels of all kinds', () => {
    const game = levelForaging({ size: 6, agents: 3, foods: 3, maxAgentLevel: 3 });
    const starts = startsOf(game, 400);
    const agents = new Set<number>();
    const levels = [0, 0, 0, 0];
    for (const state of starts) {
      // State: steps, sum of levels, 3 cells, 3 levels, 3 cells of foods, 3 levels of foods.
      const cells = state.slice(2, 5);
      const own = state.slice(5, 8).sort();
      const foods = state.slice(8, 11).filter((cell) => cell >= 0);
      const foodLevels = state.slice(11, 11 + foods.length);
      expect(new Set([...cells, ...foods]).size).toBe(cells.length + foods.length);
      for (const cell of cells) agents.add(cell);
      for (const level of own) levels[level]++;
      expect(foods).toEqual([...foods].sort((a, b) => a - b));
      foods.forEach((food, i) => {
        const [row, column] = [Math.floor(food / 6), food % 6];
        expect(Math.min(row, column, 5 - row, 5 - column)).toBeGreaterThan(0);
        for (const other of foods.slice(i + 1)) {
          expect(Math.abs(Math.floor(other / 6) - row) + Math.abs((other % 6) - column)).toBeGreaterThan(2);
        }
        expect(foodLevels[i]).toBeGreaterThanOrEqual(1);
        expect(foodLevels[i]).toBeLessThanOrEqual(own[0] + own[1] + own[2]);
      });
      expect(state[1]).toBe(foodLevels.reduce((a, b) => a + b));
    }
    expect(agents.size).toBe(36);
    // The standard error of a count of 1,200 draws with chance 1/3 is sqrt(1200 * 2/9) = 16.
    for (const level of [1, 2, 3]) expect(Math.abs(levels[level] - 400)).toBeLessThan(70);
  });

  it('gives all foods the sum of the three lowest levels with forceCoop', () => {
    for (const state of startsOf(levelForaging({ agents: 4, foods: 1, forceCoop: true }), 50)) {
      const [first, second, third] = state.slice(6, 10).sort();
      expect(state[11]).toBe(first + second + third);
    }
  });

  it('has a goal for the food in each cell, open while it is there', () => {
    const game = levelForaging({ size: 4, agents: 2, foods: 1, normalizeReward: false });
    // Steps, 1; agents in cells 1 and 8 with levels 1 and 2; a food of level 3 in cell 5.
    const before = Int32Array.of(0, 1, 1, 9, 1, 2, 5, 3);
    const after = Int32Array.of(1, 1, 1, 9, 1, 2, -1, 0);
    const step = { left: false, observations: {}, row: 0, before, after };
    expect(game.goals!.reached({ ...step, agent: 0, action: 5 })).toBe(5);
    expect(game.goals!.reached({ ...step, agent: 0, action: 0 })).toBe(-1);
    expect(game.goals!.reached({ ...step, agent: 0, action: 5, after: before })).toBe(-1);
    expect([4, 5].map((goal) => game.goals!.isOpen!(goal, before, 0))).toEqual([false, true]);
    expect(game.scene!(before, 0).items).toEqual([
      { kind: 'food', symbol: '3', row: 1, column: 1 },
      { kind: 'agent', symbol: '1', row: 0, column: 1 },
      { kind: 'agent', symbol: '2', row: 2, column: 1 },
    ]);
  });

  it('refuses levels that contradict each other, and options that it does not have', () => {
    expect(() => levelForaging({ minAgentLevel: 3, maxAgentLevel: 2 })).toThrow(/at least minAgentLevel, 3, got 2/);
    expect(() => levelForaging({ minFoodLevel: 3 })).toThrow(/minFoodLevel: expected at most .* 2, got 3/);
    expect(() => levelForaging({ minFoodLevel: 5, maxFoodLevel: 4 })).toThrow(/at most maxFoodLevel, 4, got 5/);
    expect(() => levelForaging({ players: 3 } as object)).toThrow('"players"');
  });
});

function startsOf(game: ReturnType<typeof levelForaging>, episodes: number): number[][] {
  const generator = createGenerator(1);
  const state = new Int32Array(game.stateSize);
  return Array.from({ length: episodes }, () => {
    game.reset(state, 0, generator);
    return [...state];
  });
}
