import {
  type Agent,
  type AnyGame,
  assertGame,
  box,
  createGenerator,
  createRollout,
  evaluate,
  gameContract,
  multiDiscrete,
  parallelEnv,
  rulesSimulator,
  vectorEnv,
} from '@coplay/core';
import { actionLayout, allocateExperience, drawAction } from '@coplay/core/arrays';
import { checkExperience, checkExperienceOf } from '@coplay/core/checks';
import { randomAgent } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { clockGame } from '../../core/test/clock-game';
import { LEAVES, mixedGame } from '../../core/test/mixed-game';

const game = mixedGame();
const players = () => game.agents.map((id) => randomAgent({ game, id }));
const collect = async (steps: number, seed = 1) => {
  const env = vectorEnv(game, { envs: 2, seed });
  return createRollout(env, players(), createGenerator(seed)).collect(steps);
};

describe('spaces', () => {
  it('hold bounds for each value, rounded to float32, and the options of each choice', () => {
    expect(box({ shape: [2], low: [0.1, -Infinity], high: 3 })).toEqual({
      kind: 'box',
      shape: [2],
      low: [Math.fround(0.1), -Infinity],
      high: [3, 3],
    });
    expect(box({ shape: [] })).toEqual({ kind: 'box', shape: [], low: [-Infinity], high: [Infinity] });
    expect(multiDiscrete([2, 3])).toEqual({ kind: 'multi-discrete', counts: [2, 3] });
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'bounds in the wrong order',
      () => box({ shape: [2], low: 0, high: [1, 0] }),
      /low < high, got 0 and 0 for value 1/,
    ],
    ['too few bounds', () => box({ shape: [2], low: [0], high: 1 }), /option low: .*2 numbers/],
    ['no number', () => box({ shape: [1], low: Number.NaN }), /option low/],
    ['a shape with 0', () => box({ shape: [0] }), /box: option shape/],
    ['another option', () => box({ shape: [1], min: 0 } as never), /"min"/],
    ['more options than fit into memory', () => multiDiscrete([1e12]), /at most 1048576 options in all/],
    [
      'more values than fit into memory',
      () => box({ shape: [5e9] }),
      /box: option shape: expected at most 1048576 values/,
    ],
    ['no choices', () => multiDiscrete([]), /multiDiscrete: counts/],
    ['a choice of nothing', () => multiDiscrete([2, 0]), /multiDiscrete: counts.*\[2, 0\]/],
  ])('are refused: %s', (_, make, message) => {
    expect(make).toThrow(message);
  });

  it('of a game are laid out by the widest action and the longest mask', () => {
    const { width, maskSize, dtype } = actionLayout(game);
    expect({ width, maskSize, dtype }).toEqual({ width: 2, maskSize: 5, dtype: 'float32' });
    expect(actionLayout(clockGame({}))).toEqual({ spaces: [2], width: 1, maskSize: 2, dtype: 'int32' });
  });

  it('draw actions uniformly between bounds and among legal options', () => {
    const generator = createGenerator(3);
    const space = box({ shape: [4], low: [-1, -Infinity, 2, -Infinity], high: [3, Infinity, Infinity, 5] });
    const sums = [0, 0, 0, 0];
    const action = new Float32Array(4);
    for (let i = 0; i < 20_000; i++) {
      drawAction(space, [], 0, generator, action, 0);
      action.forEach((value, k) => {
        sums[k] += value / 20_000;
      });
      expect(action[0] >= -1 && action[0] <= 3 && action[2] >= 2 && action[3] <= 5).toBe(true);
    }
    // Means of uniform(-1, 3), normal(0, 1), 2 + exponential(1), 5 - exponential(1); standard errors below 0.01.
    [1, 0, 3, 4].forEach((mean, k) => {
      expect(Math.abs(sums[k] - mean)).toBeLessThan(0.04);
    });
    const chosen = new Int32Array(2);
    const counts = new Map<string, number>();
    for (let i = 0; i < 4000; i++) {
      drawAction(multiDiscrete([2, 3]), [9, 1, 1, 0, 1, 1], 1, generator, chosen, 0);
      counts.set(chosen.join(), (counts.get(chosen.join()) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(['0,1', '0,2', '1,1', '1,2']);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(120);
  });
});

describe('a game with a space for each agent', () => {
  it('keeps the contract; a mask without a legal option of a choice is found', () => {
    assertGame(game);
    const broken: AnyGame = {
      ...game,
      legal: (state, offset, agent, mask, at) => {
        game.legal(state as Float64Array, offset, agent, mask, at);
        if (agent === 2) mask.fill(0, at + 2, at + 5);
      },
    };
    const [finding] = gameContract(broken, { episodes: 1, allocation: false });
    expect(finding).toMatchObject({ rule: 'mask', where: expect.stringContaining('legal') });
    expect(finding.got).toContain('clerk in choice 1');
  });

  it.each<[string, AnyGame['actions'], RegExp]>([
    ['an agent without a space', { walker: 3, arm: 2 }, /actions of mixed-game: .*a space for each agent/],
    ['a space that is none', { walker: 3, arm: 2, clerk: 0 }, /actions\.clerk of mixed-game: .*got 0/],
    ['an agent that is not there', { walker: 3, arm: 2, clerk: 2, cook: 2 }, /actions\.cook/],
    ['bounds that float32 cannot hold', { ...box({ shape: [1], high: 1 }), high: [0.1] }, /actions of mixed-game/],
  ])('is refused with %s', (_, actions, message) => {
    expect(() => vectorEnv({ ...game, actions }, { envs: 1 })).toThrow(message);
  });

  it('has a name for each value of an action', () => {
    expect(() => vectorEnv({ ...game, actionNames: ['one'] }, { envs: 1 })).toThrow(
      /actionNames .*2 names, one for each value of an action/,
    );
  });

  it('steps in batches: actions [E, A, W] as float32, masks padded with zeros', () => {
    const env = vectorEnv(game, { envs: 2 });
    expect(env.previousActions).toBeInstanceOf(Float32Array);
    expect([...env.previousActions]).toEqual(new Array(12).fill(Number.NaN));
    expect([...env.masks.subarray(0, 15)]).toEqual([1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1]);
    const first = [1, 0, 0.5, -2, 1, 2];
    const second = [0, 0, -1, 3, 0, 1];
    env.step(Float32Array.of(...first, ...second));
    expect([...env.result.rewards]).toEqual([1, -1, 2, 0, -(1.5 ** 2) - 16, 0]);
    expect([...env.observations['last'].subarray(0, 6)]).toEqual([1, 0.5, -2, 1, 2, 1]);
    expect([...env.previousActions]).toEqual([...first, ...second]);
    expect([...env.masks.subarray(10, 15)]).toEqual([1, 1, 1, 1, 1]);
  });

  it.each<[string, number[], RegExp]>([
    ['a number beyond its bounds', [0, 0, 1.5, 0, 0, 1], /a number from -1 to 1 as value 0 for arm in environment 0/],
    ['infinity without bounds', [0, 0, 1, Infinity, 0, 1], /a finite number as value 1 for arm .*got Infinity/],
    ['NaN', [0, 0, Number.NaN, 0, 0, 1], /got NaN/],
    ['an option that is not there', [0, 0, 0, 0, 0, 3], /a whole number from 0 to 2 as value 1 for clerk/],
    ['half an action', [0.5, 0, 0, 0, 0, 1], /an action from 0 to 2 for walker/],
  ])('refuses %s, before anything has changed', (_, actions, message) => {
    const env = vectorEnv(game, { envs: 1 });
    expect(() => env.step(Float32Array.from(actions))).toThrow(message);
    expect(env.isFirst[0]).toBe(1);
  });

  it('refuses actions of another type or number', () => {
    const env = vectorEnv(game, { envs: 1 });
    expect(() => env.step(new Int32Array(6))).toThrow(/Float32Array of 6 values/);
    expect(() => env.step(new Float32Array(3))).toThrow(/Float32Array of 6 values/);
  });

  it('goes on to the bit from a saved state', () => {
    const env = vectorEnv(game, { envs: 2, seed: 5 });
    const actions = Float32Array.of(1, 0, 0.25, -2, 1, 2, 2, 0, 1, 3, 0, 1);
    env.step(actions);
    const saved = env.state();
    env.step(actions);
    const after = env.state();
    env.restore(saved);
    expect(env.state()).toEqual(saved);
    env.step(actions);
    expect(env.state()).toEqual(after);
    expect(() => env.restore({ ...saved, previousActions: new Int32Array(12) })).toThrow(/previousActions/);
  });

  it('plays by name with lists of values', () => {
    const env = parallelEnv(game);
    const { observations } = env.reset();
    expect([...observations['clerk'].mask]).toEqual([1, 1, 0, 1, 1]);
    expect(observations['arm'].mask).toHaveLength(0);
    const { rewards } = env.step({ walker: 1, arm: [0.5, -1], clerk: Int32Array.of(1, 2) });
    expect(rewards).toEqual({ walker: 1, arm: -0, clerk: 2 });
    expect(() => env.step({ walker: [1], arm: [0, 0], clerk: [0, 1] })).toThrow(
      /a whole number from 0 to 2 for walker/,
    );
    expect(() => env.step({ walker: 1, arm: 0, clerk: [0, 1] })).toThrow(/2 numbers for arm/);
    expect(() => env.step({ walker: 1, arm: [0, 0], clerk: [0, 9] })).toThrow(/from 0 to 2 as value 1 for clerk/);
  });
});

describe('experience of such a game', () => {
  it('has the actions as they were played, each agent in its own space', async () => {
    const experience = await collect(6);
    expect(experience.actionSpaces).toBe(game.actions);
    checkExperience('test', experience, 'experience', 'any');
    checkExperienceOf('test', game, experience, 'experience', 'any');
    const { actions, previousActions, active, observations } = experience;
    for (let e = 0; e < 2; e++) {
      for (let t = 0; t < 4; t++) {
        const at = (e * 6 + t) * 3;
        const taken = [...actions.subarray(at * 2, at * 2 + 6)];
        // The observation of the next step shows the actions: one value of the walker, two of each other agent.
        const seen = [...observations['last'].subarray((at + 3) * 6, (at + 3) * 6 + 5)];
        expect([taken[0], ...taken.slice(2)]).toEqual(seen);
        expect(taken[1]).toBe(0); // the walker's action has no second value
        if (active[at] === 1) expect([...previousActions.subarray(at * 2 + 6, at * 2 + 12)]).toEqual(taken);
      }
      const left = (e * 6 + LEAVES) * 3;
      expect(active[left]).toBe(0);
      expect([...previousActions.subarray((left + 3) * 2, (left + 3) * 2 + 2)]).toEqual([Number.NaN, Number.NaN]);
    }
    // The masks of the clerk are those before the step: option 0 of the second choice is illegal in even steps.
    for (let t = 0; t < 5; t++) expect(experience.masks[(t * 3 + 2) * 5 + 2]).toBe(t % 2);
    expect([...experience.cuts.previousActions.subarray(0, 2)]).toEqual([Number.NaN, Number.NaN]);
  });

  it('is refused by functions of discrete actions, and by those of another game', async () => {
    const experience = await collect(2);
    expect(() => checkExperience('moa', experience)).toThrow(
      /moa: experience: actions of the game: expected discrete actions.*walker: 3 discrete actions, arm: a box of shape \[2\]/,
    );
    const other = { ...game, actions: { ...(game.actions as object), arm: box({ shape: [2] }) } };
    expect(() => checkExperienceOf('ppo', other, experience, 'experience', 'any')).toThrow(/actionSpaces/);
    expect(allocateExperience(clockGame({}), 1, 1)).not.toHaveProperty('actionSpaces');
  });

  it('is refused where an agent answers outside of its space', async () => {
    const rollout = (arm: Partial<Agent>) => {
      const agents = players().map((agent) => (agent.id === 'arm' ? { ...agent, ...arm } : agent));
      return createRollout(
        vectorEnv(game, { envs: 1 }),
        agents as ReturnType<typeof players>,
        createGenerator(0),
      ).step();
    };
    const answers = (actions: unknown) => ({ act: () => ({ actions, state: null }) }) as never;
    await expect(rollout(answers(Float32Array.of(2, 0)))).rejects.toThrow(
      /Random \(arm\)\.act.*a number from -1 to 1 as value 0 for arm in environment 0, step 0/,
    );
    await expect(rollout(answers(Int32Array.of(0, 0)))).rejects.toThrow(/actions: .*Float32Array of 2 values/);
    const clerk = players()[2];
    const illegal = { ...clerk, act: () => ({ actions: Int32Array.of(0, 0), state: null }) };
    const agents = [...players().slice(0, 2), illegal];
    await expect(createRollout(vectorEnv(game, { envs: 1 }), agents, createGenerator(0)).step()).rejects.toThrow(
      /a legal option of choice 1 for clerk/,
    );
  });

  it('is evaluated', async () => {
    const { returnMean } = await evaluate(game, players(), { episodes: 2000, seed: 1 });
    // The walker gets 1/3 in each of three steps. The clerk gets 1/2 in each of five steps, and 1/2 in three of them,
    // 1/3 in two. Standard errors are below 0.03.
    expect(Math.abs(returnMean['walker'] - 1)).toBeLessThan(0.08);
    expect(Math.abs(returnMean['clerk'] - (2.5 + 1.5 + 2 / 3))).toBeLessThan(0.1);
  });
});

it('simulators of the rules refuse other spaces by name and page', () => {
  expect(() => rulesSimulator(game as never)).toThrow(
    /actions of mixed-game: expected discrete actions.*docs\/spaces\.md/,
  );
});
