import { createGenerator, splitSeed, type VectorEnv, vectorEnv } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { clockGame } from './clock-game';

const idle = (rows: number) => new Int32Array(rows);

describe('vectorEnv', () => {
  it('keeps the final observation when it starts the next episode', () => {
    // Three environments, started one step apart by resetting the second and third later; episodes of 4 steps.
    const env = vectorEnv(clockGame({ maxSteps: 4 }), { envs: 3 });
    env.step(idle(3));
    env.reset({ envs: [1] });
    env.step(idle(3));
    env.reset({ envs: [2] });
    expect([...env.observations['step']]).toEqual([2, 1, 0]);
    const seen: number[][] = [];
    const ended: number[][] = [];
    for (let t = 0; t < 9; t++) {
      env.step(idle(3));
      seen.push([...env.observations['step']]);
      ended.push([...env.ended]);
      env.ended.forEach((flag, e) => {
        if (flag === 1) expect(env.finalObservations['step'][e]).toBe(4);
      });
    }
    expect(seen).toEqual([
      [3, 2, 1],
      [0, 3, 2],
      [1, 0, 3],
      [2, 1, 0],
      [3, 2, 1],
      [0, 3, 2],
      [1, 0, 3],
      [2, 1, 0],
      [3, 2, 1],
    ]);
    expect(ended.flat().reduce((sum, flag) => sum + flag, 0)).toBe(6);
    expect(ended[1]).toEqual([1, 0, 0]);
  });

  it('gives episodes that differ, and the same ones again after the same seed', () => {
    const env = vectorEnv(clockGame({ maxSteps: 2 }), { envs: 2, seed: 1 });
    const play = () => {
      env.reset({ seed: 7 });
      const drawn: number[] = [];
      for (let t = 0; t < 6; t++) {
        drawn.push(...env.observations['drawn']);
        env.step(idle(2));
      }
      return drawn;
    };
    const first = play();
    expect(new Set(first).size).toBe(6); // 2 environments x 3 episodes
    expect(play()).toEqual(first);
  });

  it('environment i is seeded with the i-th split, for any number of environments', () => {
    const many = vectorEnv(clockGame({}), { envs: 5, seed: 3 });
    const few = vectorEnv(clockGame({}), { envs: 2, seed: 3 });
    expect([...few.observations['drawn']]).toEqual([...many.observations['drawn'].slice(0, 2)]);
    const expected = Array.from({ length: 5 }, (_, i) => createGenerator(splitSeed(3, i)).integer(1_000_000));
    expect([...many.observations['drawn']]).toEqual(expected);
  });

  it('reset leaves the streams of other environments alone', () => {
    const env = vectorEnv(clockGame({}), { envs: 4, seed: 1 });
    const others = () => [0, 1, 3].map((e) => env.observations['drawn'][e]);
    env.reset();
    const before = others();
    const third = env.observations['drawn'][2];
    env.reset({ envs: [2] });
    expect(others()).toEqual(before);
    expect(env.observations['drawn'][2]).not.toBe(third);
    // Every stream goes on where a single environment of the same split would.
    env.reset();
    const resets = [3, 3, 4, 3]; // the constructor's included
    resets.forEach((count, e) => {
      const single = createGenerator(splitSeed(1, e));
      let drawn = 0;
      for (let i = 0; i < count; i++) drawn = single.integer(1_000_000);
      expect(env.observations['drawn'][e]).toBe(drawn);
    });
  });

  it('continues from a saved state to the bit', () => {
    const env = vectorEnv(clockGame({ maxSteps: 3, agents: 2, ends: [2] }), { envs: 2, seed: 5 });
    env.step(idle(4));
    const copy = vectorEnv(clockGame({ maxSteps: 3, agents: 2, ends: [2] }), { envs: 2, seed: 99 });
    copy.restore(structuredClone(env.state()));
    for (let t = 0; t < 7; t++) {
      expect(copy.observations).toEqual(env.observations);
      expect(copy.masks).toEqual(env.masks);
      expect(copy.active).toEqual(env.active);
      expect(copy.previousActions).toEqual(env.previousActions);
      env.step(idle(4));
      copy.step(idle(4));
    }
  });

  it('previous actions are -1 at the start and for those who had left', () => {
    const env = vectorEnv(clockGame({ maxSteps: 3, agents: 2, ends: [1] }), { envs: 1 });
    expect([...env.previousActions]).toEqual([-1, -1]);
    env.step(Int32Array.of(1, 1));
    expect([...env.previousActions]).toEqual([1, 1]);
    env.step(Int32Array.of(0, 1));
    expect([...env.previousActions]).toEqual([-1, 1]);
    env.step(Int32Array.of(0, 1));
    expect([...env.previousActions]).toEqual([-1, -1]);
  });

  it.each([
    [
      'too few actions',
      (env: VectorEnv) => env.step(new Int32Array(3)),
      /vectorEnv.step: expected 4 actions \(2 environments x 2 agents\), got 3/,
    ],
    [
      'an action that does not exist',
      (env: VectorEnv) => env.step(Int32Array.of(0, 0, 0, 2)),
      /0 to 1 for agent_1 in environment 1, got 2/,
    ],
    [
      'a negative action',
      (env: VectorEnv) => env.step(Int32Array.of(-1, 0, 0, 0)),
      /agent_0 in environment 0, got -1.*0 left, 1 right/,
    ],
    ['an environment that does not exist', (env: VectorEnv) => env.reset({ envs: [2] }), /0 to 1, got 2/],
    [
      'an unknown reset option',
      (env: VectorEnv) => env.reset({ stags: 2 } as object),
      /vectorEnv.reset: .*the unknown option "stags"/,
    ],
    ['a layout where there is none', (env: VectorEnv) => env.reset({ layout: '..' }), /layouts.*clock/],
  ])('refuses %s, and changes nothing', (_, wrong, message) => {
    const env = vectorEnv(clockGame({ agents: 2 }), { envs: 2 });
    const before = structuredClone(env.state());
    expect(() => wrong(env)).toThrow(message);
    expect(env.state().states).toEqual(before.states);
  });

  it.each([0, -1, 2.5])('refuses %s environments', (envs) => {
    expect(() => vectorEnv(clockGame({}), { envs })).toThrow(/vectorEnv: option envs: expected/);
  });
});
