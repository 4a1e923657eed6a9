import { type Agent, createGenerator, imagine, rulesSimulator, type Simulator, vectorEnv } from '@coplay/core';
import { randomAgent, stagHunt } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

const game = stagHunt({ size: 2, agents: 2, stags: 0, hares: 2, maxSteps: 6 });
/** Numbers in the planes of one agent: 2 x 2 cells, 2 agents, obstacles, stags, hares. */
const PLANES = 20;
const agents = game.agents.map((id) => randomAgent({ game, id }));

/** States of `envs` games after `steps` steps in which everyone stays, as imagination takes them. */
function starts(envs: number, steps: number) {
  const env = vectorEnv(game, { envs, seed: 3 });
  for (let t = 0; t < steps; t++) env.step(new Int32Array(envs * 2).fill(4));
  return {
    states: env.states.slice(),
    previousActions: env.previousActions.slice(),
    isFirst: env.isFirst.slice(),
  };
}

describe('imagine', () => {
  it('gives what the rules give for the same actions, row by row, to the end of each episode', async () => {
    const from = starts(40, 2);
    const horizon = 5;
    const x = await imagine(rulesSimulator(game), agents, from, { horizon, generator: createGenerator(1) });
    expect([...x.isImagined]).toEqual(new Array(40).fill(1));
    const result = {
      rewards: new Float32Array(2),
      terminated: new Uint8Array(2),
      truncated: new Uint8Array(2),
      infos: infos(),
    };
    const ends = new Set<number>();
    for (let env = 0; env < 40; env++) {
      const state = from.states.slice(env * game.stateSize, (env + 1) * game.stateSize) as Int32Array;
      const planes = new Uint8Array(2 * PLANES);
      let t = 0;
      for (let over = false; t < horizon && !over; t++) {
        const at = (env * horizon + t) * 2;
        for (let seat = 0; seat < 2; seat++) {
          expect(x.active[at + seat]).toBe(game.isActive(state, 0, seat) ? 1 : 0);
          game.observe(state, 0, seat, { planes, time: new Float32Array(2) }, seat);
        }
        expect(x.observations['planes'].subarray(at * PLANES, (at + 2) * PLANES)).toEqual(planes);
        game.step(state, 0, x.actions, at, createGenerator(0), result, 0);
        expect([...x.rewards.subarray(at, at + 2)]).toEqual([...result.rewards]);
        expect([...x.terminated.subarray(at, at + 2)]).toEqual([...result.terminated]);
        expect([...x.truncated.subarray(at, at + 2)]).toEqual([...result.truncated]);
        over = [0, 1].every((seat) => result.terminated[seat] + result.truncated[seat] > 0);
        expect(x.ended[at / 2]).toBe(over ? 1 : 0);
      }
      expect(x.lengths[env]).toBe(t);
      ends.add(t);
      expect([...x.active.subarray((env * horizon + t) * 2, (env + 1) * horizon * 2)]).not.toContain(1);
      const cut = x.cuts.env.indexOf(env);
      expect(x.cuts.step[cut]).toBe(t - 1);
      for (let seat = 0; seat < 2; seat++) game.observe(state, 0, seat, { planes, time: new Float32Array(2) }, seat);
      expect(x.cuts.observations['planes'].subarray(2 * cut * PLANES, 2 * (cut + 1) * PLANES)).toEqual(planes);
    }
    expect(x.cuts.env).toHaveLength(40);
    expect(ends.size).toBeGreaterThan(1); // some ended before the time limit, which all meet after 4 steps
    expect(Math.max(...ends)).toBe(4);
  });

  it('goes on with the recurrent states and previous actions it was given, and not from the start (W01)', async () => {
    const seen: unknown[] = [];
    const counting: Agent<Int32Array> = {
      id: 'agent_0',
      name: 'counting',
      initialState: (rows) => new Int32Array(rows),
      act: (input, state) => {
        seen.push([[...state], [...input.isFirst], [...input.previousActions], input.observations['time'][0]]);
        return { actions: new Int32Array(input.rows).fill(4), state: state.map((n) => n + 1) };
      },
    };
    const from = starts(1, 2);
    const stays: Simulator = rulesSimulator(game);
    const still = { ...counting, id: 'agent_1', act: counting.act } as Agent<Int32Array>;
    await imagine(stays, [counting, still], from, {
      horizon: 2,
      generator: createGenerator(1),
      agentStates: [Int32Array.of(7), Int32Array.of(70)],
    });
    const time = Math.fround(2 / 6);
    const next = Math.fround(3 / 6);
    expect(seen).toEqual([
      [[7], [0], [4, 4], time],
      [[70], [0], [4, 4], time],
      [[8], [0], [4, 4], next],
      [[71], [0], [4, 4], next],
    ]);
  });

  it('refuses starts that do not fit the game, naming the array', async () => {
    const from = starts(2, 0);
    const run = (change: object, more: object = {}) =>
      imagine(
        rulesSimulator(game),
        agents,
        { ...from, ...change },
        { horizon: 1, generator: createGenerator(1), ...more },
      );
    await expect(run({ states: from.states.slice(1) })).rejects.toThrow(/imagine: states/);
    await expect(run({ states: new Float32Array(from.states.length) })).rejects.toThrow(/states: expected int32/);
    await expect(run({ previousActions: new Int32Array(9) })).rejects.toThrow(/previousActions: expected 4 numbers/);
    await expect(run({ isFirst: new Uint8Array(0) })).rejects.toThrow(/at least one game/);
    await expect(run({}, { agentStates: [null] })).rejects.toThrow(/agentStates: expected 2 states/);
  });

  it('is a function of its generator', async () => {
    const run = (seed: number) =>
      imagine(rulesSimulator(game), agents, starts(5, 0), { horizon: 4, generator: createGenerator(seed) });
    const [a, b, c] = [await run(1), await run(1), await run(2)];
    expect(a).toEqual(b);
    expect(a.actions).not.toEqual(c.actions);
  });
});

function infos(): Record<string, Float32Array> {
  return Object.fromEntries(game.infos.map((name) => [name, new Float32Array(2)]));
}
