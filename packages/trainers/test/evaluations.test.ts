import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, LogEntry, SavedState } from '@coplay/core';
import { matrixGame, randomAgent, stagHunt, titForTat } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import {
  type LearnerData,
  type LearningAgent,
  loadRun,
  ppoAgent,
  type SelfPlayOptions,
  selfPlay,
} from '@coplay/trainers';
import { loadCheckpoint } from '@coplay/trainers/checkpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

beforeAll(() => useBackend('wasm'));
const folder = mkdtempSync(join(tmpdir(), 'coplay-evaluations-'));
afterAll(() => rmSync(folder, { recursive: true }));

const game = matrixGame({ maxSteps: 2 });
const players = (): Agent[] => game.agents.map((id) => randomAgent({ game, id }) as Agent);
/** Four environment steps in an update. */
const make = (options: Partial<SelfPlayOptions> = {}) => {
  return selfPlay({
    game,
    agents: players(),
    envs: 2,
    steps: 2,
    evaluateEpisodes: 2,
    warn: () => undefined,
    ...options,
  });
};
/** A score for each evaluation, in this order. */
const scores = (...values: number[]) => {
  return () => values.shift() ?? Number.NEGATIVE_INFINITY;
};

describe('horizon', () => {
  /** An agent whose learner notes the progress that it is given. */
  function noting(seen: number[]): LearningAgent {
    const learner = {
      ...{ name: 'agent_0', ids: ['agent_0'], updates: 0, config: {} },
      initialise: async () => undefined,
      update: ({ progress }: LearnerData) => {
        seen.push(progress);
        return {};
      },
      state: (): SavedState => ({}),
      restore: () => undefined,
      dispose: () => undefined,
    };
    return { ...(randomAgent({ game, id: 'agent_0' }) as unknown as Agent), learner };
  }

  it('keeps schedules straight over several calls of train', async () => {
    const seen: number[] = [];
    const run = make({ agents: [noting(seen), players()[1]] });
    for (const envSteps of [4, 8, 12, 16, 20]) await run.train({ envSteps, horizon: 16 });
    expect(seen).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });

  it('is envSteps by default, of each call', async () => {
    const seen: number[] = [];
    const run = make({ agents: [noting(seen), players()[1]] });
    await run.train({ envSteps: 8 });
    await run.train({ envSteps: 16 });
    expect(seen).toEqual([0, 0.5, 0.5, 0.75]);
  });
});

it('callbacks are called and awaited around each part, in order', async () => {
  const calls: string[] = [];
  const later = (name: string) => async (moment: { readonly update: number }) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    calls.push(`${name} ${moment.update}`);
  };
  const names = ['beforeRollout', 'afterRollout', 'beforeUpdate', 'afterUpdate', 'beforeEvaluation', 'afterEvaluation'];
  const callbacks = Object.fromEntries(names.map((name) => [name, later(name)]));
  await make({ callbacks, evaluateEvery: 2 }).train({ envSteps: 8 });
  expect(calls).toEqual([
    ...['beforeRollout 0', 'afterRollout 0', 'beforeUpdate 0', 'afterUpdate 1'],
    ...['beforeRollout 1', 'afterRollout 1', 'beforeUpdate 1', 'afterUpdate 2'],
    ...['beforeEvaluation 2', 'afterEvaluation 2'],
  ]);
});

it('an error in a callback ends the training', async () => {
  const callbacks = { afterEvaluation: () => Promise.reject(new Error('enough')) };
  await expect(make({ callbacks, evaluateEvery: 1 }).train({ envSteps: 8 })).rejects.toThrow('enough');
});

describe('evaluations', () => {
  it('are logged in the entries of their updates', async () => {
    const entries: LogEntry[] = [];
    const log = {
      start: () => undefined,
      write: (entry: LogEntry) => void entries.push(entry),
      close: () => undefined,
    };
    const run = make({ evaluateEvery: 2, log: [log], score: scores(5, 4) });
    await run.train({ envSteps: 16 });
    const found = entries.map(({ metrics }) => [metrics['evaluation/score'], metrics['evaluation/best_score']]);
    expect(found).toEqual([
      [undefined, undefined],
      [5, 5],
      [undefined, undefined],
      [4, 5],
    ]);
    const [, { metrics }] = entries;
    const [first, second] = game.agents.map((id) => metrics[`evaluation/return/${id}`]);
    expect(metrics['evaluation/return_mean']).toBe((first + second) / 2);
    expect(metrics['evaluation/length']).toBe(2);
  });

  it('change nothing in the run, to the bit', async () => {
    const hunt = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 5 });
    const states: SavedState[] = [];
    for (const evaluateEvery of [false, 1] as const) {
      const learner = ppoAgent({ game: hunt, id: 'agent_0', network: mlp({ hidden: [4] }) });
      const agents = [learner, titForTat({ game: hunt, id: 'agent_1' })];
      const run = selfPlay({ game: hunt, agents, envs: 2, steps: 4, seed: 2, evaluateEvery, evaluateEpisodes: 3 });
      await run.train({ envSteps: 24 });
      const { evaluations: _, ...state } = await run.state();
      states.push(state);
      run.dispose();
    }
    expect(states[1]).toEqual(states[0]);
  });

  it('keep the best state, which can be loaded', async () => {
    const directory = join(folder, 'best');
    const run = make({ evaluateEvery: 1, keepBest: true, directory, score: scores(1, 3, 3, 2) });
    await run.train({ envSteps: 16 });
    expect(run.best).toEqual({ score: 3, envSteps: 8 });
    expect((await loadCheckpoint(join(directory, 'best'))).step).toBe(8);
    expect((await loadCheckpoint(directory)).step).toBe(16);
    expect((await loadRun(directory, { step: 'best' })).checkpoint.step).toBe(8);
  });

  it('end the training after so many without a better score, also across a resume', async () => {
    const directory = join(folder, 'patience');
    const first = make({ evaluateEvery: 1, patience: 2, directory, score: scores(1, 3, 2) });
    await first.train({ envSteps: 12 });
    const second = make({ evaluateEvery: 1, patience: 2, directory, score: scores(3, 9) });
    expect(await second.resume()).toBe(true);
    expect(second.best).toEqual({ score: 3, envSteps: 8 });
    await second.train({ envSteps: 80 });
    expect([second.envSteps, second.updates]).toEqual([16, 4]);
    await second.train({ envSteps: 80 }); // it stays ended
    expect(second.envSteps).toBe(16);
  });

  it('are refused where they have no meaning', async () => {
    expect(() => make({ patience: 3 })).toThrow('option patience: expected evaluations to go by');
    expect(() => make({ keepBest: true })).toThrow('option keepBest: expected evaluations to go by');
    expect(() => make({ keepBest: true, evaluateEvery: 1 })).toThrow('a directory to keep it in');
    expect(() => make({ evaluateEvery: 0 })).toThrow('option evaluateEvery');
    expect(() => make({ callbacks: { beforeRolout: () => undefined } as object })).toThrow('beforeRolout');
    const run = make({ evaluateEvery: 1, score: () => Number.NaN });
    await expect(run.train({ envSteps: 4 })).rejects.toThrow('option score: expected a finite number, got NaN');
  });
});
