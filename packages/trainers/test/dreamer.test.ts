import type { Agent, Experience, Game, Metrics, NamedArrays, SavedState } from '@coplay/core';
import { createGenerator, createRollout, ndarray, vectorEnv } from '@coplay/core';
import { catchGame, stagHunt } from '@coplay/envs';
import { useBackend } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { type DreamerAgent, type DreamerOptions, dreamerAgent, selfPlay, sharedDreamerAgents } from '@coplay/trainers';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { tinyGame } from './games';
import { leavingGame } from './leaving-game';

const NEVER = Infinity;
const small = { size: 'debug', batchSize: 2, sequenceLength: 4, horizon: 3 } as const;
const game = tinyGame({ agents: 1, reward: (_, action) => action, maxSteps: 5 });

beforeAll(async () => {
  await useBackend('wasm');
  useThreads(1); // no trials
});

interface RunOptions {
  readonly game?: Game;
  readonly envs?: number;
  readonly steps?: number;
  readonly shared?: boolean;
  readonly onRollout?: (experience: Experience) => void;
  readonly executor?: 'eager';
}

function makeRun(options: DreamerOptions = {}, more: RunOptions = {}) {
  const { game: played = game, envs = 2, steps = 4, shared = false, onRollout = () => {}, executor } = more;
  const kept: Metrics[] = [];
  const log = [
    { start: () => {}, close: () => {}, write: ({ metrics }: { metrics: Metrics }) => void kept.push(metrics) },
  ];
  const settings = { ...small, ...options, game: played, ...(executor && { executor }) };
  const agents: DreamerAgent[] = shared
    ? sharedDreamerAgents(settings)
    : played.agents.map((id) => dreamerAgent({ ...settings, id }));
  return {
    run: selfPlay({ game: played, agents: agents as Agent[], envs, steps, seed: 3, log, onRollout }),
    agents,
    kept,
  };
}

interface Saved {
  readonly replay: { readonly buffer: { readonly rows: Record<string, { data: Float32Array; shape: number[] }> } };
  readonly updates: number;
}

/** The replay's rows, stream after stream. */
async function recorded(agent: DreamerAgent) {
  const { replay } = (await agent.learner.state()) as unknown as Saved;
  return Object.fromEntries(Object.entries(replay.buffer.rows).map(([name, { data }]) => [name, [...data]]));
}

/**
 * Numbers that count up from 0 in every episode of N steps, as the observation; the reward of a step is the number it
 * leads to.
 */
function countGame(steps: number, terminates: boolean): Game<'uint8'> {
  return {
    ...tinyGame({ agents: 1, maxSteps: steps, reward: () => 0, terminates }),
    name: 'count',
    observation: { count: { shape: [1], dtype: 'float32' } },
    step: (state, offset, _chosen, _at, _generator, result, row) => {
      state[offset]++;
      result.rewards[row] = state[offset];
      result.terminated[row] = state[offset] === steps && terminates ? 1 : 0;
      result.truncated[row] = state[offset] === steps && !terminates ? 1 : 0;
    },
    observe: (state, offset, _agent, out, row) => {
      out['count'][row] = state[offset];
    },
  };
}

// DreamerV3's own alignment test (embodied/tests/test_train.py): a count that must go up by 1 wherever no episode
// begins.
describe('what is recorded of a count', () => {
  it.each([1, 2, 3, 4, 7])(
    'has one record for each observation, rewards on arrival, in rollouts of %i steps',
    async (steps) => {
      const { run, agents } = makeRun({ startAfter: 1000 }, { game: countGame(3, true), envs: 2, steps });
      await run.train({ envSteps: 2 * steps * Math.ceil(14 / steps) });
      const rows = await recorded(agents[0]);
      run.dispose();
      const length = rows['rewards'].length / 2;
      expect(length).toBeGreaterThanOrEqual(14 + 4); // steps, and a record more for each episode
      for (let stream = 0; stream < 2; stream++) {
        for (let i = 0; i < length; i++) {
          const row = stream * length + i;
          const count = i % 4; // 3 steps, 4 records
          expect(rows['obs/vector'][row]).toBe(count);
          expect(rows['rewards'][row]).toBe(count);
          expect(rows['isFirst'][row]).toBe(count === 0 ? 1 : 0);
          expect(rows['isLast'][row]).toBe(count === 3 ? 1 : 0);
          expect(rows['isTerminal'][row]).toBe(count === 3 ? 1 : 0);
          expect(rows['previousActions'][row] === -1).toBe(count === 0);
        }
      }
    },
  );

  it('does not take a time limit for an end', async () => {
    const { run, agents } = makeRun({ startAfter: 1000 }, { game: countGame(3, false), envs: 1, steps: 8 });
    await run.train({ envSteps: 8 });
    const rows = await recorded(agents[0]);
    run.dispose();
    expect(rows['isLast'].slice(0, 8)).toEqual([0, 0, 0, 1, 0, 0, 0, 1]);
    expect(rows['isTerminal'].every((x) => x === 0)).toBe(true);
  });

  it('enters each record in the state that the agent left the one before with', async () => {
    const acted: number[][] = [];
    const keep = ({ extras }: Experience) => {
      const { data, shape } = extras['dreamer/agent_0/deter'];
      const size = shape[3];
      for (let t = 0; t < shape[1]; t++) acted.push([...data.slice(t * size, (t + 1) * size)]);
    };
    const { run, agents } = makeRun(
      { startAfter: 1000 },
      { game: countGame(3, true), envs: 1, steps: 2, onRollout: keep },
    );
    await run.train({ envSteps: 12 });
    const { startDeter } = await recorded(agents[0]);
    const size = agents[0].learner.setup.nets.sizes.deter;
    // Four episodes of 3 steps: zeros before each, then the agent's states.
    const expected = [0, 3, 6, 9].flatMap((first) => [new Array(size).fill(0), ...acted.slice(first, first + 3)]);
    expect(startDeter).toEqual(expected.flat());
    expect(acted[2].some((x) => x !== 0)).toBe(true);
    run.dispose();
  });
});

describe('agents that leave before the others', () => {
  const leaving = leavingGame({ leaves: [2, NEVER], maxSteps: 5 });

  it('have nothing recorded after they left, and their next episode follows at once', async () => {
    const { run, agents } = makeRun({ startAfter: 1000 }, { game: leaving, envs: 1, steps: 5, shared: true });
    await run.train({ envSteps: 15 });
    const rows = await recorded(agents[0]);
    run.dispose();
    // Stream 0: 2 steps, 3 records in each of three episodes. Stream 1: 5 steps, 6 records.
    expect(rows['isFirst']).toEqual([
      ...[1, 0, 0, 1, 0, 0, 1, 0, 0],
      ...[1, 0, 0, 0, 0, 0],
      ...[1, 0, 0, 0, 0, 0],
      ...[1, 0, 0, 0, 0, 0],
    ]);
    expect(rows['isTerminal'].slice(0, 9)).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1]);
    expect(rows['isTerminal'].slice(9).every((x) => x === 0)).toBe(true);
    expect(rows['isLast'].slice(9, 15)).toEqual([0, 0, 0, 0, 0, 1]);
    // Rewards are the agent's index + step / 10.
    expect(rows['rewards'].slice(0, 3).map((x) => Math.round(10 * x))).toEqual([0, 0, 1]);
    expect(rows['rewards'].slice(9, 15).map((x) => Math.round(10 * x))).toEqual([0, 10, 11, 12, 13, 14]);
  });

  it('are told apart by their ids where they share weights', () => {
    const [first] = sharedDreamerAgents({ ...small, game: leaving });
    expect(first.learner.setup.encoder.shapes['vector']).toEqual([3 + 2]);
    expect(dreamerAgent({ ...small, game: leaving, id: 'agent_0' }).learner.setup.encoder.shapes['vector']).toEqual([
      3,
    ]);
  });
});

describe('the number of updates', () => {
  it('is replayed steps for each step lived through, however they are collected', { tags: ['slow'] }, async () => {
    for (const [envs, steps] of [
      [1, 4],
      [4, 2],
    ]) {
      // 8 steps of replay in an update: 4 for each step are one update in two steps.
      const { run, agents } = makeRun({ trainRatio: 4, startAfter: 1 }, { envs, steps });
      await run.train({ envSteps: 80 });
      const { updates } = agents[0].learner;
      run.dispose();
      // One at once; before that 4 records of a stream have to be there, 3 or 4 steps in each environment.
      expect(updates).toBeGreaterThanOrEqual(1 + (80 - 5 * envs - 1) / 2 - 1);
      expect(updates).toBeLessThanOrEqual(40);
    }
  });

  it('counts the steps of all agents that share the weights, and no step after one left', {
    tags: ['slow'],
  }, async () => {
    const leaving = leavingGame({ leaves: [1, NEVER], maxSteps: 5 });
    const { run, agents } = makeRun(
      { trainRatio: 8, startAfter: 1 },
      { game: leaving, envs: 1, steps: 5, shared: true },
    );
    await run.train({ envSteps: 50 });
    const { updates } = agents[0].learner;
    run.dispose();
    expect(updates).toBe(1 + 9 * 6); // an update for each step: 6 in an episode, the first of which begins the training
  });

  it('is fixed for each phase where that is asked for', { tags: ['slow'] }, async () => {
    const { run, agents } = makeRun({ updatesPerPhase: 3, startAfter: 1, schedule: 'separate' }, { envs: 1, steps: 5 });
    await run.train({ envSteps: 20 });
    expect(agents[0].learner.updates).toBe(12);
    run.dispose();
  });
});

describe('a replay too small to begin with', () => {
  // Windows of 4 records: 16 records in each of 4 streams hold 13 windows, 52 in all.
  it.each([
    [
      'no window in any stream',
      { replayCapacity: 12 },
      /capacity of at least 16, 4 steps for each of 4 streams, got 12/,
    ],
    ['fewer windows than startAfter', { replayCapacity: 64, startAfter: 53 }, /at most 52 windows.*startAfter 53/s],
  ])('is refused, not filled for ever: %s', async (_, options, message) => {
    const { run } = makeRun(options, { envs: 4 });
    await expect(run.train({ envSteps: 16 })).rejects.toThrow(message);
    run.dispose();
  });

  it('is refused where the agent is made, if it is smaller than the default of startAfter', () => {
    const seat = { game: countGame(3, true), id: 'agent_0', size: 'nano', batchSize: 2, sequenceLength: 4 } as const;
    expect(() => dreamerAgent({ ...seat, replayCapacity: 7 })).toThrow(
      /replayCapacity: expected at least 8, the default of startAfter \(2 sequences of 4 steps\), got 7.*lower startAfter/,
    );
    expect(() => dreamerAgent({ ...seat, replayCapacity: 8 })).not.toThrow();
    expect(() => dreamerAgent({ ...seat, replayCapacity: 7, startAfter: 100 })).not.toThrow();
  });

  it('is right where the windows are just enough, and where nothing is to begin by itself', {
    tags: ['slow'],
  }, async () => {
    for (const [startAfter, begun] of [
      [52, true],
      [65, false],
    ] as const) {
      const { run, agents } = makeRun({ replayCapacity: 64, startAfter }, { envs: 4 });
      await run.train({ envSteps: 80 });
      expect(agents[0].learner.updates > 0).toBe(begun);
      run.dispose();
    }
  });
});

describe('illegal actions', () => {
  const rules = leavingGame({ leaves: [NEVER], legal: (_agent, step) => (step % 2 === 0 ? [0, 1] : [2]) });

  it('are never chosen, and what is legal is learned where a game forbids anything', { tags: ['slow'] }, async () => {
    const { run, agents, kept } = makeRun(
      { startAfter: 1, trainRatio: 16, learningRate: 1e-2, warmUp: 0 },
      { game: rules },
    );
    expect('legal' in agents[0].learner.setup.nets).toBe(true);
    await run.train({ envSteps: 80 }); // a rollout refuses illegal actions
    const legal = kept.map((metrics) => metrics['loss/legal']).filter((x) => x !== undefined);
    expect(legal.at(-1)).toBeLessThan(legal[0] / 2);
    run.dispose();
  });

  it('cost nothing where a game forbids none', () => {
    const { agents } = makeRun();
    expect('legal' in agents[0].learner.setup.nets).toBe(false);
    const forced = dreamerAgent({ ...small, game, id: 'agent_0', masks: true });
    // One hidden layer of 8 units (with norm) on 8 + 8 features, and 2 logits.
    const more = forced.learner.setup.nets.parameterCount - agents[0].learner.setup.nets.parameterCount;
    expect(more).toBe(16 * 8 + 2 * 8 + 8 * 2 + 2);
  });
});

const bits = (state: SavedState) =>
  JSON.stringify(state, (_, x) => (ArrayBuffer.isView(x) ? Array.from(x as Float32Array) : x));

describe.each(['joint', 'coupled', 'separate'] as const)('the schedule %s', (schedule) => {
  it('goes on to the bit after a restore, replay and all', { tags: ['slow'] }, async () => {
    const options = { schedule, startAfter: 1, trainRatio: 8.3 }; // a fraction of an update is carried on
    const one = makeRun(options);
    await one.run.train({ envSteps: 32 }); // in the middle of episodes of 5 steps
    const saved = structuredClone(await one.run.state());
    await one.run.train({ envSteps: 64 });
    const two = makeRun(options);
    await two.run.restore(saved);
    await two.run.train({ envSteps: 64 });
    expect(bits(await two.run.state())).toBe(bits(await one.run.state()));
    expect(two.agents[0].learner.updates).toBeGreaterThan(50);
    one.run.dispose();
    two.run.dispose();
  });

  it.each([1000, 0.001])('stays finite where rewards are %f times as large', { tags: ['slow'] }, async (factor) => {
    const scaled = tinyGame({ agents: 1, reward: (_, action) => factor * action, maxSteps: 5 });
    const { run, kept } = makeRun({ schedule, startAfter: 1, trainRatio: 8, warmUp: 0 }, { game: scaled });
    await run.train({ envSteps: 48 });
    run.dispose();
    const last = kept.at(-1)!;
    expect(last['opt/skipped']).toBe(0);
    for (const [name, value] of Object.entries(last)) expect(Number.isFinite(value), name).toBe(true);
  });
});

describe('a replay of another learner', () => {
  it('begins a new one, with as many streams, and is refused by field where it does not fit', async () => {
    const { run, agents } = makeRun({ startAfter: 1000 });
    await run.train({ envSteps: 40 });
    const { replay } = await agents[0].learner.state();
    const restored = async (options: object, other: Game = game) => {
      const { learner } = dreamerAgent({ ...small, ...options, game: other, id: other.agents[0] });
      await learner.initialise(createGenerator(1));
      const { streams: _, ...fresh } = await learner.state();
      await learner.restore({ ...fresh, replay });
      return learner;
    };
    const pupil = await restored({});
    expect((await pupil.state())['streams']).toBe(2);
    expect((await pupil.train(1, createGenerator(2)))['opt/loss']).toBeGreaterThan(0);
    const held = structuredClone(await pupil.state());
    const { buffer } = held['replay'] as { buffer: SavedState };
    const smaller = { ...(held['replay'] as SavedState), buffer: { ...buffer, ring: 7 } };
    await expect(pupil.restore({ ...held, replay: smaller })).rejects.toThrow(/streams of/);
    const rewards = ndarray(new Float32Array(3), [3]);
    const damaged = { ...buffer, rows: { ...(buffer['rows'] as NamedArrays), rewards } };
    const empty = { ...buffer, rows: {} };
    for (const [other, message] of [
      [damaged, /rows of rewards/],
      [empty, /rows of each field, one for each step held, got no fields/],
      [
        { ...buffer, pushed: (buffer['pushed'] as Float64Array).map((end) => end + 1) },
        /rows of .*one for each step held/,
      ],
    ] as const) {
      const replay = { ...(held['replay'] as SavedState), buffer: other };
      await expect(pupil.restore({ ...held, replay })).rejects.toThrow(message);
    }
    expect(bits(await pupil.state())).toBe(bits(held)); // as it was
    await expect(restored({}, countGame(3, true))).rejects.toThrow(
      /obs\/vector of float32 \[B, 1\], got obs\/vector of float32 \[B, 2\]/,
    );
    await expect(restored({ replayLatents: false })).rejects.toThrow(
      /no field startDeter, got startDeter of float32 \[B, 8\]/,
    );
    await expect(restored({}, tinyGame({ agents: 1, actions: 1, reward: () => 0, maxSteps: 5 }))).rejects.toThrow(
      /actions below 1/,
    );
    await expect(restored({ size: 'nano' })).rejects.toThrow(
      /startDeter of float32 \[B, 128\], got startDeter of float32 \[B, 8\]/,
    );
    run.dispose();
  });
});

describe('updates by hand', () => {
  it('actor and critic learn from states that are given, and from sampled ones where none are', {
    tags: ['slow'],
  }, async () => {
    const { run, agents } = makeRun({ startAfter: 1000, warmUp: 0 });
    await run.train({ envSteps: 40 });
    const { learner } = agents[0];
    const { states, metrics } = await learner.trainWorldModel(createGenerator(1));
    expect(states.deter.shape).toEqual([2, 4, 8]);
    expect(states.stoch.shape).toEqual([2, 4, 2]);
    expect(metrics['loss/dyn']).toBeGreaterThanOrEqual(1);
    expect(metrics['loss/policy']).toBeUndefined();
    const before = await learner.parameters();
    const given = await learner.trainBehaviour(createGenerator(2), states);
    expect(given['loss/repval']).toBeUndefined(); // states alone have no rewards
    const after = await learner.parameters();
    for (const [name, { data }] of Object.entries(after)) {
      const isSame = data.every((x, i) => x === before[name].data[i]);
      if (!/^(pol|val)/.test(name)) expect(isSame, name).toBe(true);
    }
    expect(after['pol/head/kernel'].data).not.toEqual(before['pol/head/kernel'].data);
    const sampled = await learner.trainBehaviour(createGenerator(3));
    expect(sampled['loss/repval']).toBeGreaterThan(0);
    run.dispose();
  });

  it('start imagination from the last `starts` of the given states', { tags: ['slow'] }, async () => {
    const { run, agents } = makeRun({ startAfter: 1000, starts: 2 });
    await run.train({ envSteps: 40 });
    const { learner } = agents[0];
    const { states } = await learner.trainWorldModel(createGenerator(1));
    const saved = structuredClone(await learner.state());
    /** What is imagined where the states of one step, in both sequences, are others. */
    const without = async (step: number) => {
      await learner.restore(structuredClone(saved));
      const deter = { data: Float32Array.from(states.deter.data), shape: states.deter.shape };
      for (const b of [0, 1]) deter.data.fill(2, (b * 4 + step) * 8, (b * 4 + step + 1) * 8);
      return (await learner.trainBehaviour(createGenerator(2), { ...states, deter }))['dreamer/ent_action'];
    };
    const [first, second, third, fourth] = [await without(0), await without(1), await without(2), await without(3)];
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(fourth).not.toBe(first);
    run.dispose();
  });

  it('rid the optimisers of denormal numbers every 64 updates, in each phase of the separate schedule', async () => {
    const { run, agents } = makeRun({ schedule: 'separate', startAfter: 1000 });
    await run.train({ envSteps: 40 });
    const { learner } = agents[0];
    const flush = vi.spyOn(learner.network.groups.worldSlots, 'flushDenormals');
    await learner.train(64, createGenerator(1));
    expect(flush).toHaveBeenCalledTimes(2);
    run.dispose();
  });

  it('weigh the entropy as the progress of the training says', { tags: ['slow'] }, async () => {
    const after = async (entropyScale: NonNullable<DreamerOptions['entropyScale']>, progress: number) => {
      const played: Experience[] = [];
      const onRollout = (experience: Experience) => void played.push(experience);
      // One update: operation by operation it takes less time than compiling it.
      const { run, agents } = makeRun({ startAfter: 1000, entropyScale }, { onRollout, executor: 'eager' });
      await run.train({ envSteps: 40 });
      const { learner } = agents[0];
      await learner.update({ experience: played[0], progress, generator: createGenerator(1) });
      const { 'loss/policy': loss } = await learner.train(1, createGenerator(2));
      run.dispose();
      return loss;
    };
    const quarter = await after({ from: 1, to: 0 }, 0.75);
    expect(quarter).toBe(await after(0.25, 0));
    expect(quarter).not.toBe(await after({ from: 1, to: 0 }, 0.5));
  });

  it('anneal the step size by the progress of the training, after a warm-up by updates', async () => {
    const played: Experience[] = [];
    const onRollout = (experience: Experience) => void played.push(experience);
    const settings = { startAfter: 1000, learningRate: { from: 0.008, to: 0, by: 0.5 }, warmUp: 2 };
    const { run, agents } = makeRun(settings, { onRollout, executor: 'eager' });
    await run.train({ envSteps: 40 });
    const { learner } = agents[0];
    await learner.update({ experience: played[0], progress: 0.25, generator: createGenerator(1) });
    const rates: number[] = [];
    for (let i = 0; i < 3; i++) rates.push((await learner.train(1, createGenerator(2)))['opt/learning_rate']);
    expect(rates).toEqual([0, 0.002, 0.004]); // half of the way down; 0, 1/2 and all of it in the warm-up
    run.dispose();
  });

  it('renews the states that sequences begin with', async () => {
    const { run, agents } = makeRun({ startAfter: 1000, warmUp: 0 }, { envs: 1, steps: 20 });
    await run.train({ envSteps: 20 });
    const { learner } = agents[0];
    const before = await recorded(agents[0]);
    const { states } = await learner.trainWorldModel(createGenerator(1)); // new windows: records 0 to 3, 4 to 7
    const { startDeter } = await recorded(agents[0]);
    expect(startDeter.slice(0, 8)).toEqual(before['startDeter'].slice(0, 8)); // nothing comes before the first record
    expect(startDeter.slice(8, 9 * 8)).toEqual([...states.deter.data]);
    expect(startDeter.slice(9 * 8)).toEqual(before['startDeter'].slice(9 * 8));
    run.dispose();
  });
});

describe('acting', () => {
  it('is the same on the eager and the compiled executor, for rows that begin and rows that go on', async () => {
    const hunt = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 });
    const play = async (executor: 'eager' | 'onnx'): Promise<Experience> => {
      const agents = sharedDreamerAgents({ ...small, game: hunt, executor });
      await agents[0].learner.initialise(createGenerator(1));
      const env = vectorEnv(hunt, { envs: 3, seed: 1 });
      const rollout = createRollout(env, agents as unknown as Agent[], createGenerator(2));
      const experience = await rollout.collect(9);
      agents[0].learner.dispose();
      return experience;
    };
    const [eager, compiled] = [await play('eager'), await play('onnx')];
    expect([...compiled.actions]).toEqual([...eager.actions]);
    const deter = 'dreamer/shared/deter';
    compiled.extras[deter].data.forEach((x, i) => void expect(x).toBeCloseTo(eager.extras[deter].data[i], 5));
  });

  it('does not depend on what came before an episode', async () => {
    const [agent] = game.agents.map((id) => dreamerAgent({ ...small, game, id }));
    await agent.learner.initialise(createGenerator(1));
    const input = (isFirst: number, previous: number) => ({
      rows: 1,
      observations: { cue: Float32Array.of(1, 0) },
      masks: Uint8Array.of(1, 1),
      active: Uint8Array.of(1),
      isFirst: Uint8Array.of(isFirst),
      previousActions: Int32Array.of(previous),
    });
    const deterAfter = async (isFirst: number, filled: number, previous: number) => {
      const start = agent.initialState(1);
      const state = { deter: start.deter.map(() => filled), stoch: start.stoch };
      return [...(await agent.act(input(isFirst, previous), state, createGenerator(4))).state.deter];
    };
    expect(await deterAfter(1, 0.5, 1)).toEqual(await deterAfter(1, 0, -1));
    expect(await deterAfter(0, 0.5, 1)).not.toEqual(await deterAfter(0, 0, 1));
    expect(await deterAfter(0, 0, 1)).not.toEqual(await deterAfter(0, 0, 0));
    agent.learner.dispose();
  });
});

describe('options', () => {
  it('are refused where they are unknown or contradict each other', () => {
    const make = (options: object) => () => dreamerAgent({ ...small, game, id: 'agent_0', ...options } as never);
    expect(make({ horizn: 3 })).toThrow(/horizn/);
    expect(make({ trainRatio: 4, updatesPerPhase: 2 })).toThrow(/updatesPerPhase/);
    expect(make({ starts: 5 })).toThrow(/starts/);
    expect(make({ size: 'huge' })).toThrow(/size/);
    expect(make({ lossScales: { rewards: 1 } })).toThrow(/rewards/);
    expect(() => dreamerAgent({ ...small, game, id: 'nobody' })).toThrow(/agent_0/);
    expect(make({ inputs: { fields: ['nope'] } })).toThrow(/dreamerAgent: inputs.fields.*cue.*got "nope"/s);
    expect(make({ inputs: { extras: { goal: 2 } } })).toThrow(/extras/);
  });

  it('move images so that the agent is in their middle', () => {
    const hunt = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
    const [plain, centred] = [false, true].map((isCentred) => {
      const options = { ...small, game: hunt, id: 'agent_0', inputs: { centred: isCentred } };
      return Object.values(dreamerAgent(options).learner.setup.encoder.shapes).find((shape) => shape.length === 3)!;
    });
    expect(plain.slice(0, 2)).toEqual([3, 3]);
    expect(centred).toEqual([5, 5, plain[2] + 1]);
  });

  it('follow the size where they are said to', () => {
    const rates = (['nano', 'micro', 'size1m'] as const).map((size) => {
      const { options } = dreamerAgent({ game: catchGame(), id: 'agent_0', size }).learner.setup;
      return [options.learningRate, options.warmUp];
    });
    expect(rates).toEqual([
      [1e-3, 100],
      [1e-3, 100],
      [4e-5, 1000],
    ]);
  });
});
