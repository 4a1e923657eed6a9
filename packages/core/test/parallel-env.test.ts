import { type ParallelEnv, type ParallelStep, parallelEnv, splitSeed, type VectorEnv, vectorEnv } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { countingGame } from './counting-game';

/** The message of the error that a call throws. */
function refusal(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}

/** Everyone alive takes an action that depends on the agent and the step. */
function scripted(env: ParallelEnv, t: number): Record<string, number> {
  return Object.fromEntries(env.agents.map((id) => [id, (env.possibleAgents.indexOf(id) + t) % 3]));
}

/** Resets and plays one episode; returns everything that came back. */
function playEpisode(env: ParallelEnv, options?: Parameters<ParallelEnv['reset']>[0]): unknown[] {
  const log: unknown[] = [env.reset(options)];
  for (let t = 0; env.agents.length > 0; t++) log.push(env.step(scripted(env, t)));
  return log;
}

describe('records by agent', () => {
  it('returns observations with the mask, and infos, for everyone at reset', () => {
    const env = parallelEnv(countingGame(), { seed: 3 });
    expect(env.agents).toEqual([]);
    const { observations, infos } = env.reset();
    expect(Object.keys(observations)).toEqual(['agent_0', 'agent_1']);
    expect(observations.agent_0.count).toEqual(Int32Array.of(0));
    expect(observations.agent_0.noise).toBeInstanceOf(Float32Array);
    expect(observations.agent_0.present).toEqual(Uint8Array.of(1, 1));
    expect(observations.agent_0.mask).toEqual(Uint8Array.of(0, 1, 1)); // step 0: action 0 is illegal
    expect(infos).toEqual({ agent_0: { illegal: 0 }, agent_1: { illegal: 0 } });
    expect(env.agents).toEqual(['agent_0', 'agent_1']);
  });

  it('pays, truncates at the limit and counts illegal actions by agent', () => {
    const env = parallelEnv(countingGame({ maxSteps: 1 }));
    env.reset();
    const step = env.step({ agent_0: 0, agent_1: 2 });
    const noise = step.observations.agent_0.noise[0];
    expect(step.rewards).toEqual({ agent_0: noise, agent_1: 2 + noise });
    expect(step.infos).toEqual({ agent_0: { illegal: 1 }, agent_1: { illegal: 0 } });
    expect(step.terminations).toEqual({ agent_0: false, agent_1: false });
    expect(step.truncations).toEqual({ agent_0: true, agent_1: true });
    expect(env.agents).toEqual([]);
  });

  // M09: every agent leaves in turn.
  it('returns exactly those that were alive before the step', () => {
    const env = parallelEnv(countingGame({ agents: 3, leaves: [2, 1, 3], maxSteps: 9 }));
    env.reset();
    const alive = [['agent_0', 'agent_1', 'agent_2'], ['agent_0', 'agent_2'], ['agent_2']];
    const leaving = ['agent_1', 'agent_0', 'agent_2'];
    alive.forEach((ids, t) => {
      const step = env.step(scripted(env, t));
      for (const record of Object.values(step) as ParallelStep[keyof ParallelStep][]) {
        expect(Object.keys(record)).toEqual(ids);
      }
      for (const id of ids) expect(step.terminations[id]).toBe(id === leaving[t]);
      // The one that has just left still sees, with the mask of an absent agent.
      expect(step.observations[leaving[t]].mask).toEqual(Uint8Array.of(1, 0, 0));
    });
    const nothing = env.step({});
    expect(nothing).toEqual({ observations: {}, rewards: {}, terminations: {}, truncations: {}, infos: {} });
  });

  // E09: one leaves, and the user edits the returned list.
  it('never skips an agent, even if the returned list is changed', () => {
    const game = countingGame({ agents: 6, leaves: [0, 0, 3, 0, 0, 0], maxSteps: 6 });
    const env = parallelEnv(game);
    env.reset();
    for (let t = 1; t <= 6; t++) {
      const actions = scripted(env, t);
      env.agents.sort().reverse().pop();
      env.agents.length = 0;
      const step = env.step(actions);
      const expected = game.agents.filter((id) => id !== 'agent_2' || t <= 3);
      expect(Object.keys(step.observations)).toEqual(expected);
      expect(Object.keys(step.rewards)).toEqual(expected);
    }
    expect(env.agents).toEqual([]);
    expect(env.possibleAgents).toEqual(game.agents);
  });
});

describe('fresh arrays (E07)', () => {
  it('leaves what was returned alone, and is not hurt when it is changed', () => {
    const copies: unknown[] = [];
    const kept: unknown[] = [];
    const env = parallelEnv(countingGame(), { seed: 5 });
    const first = env.reset();
    kept.push(first);
    copies.push(structuredClone(first));
    for (let t = 0; t < 3; t++) {
      const step = env.step(scripted(env, t));
      kept.push(step);
      copies.push(structuredClone(step));
    }
    expect(kept).toEqual(copies);

    const vandal = parallelEnv(countingGame(), { seed: 5 });
    const spoil = (observations: ParallelStep['observations']) => {
      for (const fields of Object.values(observations)) for (const array of Object.values(fields)) array.fill(9);
    };
    spoil(vandal.reset().observations);
    vandal.state().fill(77);
    for (let t = 0; t < 3; t++) {
      const step = vandal.step(scripted(vandal, t));
      expect(step).toEqual(copies[t + 1]);
      spoil(step.observations);
    }
  });
});

describe('bad actions are refused before anything changes (E14)', () => {
  const bad: [name: string, actions: unknown, said: string[]][] = [
    ['a missing one', { agent_0: 1 }, ['agent_2', 'from 0 to 2', 'no action']],
    ['an unknown id', { agent_0: 1, agent_2: 1, agent_9: 1 }, ['agent_0, agent_2 only', 'unknown id "agent_9"']],
    ['one that has left', { agent_0: 1, agent_1: 1, agent_2: 1 }, ['agent_0, agent_2 only', '"agent_1"', 'has left']],
    ['a fraction', { agent_0: 1.5, agent_2: 1 }, ['agent_0', 'from 0 to 2', '1.5']],
    ['NaN', { agent_0: 1, agent_2: Number.NaN }, ['agent_2', 'from 0 to 2', 'NaN']],
    ['a negative one', { agent_0: -1, agent_2: 1 }, ['agent_0', 'from 0 to 2', '-1']],
    ['one too large', { agent_0: 1, agent_2: 3 }, ['agent_2', 'from 0 to 2', '3']],
    ['a string', { agent_0: '1', agent_2: 1 }, ['agent_0', 'from 0 to 2', '"1"']],
    ['no record', undefined, ['a record of actions', 'undefined', 'agent_0']],
    ['a list', [1, 1], ['unknown id "0"']],
    ['an inherited name', Object.create({ agent_0: 1, agent_2: 1 }), ['agent_0', 'no action']],
  ];
  const game = countingGame({ agents: 3, leaves: [0, 1, 0], maxSteps: 5 });

  it.each(bad)('%s', (_, actions, said) => {
    const env = parallelEnv(game, { seed: 1 });
    const twin = parallelEnv(game, { seed: 1 });
    for (const one of [env, twin]) {
      one.reset();
      one.step({ agent_0: 1, agent_1: 1, agent_2: 1 });
    }
    const message = refusal(() => env.step(actions as Record<string, number>));
    for (const part of ['parallelEnv.step', ...said]) expect(message).toContain(part);
    expect(env.agents).toEqual(twin.agents);
    expect(env.state()).toEqual(twin.state());
    expect(env.step({ agent_0: 1, agent_2: 1 })).toEqual(twin.step({ agent_0: 1, agent_2: 1 }));
  });

  it('a step before the first reset, and a step after the end, are told to reset', () => {
    const env = parallelEnv(countingGame({ maxSteps: 1 }));
    expect(refusal(() => env.step({ agent_0: 0, agent_1: 0 }))).toContain('reset()');
    env.reset();
    env.step({ agent_0: 0, agent_1: 0 });
    expect(refusal(() => env.step({ agent_0: 0, agent_1: 0 }))).toMatch(/after the end.*reset\(\)/);
    expect(Object.keys(env.reset().observations)).toHaveLength(2);
  });

  // P09: an active agent without any legal action.
  it('a game that allows an active agent nothing is named', () => {
    const base = countingGame();
    const stuck: typeof base = {
      ...base,
      legal(state, offset, agent, mask, maskOffset) {
        base.legal(state, offset, agent, mask, maskOffset);
        if (agent === 1 && base.elapsed(state, offset) === 2) mask.fill(0, maskOffset, maskOffset + 3);
      },
    };
    const env = parallelEnv(stuck);
    env.reset();
    env.step({ agent_0: 1, agent_1: 1 });
    const message = refusal(() => env.step({ agent_0: 1, agent_1: 1 }));
    for (const part of ['agent_1', 'step 2', 'counting', 'mask of zeros']) expect(message).toContain(part);
  });
});

describe('seeds and options', () => {
  // E03: the seed is applied when it is given, and only then.
  it('reset(seed) starts the stream anew; episodes in between differ', () => {
    const env = parallelEnv(countingGame(), { seed: 1 });
    const three = () => [playEpisode(env, { seed: 7 }), playEpisode(env), playEpisode(env)];
    const first = three();
    expect(three()).toEqual(first);
    expect(first[0]).not.toEqual(first[1]);
    expect(first[1]).not.toEqual(first[2]);
  });

  // E05: an option is used now or refused now.
  it('unknown reset options are refused at once, and the episode goes on', () => {
    const env = parallelEnv(countingGame(), { seed: 2 });
    const twin = parallelEnv(countingGame(), { seed: 2 });
    env.reset();
    twin.reset();
    const bad: [unknown, string[]][] = [
      [{ stags: 2 }, ['parallelEnv.reset', '"stags"', 'seed, options']],
      [{ options: { stags: 2 } }, ['parallelEnv.reset: options', '"stags"', 'layout']],
      [{ seed: -1 }, ['parallelEnv.reset', 'seed', '-1']],
      [{ seed: 0.5 }, ['parallelEnv.reset', 'seed', '0.5']],
      [{ options: { layout: 'no number' }, seed: 5 }, ['the layout is the first random number']],
    ];
    for (const [options, said] of bad) {
      const message = refusal(() => env.reset(options as object));
      for (const part of said) expect(message).toContain(part);
    }
    expect(env.state()).toEqual(twin.state());
    expect(env.step(scripted(env, 0))).toEqual(twin.step(scripted(twin, 0)));
    expect(refusal(() => parallelEnv(countingGame(), { sed: 1 } as object))).toContain('"sed"');
  });

  it('a layout is used once, in this very reset', () => {
    const env = parallelEnv(countingGame());
    expect(env.reset({ options: { layout: 123 } }).observations.agent_0.noise[0]).toBe(123);
    expect(env.reset().observations.agent_0.noise[0]).not.toBe(123);
    const { readLayout: _, ...without } = countingGame();
    expect(refusal(() => parallelEnv(without).reset({ options: { layout: 1 } }))).toContain('no readLayout');
  });
});

describe('equals environment i of a batch', () => {
  const game = countingGame({ agents: 3, leaves: [2, 0, 3], maxSteps: 4 });

  /** Compares the batch's arrays of environment i with the results of the single environment. */
  function expectSame(batch: VectorEnv, i: number, single: ParallelStep['observations']) {
    for (const [id, fields] of Object.entries(single)) {
      const row = i * 3 + game.agents.indexOf(id);
      expect(batch.observations.count[row]).toBe(fields.count[0]);
      expect(batch.observations.noise[row]).toBe(fields.noise[0]);
      expect(batch.masks.subarray(row * 3, row * 3 + 3)).toEqual(fields.mask);
    }
  }

  /** One step everywhere, with the single environments reset where their episode ended. */
  function stepBoth(batch: VectorEnv, singles: ParallelEnv[], t: number) {
    const perEnv = singles.map((env) => scripted(env, t));
    batch.step(Int32Array.from(singles.flatMap((_, i) => game.agents.map((id) => perEnv[i][id] ?? -1))));
    singles.forEach((env, i) => {
      const step = env.step(perEnv[i]);
      for (const [id, reward] of Object.entries(step.rewards)) {
        const row = i * 3 + game.agents.indexOf(id);
        expect(batch.result.rewards[row]).toBe(reward);
        expect(batch.result.terminated[row] === 1).toBe(step.terminations[id]);
        expect(batch.result.truncated[row] === 1).toBe(step.truncations[id]);
      }
      const isOver = env.agents.length === 0;
      expect(batch.ended[i] === 1).toBe(isOver);
      expectSame(batch, i, isOver ? env.reset().observations : step.observations);
    });
  }

  it('over several episodes, each with its split of the seed', () => {
    const batch = vectorEnv(game, { envs: 4, seed: 11 });
    const singles = [0, 1, 2, 3].map((i) => parallelEnv(game, { seed: splitSeed(11, i) }));
    singles.forEach((env, i) => {
      expectSame(batch, i, env.reset().observations);
    });
    for (let t = 0; t < 13; t++) stepBoth(batch, singles, t);
  });

  // E08: seeded, unseeded and partial resets keep four streams.
  it('after seeded, unseeded and partial resets', () => {
    const batch = vectorEnv(game, { envs: 4, seed: 0 });
    const singles = [0, 1, 2, 3].map((i) => parallelEnv(game, { seed: splitSeed(0, i) }));
    for (const env of singles) env.reset();
    const everywhere = [0, 1, 2, 3];
    for (const { seed, envs } of [{ seed: 1 }, {}, { envs: [2] }, {}] as { seed?: number; envs?: number[] }[]) {
      batch.reset({ ...(seed !== undefined && { seed }), ...(envs && { envs }) });
      for (const i of envs ?? everywhere) {
        const reset = singles[i].reset(seed === undefined ? {} : { seed: splitSeed(seed, i) });
        expectSame(batch, i, reset.observations);
      }
      for (let t = 0; t < 2; t++) stepBoth(batch, singles, t);
    }
  });
});
