import type { Agent, Game, LogEntry, Metrics, SavedState } from '@coplay/core';
import { matrixGame, randomAgent } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import {
  type Learner,
  type PpoAgentOptions,
  ppoAgent,
  type SelfPlayOptions,
  selfPlay,
  sharedPpoAgents,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { network } from './field-helpers';
import { tinyGame } from './games';

const game = tinyGame({ reward: () => 1 });

beforeAll(async () => {
  await useBackend('wasm');
});

function runOf(rules: Game = game, agent: Partial<PpoAgentOptions> = {}, options: Partial<SelfPlayOptions> = {}) {
  const agents = rules.agents.map((id) => ppoAgent({ game: rules, id, network, ...agent }));
  return selfPlay({ game: rules, agents, envs: 2, steps: 4, ...options });
}

describe('odd sizes', () => {
  it('learns with sequences of one step', async () => {
    const run = runOf(game, { recurrent: 2 }, { envs: 1, steps: 1 });
    await run.train({ envSteps: 3 });
    expect(run.updates).toBe(3);
  });

  it('learns a game with a single action', async () => {
    const run = runOf(matrixGame({ payoffs: [[1]], actionNames: ['only'], maxSteps: 3 }));
    await run.train({ envSteps: 16 });
    expect((await run.evaluate({ episodes: 2 })).mean).toBe(3);
  });
});

describe('restoring what belongs to another run', () => {
  it.each<[string, () => ReturnType<typeof selfPlay>, RegExp]>([
    [
      'of another network',
      () => runOf(game, { network: mlp({ hidden: [9] }) }),
      /restore: saved\.params: expected .* of shape \[/,
    ],
    [
      'of other learners',
      () => selfPlay({ game, agents: sharedPpoAgents({ game, network }), envs: 2, steps: 4 }),
      /restore: expected the state of a run with the learners shared, got one with agent_0/,
    ],
    ['of another number of environments', () => runOf(game, {}, { envs: 3 }), /vectorEnv\.restore/],
  ])('refuses one %s, and goes on unharmed', async (_what, make, message) => {
    const saved = await runOf().state();
    const other = make();
    await expect(other.restore(saved)).rejects.toThrow(message);
    await other.train({ envSteps: 8 });
  });

  it('refuses what is no state', async () => {
    await expect(runOf().restore({} as SavedState)).rejects.toThrow(/restore: expected the state of a run/);
  });
});

describe('a run', () => {
  it('refuses agents that were made with another game', async () => {
    const other = matrixGame({ kind: 'chicken' });
    const agents = game.agents.map((_, seat) => ppoAgent({ game: other, id: other.agents[seat], network }));
    const renamed = agents.map((agent, seat) => Object.assign(agent, { id: game.agents[seat] }));
    expect(() => selfPlay({ game, agents: renamed, envs: 2, steps: 4 })).not.toThrow();
    await expect(selfPlay({ game, agents: renamed, envs: 2, steps: 4 }).train({ envSteps: 8 })).rejects.toThrow(
      /Make the agent with the game that it plays/,
    );
  });

  it('refuses to train twice at once', async () => {
    const run = runOf();
    const first = run.train({ envSteps: 24 });
    await expect(run.train({ envSteps: 24 })).rejects.toThrow(/Await the first train/);
    await first;
    expect(run.envSteps).toBe(24);
    await run.train({ envSteps: 32 });
  });

  it('refuses dispose while it trains, and goes on', async () => {
    const run = runOf();
    const training = run.train({ envSteps: 24 });
    expect(() => run.dispose()).toThrow(
      /^dispose: expected a run that is not training, got one that is\. Await train\(\)/,
    );
    await training;
    expect(run.envSteps).toBe(24);
    run.dispose();
  });

  it('refuses to go on after dispose, where it would start anew unseen', async () => {
    const run = runOf();
    await run.train({ envSteps: 8 });
    run.dispose();
    run.dispose();
    await expect(run.train({ envSteps: 16 })).rejects.toThrow(/not disposed of/);
    await expect(run.evaluate({ episodes: 1 })).rejects.toThrow(/not disposed of/);
  });

  it('keeps what a co-player remembers apart from an evaluation that is asked for while it trains', async () => {
    const countsOf = async (evaluates: boolean) => {
      const [one, two] = game.agents;
      const counter = counting(two);
      const run = selfPlay({ game, agents: [ppoAgent({ game, id: one, network }), counter], envs: 2, steps: 4 });
      const training = run.train({ envSteps: 40 });
      if (evaluates) await run.evaluate({ episodes: 20 });
      await training;
      return counter.save?.();
    };
    expect(await countsOf(true)).toEqual(await countsOf(false));
  });
});

/** Counts the steps that it sees, and takes the first legal action. */
function counting(id: string): Agent<null> {
  let steps = 0;
  return {
    id,
    name: 'Counting',
    initialState: () => null,
    act: async ({ rows, masks }, state) => {
      const K = masks.length / rows;
      return { actions: Int32Array.from({ length: rows }, (_, row) => masks.subarray(row * K).indexOf(1)), state };
    },
    observe: () => {
      steps++;
    },
    save: () => ({ steps }),
    restore: (saved) => {
      steps = saved['steps'] as number;
    },
  };
}

describe('a learner', () => {
  it.each<[string, unknown, RegExp]>([
    ['null', null, /selfPlay: the learner of agent_0: learner: expected a record/],
    ['no ids', { name: 'x' }, /selfPlay: the learner of agent_0: expected ids/],
    ['no functions', { name: 'x', ids: [] }, /selfPlay: the learner of agent_0: initialise: expected a function/],
    [
      'parts that are no list',
      { name: 'x', ids: [], parts: {} },
      /selfPlay: the learner of agent_0: expected parts, a/,
    ],
    [
      'a BigInt in its config',
      { name: 'x', ids: [], config: { a: 1n } },
      /agent_0: config: expected what JSON can hold/,
    ],
  ])('with %s is refused by name', (_, learner, says) => {
    const agents = game.agents.map((id) => ({ ...(randomAgent({ game, id }) as Agent), learner: learner as Learner }));
    expect(() => selfPlay({ game, agents, envs: 1, steps: 2 })).toThrow(says);
  });
});

describe('what a learner declares for lockstep', () => {
  it.each<[string, unknown, RegExp]>([
    ['true', true, /the lockstep of agent_0: lockstep: expected a record/],
    ['no text', { kind: 3, networks: {}, join: () => undefined }, /the lockstep of agent_0: kind: expected/],
    [
      'no networks',
      { kind: 'x', join: () => undefined },
      /the lockstep of agent_0: expected networks, .*got undefined/,
    ],
    ['nothing that joins', { kind: 'x', networks: {} }, /the lockstep of agent_0: join: expected a function/],
  ])('is refused by name: %s', async (_, lockstep, says) => {
    const learner = (id: string) => ({
      ...{ name: id, ids: [id], updates: 0, config: {}, lockstep: lockstep as never },
      ...{ initialise: async () => undefined, update: async () => ({}), parameters: () => ({}) },
      ...{ state: async () => ({}), restore: async () => undefined, dispose: () => undefined },
    });
    const agents = game.agents.map((id) => ({ ...(randomAgent({ game, id }) as Agent), learner: learner(id) }));
    await expect(selfPlay({ game, agents, envs: 1, steps: 2 }).train({ envSteps: 2 })).rejects.toThrow(says);
  });
});

describe("a learner's metrics", () => {
  /** Plays at random and learns nothing, but answers an update with these metrics. */
  const runWith = (metrics: unknown, log: LogEntry[] = []) => {
    const agents = game.agents.map((id) => ({
      ...(randomAgent({ game, id }) as Agent),
      learner: answering(id, metrics),
    }));
    const sink = { start: () => undefined, write: (entry: LogEntry) => void log.push(entry), close: () => undefined };
    return selfPlay({ game, agents, envs: 1, steps: 2, log: [sink] });
  };
  const answering = (name: string, metrics: unknown): Learner => ({
    ...{
      name,
      ids: [name],
      updates: 0,
      config: {},
      initialise: async () => undefined,
      update: async () => metrics as Metrics,
    },
    ...{ parameters: () => ({}), state: async () => ({}), restore: async () => undefined, dispose: () => undefined },
  });

  it.each<[string, unknown, RegExp]>([
    ['a Map', new Map([['loss', 1]]), /agent_0.update: metrics: expected a record of numbers, got Map/],
    ['a list', [1], /agent_0.update: metrics: expected a record of numbers/],
    ['nothing', undefined, /agent_0.update: metrics: expected a record of numbers/],
    ['a text', { loss: '1' }, /agent_0.update: expected a number for the metric "loss", got "1"/],
  ])('that are %s are refused by the name of the learner', async (_, metrics, says) => {
    await expect(runWith(metrics).train({ envSteps: 2 })).rejects.toThrow(says);
  });

  it('that are undefined are left out of the mean as well', async () => {
    const log: LogEntry[] = [];
    await runWith({ loss: undefined, gain: 2 }, log).train({ envSteps: 2 });
    const { gain, ...others } = log[0].metrics;
    expect(gain).toBe(2);
    expect(Object.keys(others).filter((key) => key.endsWith('loss'))).toEqual([]);
  });
});
