import { assertGame, type Game, parallelEnv } from '@coplay/core';
import { gymEscalation, gymHarvest, gymHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

const LEFT = 0;
const DOWN = 1;
const RIGHT = 2;
const UP = 3;

/** Starts from a map and plays one step. */
function play(game: Game<'int32'>, layout: unknown, first: number, second: number, seed = 0) {
  const env = parallelEnv(game, { seed });
  env.reset({ options: { layout } });
  const step = env.step({ agent_0: first, agent_1: second });
  return { env, step, rewards: [step.rewards['agent_0'], step.rewards['agent_1']], map: picture(game, env.state()) };
}

/** Where everything is: `{ agent: [[row, column], ...], stag: ... }`. */
function picture(game: Game<'int32'>, state: Int32Array): Record<string, number[][]> {
  const places: Record<string, number[][]> = {};
  for (const { kind, row, column } of game.scene?.(state, 0).items ?? []) {
    places[kind] = [...(places[kind] ?? []), [row, column]];
  }
  return places;
}

/** The layout with the agents' names exchanged. */
function exchanged(layout: string): string {
  return layout.replace(/[12]/g, (name) => (name === '1' ? '2' : '1'));
}

describe('gymHunt', () => {
  const game = gymHunt({ plants: 1 });

  it('keeps the contract', { tags: ['slow'] }, () => {
    assertGame(gymHunt({ maxSteps: 50 }));
    assertGame(gymHunt({ maxSteps: 50, rows: 2, columns: 2, plants: 1, runsAwayAfterMaul: true }));
    assertGame(gymHunt({ maxSteps: 50, rows: 4, columns: 3, plants: 0, stagFollows: false }));
  });

  it('starts with agents in the top corners, the stag in the middle and two plants elsewhere', () => {
    const hunt = gymHunt();
    for (let seed = 0; seed < 50; seed++) {
      const env = parallelEnv(hunt, { seed });
      const { observations } = env.reset();
      const { agent, stag, plants } = picture(hunt, env.state());
      expect(agent).toEqual([
        [0, 0],
        [0, 4],
      ]);
      expect(stag).toEqual([[2, 2]]);
      const cells = [...plants, ...agent, ...stag].map(String);
      expect(new Set(cells).size).toBe(5);
      expect(Array.from(observations['agent_0']['planes']).filter((value) => value === 1)).toHaveLength(5);
    }
  });

  // The stag at [2, 3] walks left towards the agents at [2, 1]; everyone meets at [2, 2].
  it('pays both for the stag, which appears on a free cell', () => {
    const layout = {
      agents: [
        [2, 1],
        [2, 1],
      ],
      stag: [[2, 3]],
      plants: [[4, 4]],
    };
    const { rewards, map } = play(game, layout, RIGHT, RIGHT);
    expect(rewards).toEqual([5, 5]);
    expect(map['agent']).toEqual([
      [2, 2],
      [2, 2],
    ]);
    expect([
      [2, 2],
      [4, 4],
    ]).not.toContainEqual(map['stag'][0]);
  });

  const alone = ['....2', '.....', '.1.S.', '.....', '....P'].join('\n');

  it('mauls an agent of any name that meets the stag alone', () => {
    const one = play(game, alone, RIGHT, UP);
    expect(one.rewards).toEqual([-5, 0]);
    expect(one.map['stag']).toEqual([[2, 2]]);
    expect(play(game, exchanged(alone), UP, RIGHT).rewards).toEqual([0, -5]);
    const away = play(gymHunt({ plants: 1, runsAwayAfterMaul: true }), alone, RIGHT, UP);
    expect(away.rewards).toEqual([-5, 0]);
    expect(away.map['stag']).not.toEqual([[2, 2]]);
  });

  it('moves the stag towards the agent that is nearest before the step', () => {
    // Agent 1 is nearest (2 away against 3) and leaves; agent 2 comes nearer in the same step.
    const layout = ['.....', '.....', '.1S..', '..P..', '...2.'].join('\n');
    const { map } = play(game, layout, LEFT, UP);
    expect(map['stag']).toEqual([[2, 1]]);
  });

  it('breaks ties and chooses the axis at random', () => {
    // Both agents are as near: [0, 0] and [0, 4] from [2, 2]. Up leads to both; left and right show the choice.
    const start = ['1...2', '.....', '..S..', '.....', 'P....'].join('\n');
    const count = { up: 0, left: 0, right: 0 };
    for (let seed = 0; seed < 400; seed++) {
      const [[row, column]] = play(game, start, UP, UP, seed).map['stag'];
      if (row === 1) count.up++;
      else if (column === 1) count.left++;
      else count.right++;
    }
    // 1/2, 1/4, 1/4 of 400; 4 standard deviations are 40 and 35.
    expect(Math.abs(count.up - 200)).toBeLessThan(40);
    expect(Math.abs(count.left - 100)).toBeLessThan(35);
    expect(Math.abs(count.right - 100)).toBeLessThan(35);
  });

  it('feeds who stands on a plant, each of two, and lets it grow on a free cell', () => {
    const layout = ['.1P2.', '.....', '.....', '.....', '..S..'].join('\n');
    const both = play(game, layout, RIGHT, LEFT);
    expect(both.rewards).toEqual([1, 1]);
    expect(both.map['plants']).toHaveLength(1);
    expect(both.map['plants']).not.toEqual([[0, 2]]);
    expect(play(game, layout, RIGHT, RIGHT).rewards).toEqual([1, 0]);
    expect(play(game, layout, LEFT, LEFT).rewards).toEqual([0, 1]);
  });

  it('does not feed one who is mauled on a plant', () => {
    const layout = {
      agents: [
        [2, 1],
        [0, 4],
      ],
      stag: [[2, 3]],
      plants: [[2, 2]],
    };
    const { rewards, map } = play(game, layout, RIGHT, UP);
    expect(rewards).toEqual([-5, 0]);
    expect(map['plants']).toEqual([[2, 2]]);
  });

  it('shows planes from each side, and stops at the border', () => {
    const { step, map } = play(game, ['1...2', '.....', '..S..', '.....', 'P....'].join('\n'), UP, RIGHT);
    expect(map['agent']).toEqual([
      [0, 0],
      [0, 4],
    ]);
    const at = (id: string, cell: number, plane: number) => step.observations[id]['planes'][cell * 4 + plane];
    expect([at('agent_0', 0, 0), at('agent_0', 4, 1), at('agent_1', 4, 0), at('agent_1', 0, 1)]).toEqual([1, 1, 1, 1]);
    expect([at('agent_0', 20, 3), at('agent_1', 20, 3)]).toEqual([1, 1]); // the plant at [4, 0]
  });

  it('moves left, down, right, up by actions 0 to 3', () => {
    const layout = ['.....', '.....', '..1..', '.....', '2.S.P'].join('\n');
    const places = [LEFT, DOWN, RIGHT, UP].map((action) => play(game, layout, action, LEFT).map['agent'][0]);
    expect(places).toEqual([
      [2, 1],
      [3, 2],
      [2, 3],
      [1, 2],
    ]);
  });

  it('is truncated, not terminated', () => {
    const { step, env } = play(gymHunt({ maxSteps: 1 }), undefined, UP, UP);
    expect(step.truncations).toEqual({ agent_0: true, agent_1: true });
    expect(step.terminations).toEqual({ agent_0: false, agent_1: false });
    expect(env.agents).toEqual([]);
    expect(gymHunt().maxSteps).toBe(1000);
  });
});

describe('gymHarvest', () => {
  const never = { plants: 1, chanceToMature: 0, chanceToDie: 0 };
  const young = ['1p.2.', '.....', '.....'].join('\n');
  const mature = ['1P.2.', '.....', '.....'].join('\n');
  const board = { rows: 3, columns: 5 };

  it('keeps the contract', { tags: ['slow'] }, () => {
    assertGame(gymHarvest({ maxSteps: 50 }));
    assertGame(gymHarvest({ maxSteps: 50, rows: 2, columns: 3, plants: 3, chanceToDie: 1, chanceToMature: 0.5 }));
  });

  it('starts with four young plants', () => {
    const game = gymHarvest();
    const env = parallelEnv(game);
    env.reset();
    expect(picture(game, env.state())['young']).toHaveLength(4);
    expect(picture(game, env.state())['mature']).toBeUndefined();
  });

  it('pays a young plant to the agent that stands on it', () => {
    const game = gymHarvest({ ...board, ...never });
    const one = play(game, young, RIGHT, UP);
    expect(one.rewards).toEqual([1, 0]);
    expect(one.map['young']).not.toEqual([[0, 1]]);
    expect(play(game, exchanged(young), UP, RIGHT).rewards).toEqual([0, 1]);
    expect(play(game, ['1p2..', '.....', '.....'].join('\n'), RIGHT, LEFT).rewards).toEqual([1, 1]);
  });

  it('pays a mature plant to both, once, and lets a young one grow elsewhere', () => {
    const game = gymHarvest({ ...board, ...never });
    const one = play(game, mature, RIGHT, UP);
    expect(one.rewards).toEqual([2, 2]);
    expect(one.map['mature']).toBeUndefined();
    expect(one.map['young']).toHaveLength(1);
    expect(play(game, exchanged(mature), UP, RIGHT).rewards).toEqual([2, 2]);
    expect(play(game, ['1P2..', '.....', '.....'].join('\n'), RIGHT, LEFT).rewards).toEqual([2, 2]);
  });

  it('lets plants mature, and die before they are harvested', () => {
    expect(play(gymHarvest({ ...board, ...never, chanceToMature: 1 }), young, RIGHT, UP).rewards).toEqual([2, 2]);
    const dead = play(gymHarvest({ ...board, ...never, chanceToDie: 1 }), mature, RIGHT, UP);
    expect(dead.rewards).toEqual([0, 0]);
    expect(dead.map['young']).toHaveLength(1);
  });
});

describe('gymEscalation', () => {
  const game = gymEscalation();
  const near = ['1M2..', '.....', '.....', '.....', '.....'].join('\n');

  it('keeps the contract', () => {
    assertGame(gymEscalation({ maxSteps: 50 }));
    assertGame(gymEscalation({ maxSteps: 50, rows: 1, columns: 3, breakPenalty: 2 }));
  });

  it('pays both on the mark, which moves to a neighbour', () => {
    for (let seed = 0; seed < 20; seed++) {
      const { rewards, map, step } = play(game, near, RIGHT, LEFT, seed);
      expect(rewards).toEqual([1, 1]);
      expect([
        [0, 0],
        [0, 2],
        [1, 1],
      ]).toContainEqual(map['mark'][0]);
      expect(step.observations['agent_0']['streak'][0]).toBe(1);
    }
  });

  it('does nothing while there is no streak', () => {
    const { rewards, env } = play(game, near, RIGHT, UP);
    expect(rewards).toEqual([0, 0]);
    expect(env.agents).toHaveLength(2);
  });

  // A streak of 3 with penalty 0.5: the one who is left alone loses 1.5.
  it('punishes the one whose partner breaks the streak, and ends', () => {
    const streak = `${near}\nstreak: 3`;
    const one = play(game, streak, RIGHT, UP);
    expect(one.rewards).toEqual([-1.5, 0]);
    expect(one.step.terminations).toEqual({ agent_0: true, agent_1: true });
    expect(one.step.truncations).toEqual({ agent_0: false, agent_1: false });
    expect(play(game, streak, UP, LEFT).rewards).toEqual([0, -1.5]);
    const both = play(game, streak, UP, UP);
    expect(both.rewards).toEqual([0, 0]);
    expect(both.env.agents).toEqual([]);
  });
});

describe('layouts and options', () => {
  const game = gymHunt({ plants: 1 });
  const map = ['1...2', '.....', '..S..', '.....', 'P....'].join('\n');

  it('writes a map that reads back, and lists where things share a cell', () => {
    const { env } = play(game, map, UP, UP);
    const text = game.writeLayout?.(env.state(), 0);
    expect(text).toContain('steps: 1');
    const shared = {
      agents: [
        [0, 0],
        [0, 0],
      ],
      stag: [[2, 2]],
      plants: [[4, 0]],
      streak: 0,
    };
    const state = new Int32Array(game.stateSize);
    game.readLayout?.(shared, state, 0);
    const written = game.writeLayout?.(state, 0) ?? '';
    expect(JSON.parse(written)).toEqual({
      agents: [
        [0, 0],
        [0, 0],
      ],
      stag: [[2, 2]],
      plants: [[4, 0]],
    });
    const again = new Int32Array(game.stateSize);
    game.readLayout?.(written, again, 0);
    expect(again).toEqual(state);
  });

  it.each([
    [map.replace('1', '.'), 'agent 1 once'],
    [map.replace('S', '.'), '1 of stag'],
    [map.replace('P', 'S'), 'stag'],
    [map.replace('.', 'x'), 'x'],
    [`${map}\nstreak: two`, 'option streak: expected a whole number from 0 to 0'],
    [`${map}\nsteams: 2`, '"steams"'],
    [{ agents: [[0, 0]] }, 'stag'],
    [
      {
        agents: [
          [0, 0],
          [9, 9],
        ],
        stag: [[1, 1]],
        plants: [[2, 2]],
      },
      'agents[1]',
    ],
    [7, 'gym-hunt layout: options'],
    ['{oops', 'JSON'],
  ])('refuses %j and keeps the state', (layout, says) => {
    const state = new Int32Array(game.stateSize);
    game.readLayout?.(map, state, 0);
    const before = state.slice();
    expect(() => game.readLayout?.(layout, state, 0)).toThrow(says);
    expect(state).toEqual(before);
  });

  it('refuses boards and plants that do not fit', () => {
    expect(() => gymHunt({ rows: 1, columns: 2, plants: 0 })).toThrow('at least 3 cells');
    expect(() => gymHunt({ rows: 2, columns: 3, plants: 4 })).toThrow('at most 3');
    expect(() => gymHarvest({ rows: 2, columns: 3, plants: 4 })).toThrow('at most 3');
    expect(() => gymHarvest({ chanceToDie: 2 })).toThrow('chanceToDie');
    expect(() => gymEscalation({ penalty: 2 } as object)).toThrow('"penalty"');
  });
});
