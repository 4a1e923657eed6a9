import { type AnyGame, assertGame, createGenerator, type Game, parallelEnv } from '@coplay/core';
import { simpleSpeakerListener, simpleSpread, simpleTag } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { expectSameEpisode, recordedCases } from './recorded';

describe('games of particles', () => {
  it.each(recordedCases('particle'))('move as in mpe2: %s', (name, recorded) => {
    expectSameEpisode('particle', name, recorded);
  });

  it.each([
    ['simpleSpread', simpleSpread({ agents: 2, maxSteps: 6 })],
    ['simpleSpread, continuous', simpleSpread({ maxSteps: 6, continuousActions: true })],
    ['simpleTag', simpleTag({ good: 2, maxSteps: 6 })],
    ['simpleTag, continuous', simpleTag({ obstacles: 0, maxSteps: 6, continuousActions: true })],
    ['simpleSpeakerListener', simpleSpeakerListener({ maxSteps: 6 })],
    ['simpleSpeakerListener, continuous', simpleSpeakerListener({ maxSteps: 6, continuousActions: true })],
  ] as [string, AnyGame][])('%s keeps the contract', (_, game) => {
    assertGame(game, { episodes: 3 });
  });

  it('start anywhere in their square, at rest', () => {
    const game = simpleTag({ good: 1, adversaries: 1, obstacles: 1 });
    const starts = startsOf(game, 2000);
    // State: steps, x and y of adversary, good agent and obstacle, then velocities.
    for (const [i, limit] of [1, 1, 1, 1, 0.9, 0.9].entries()) {
      const values = starts.map((start) => start[1 + i]);
      expect(Math.min(...values)).toBeGreaterThanOrEqual(-limit);
      expect(Math.max(...values)).toBeLessThan(limit);
      expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(1.98 * limit);
      // The standard error of the mean of 2,000 values uniform in +-limit is limit / sqrt(3 * 2000) = 0.013 limit.
      expect(Math.abs(values.reduce((a, b) => a + b) / values.length)).toBeLessThan(0.06 * limit);
    }
    expect(starts.every((start) => start[0] === 0 && start.slice(7).every((value) => value === 0))).toBe(true);
  });

  it('make each landmark the target in a third of the episodes', () => {
    const targets = startsOf(simpleSpeakerListener(), 3000).map((start) => start.at(-1));
    // The standard error of a count of 3,000 draws with chance 1/3 is sqrt(3000 * 2/9) = 26.
    for (const target of [0, 1, 2]) {
      expect(Math.abs(targets.filter((drawn) => drawn === target).length - 1000)).toBeLessThan(110);
    }
  });

  it('name the landmark that an agent covers and the agent that an adversary catches as goals', () => {
    const spread = simpleSpread({ agents: 2 });
    // Agents at (0, 0) and (1, 0), landmarks at (1, 0.09) and (0, 0.11).
    const state = Float64Array.of(0, 0, 0, 1, 0, 1, 0.09, 0, 0.11, 0, 0, 0, 0);
    const reached = (game: Game<'float64'>, agent: number, after: Float64Array) =>
      game.goals!.reached({ agent, action: 0, left: false, observations: {}, row: 0, before: after, after });
    expect([reached(spread, 0, state), reached(spread, 1, state)]).toEqual([-1, 0]);

    const tag = simpleTag({ good: 2, adversaries: 2, obstacles: 0 });
    // Adversaries (radius 0.075) at (0, 0) and (1, 0), good agents (radius 0.05) at (0, 0.2) and (1, 0.12).
    const hunt = Float64Array.of(0, 0, 0, 1, 0, 0, 0.2, 1, 0.12, ...new Array<number>(8).fill(0));
    expect([0, 1, 2, 3].map((agent) => reached(tag, agent, hunt))).toEqual([-1, 1, -1, -1]);
  });

  it('draw entities in cells of width 0.1, and what is far away at the edge', () => {
    const game = simpleSpread({ agents: 1 });
    const state = Float64Array.of(0, 0.01, 0.11, -7, 7, 0, 0);
    expect(game.scene!(state, 0)).toEqual({
      rows: 25,
      columns: 25,
      items: [
        { kind: 'landmark', symbol: 'x', row: 0, column: 0 },
        { kind: 'agent', symbol: '1', row: 11, column: 12 },
      ],
    });
  });

  it('stay finite where two agents are in the same place', () => {
    const game = simpleSpread({ agents: 2 });
    const env = parallelEnv(game);
    env.reset();
    env.state().set([0.5, 0.5, 0.5, 0.5], 1);
    expect(Number.isFinite(env.step({ agent_0: 0, agent_1: 0 }).rewards['agent_0'])).toBe(true);
  });

  it('let the speaker say three words, and refuse others', () => {
    const env = parallelEnv(simpleSpeakerListener());
    env.reset();
    expect(() => env.step({ speaker_0: 5, listener_0: 0 })).toThrow(/from 0 to 4 for speaker_0/);
    const { observations } = env.step({ speaker_0: 1, listener_0: 0 });
    expect([...observations['listener_0'].vector.slice(8)]).toEqual([0, 1, 0]);
    expect([...observations['speaker_0'].mask]).toEqual([1, 1, 1, 0, 0]);
  });

  it('refuse options that they do not have', () => {
    expect(() => simpleSpread({ N: 3 } as object)).toThrow('"N"');
    expect(() => simpleTag({ good: 0 })).toThrow('good');
    expect(() => simpleSpeakerListener({ maxSteps: 0 })).toThrow('maxSteps');
  });
});

function startsOf(game: Game<'float64'>, episodes: number): number[][] {
  const generator = createGenerator(1);
  const state = new Float64Array(game.stateSize);
  return Array.from({ length: episodes }, () => {
    game.reset(state, 0, generator);
    return [...state];
  });
}
