import { episodeStatistics } from '@coplay/buffers';
import { createGenerator, type Experience } from '@coplay/core';
import { allocateExperience } from '@coplay/core/arrays';
import { moaEvaluation } from '@coplay/diagnostics';
import { openLoopMetrics } from '@coplay/diagnostics/world-model';
import { matrixGame, stagHunt } from '@coplay/envs';
import { cellsWorldModel } from '@coplay/models';
import { createMoa, createOmg, createWorldModel } from '@coplay/trainers';
import { describe, expect, it } from 'vitest';
import { imaginationGate } from '../src/hop-plus/imagination';
import { resolveImagined } from '../src/hop-plus/options';
import { episodeTracker } from '../src/self-play/episode-tracker';
import { Stopwatch } from '../src/self-play/metrics';

const game = matrixGame({ maxSteps: 2 });

/** One episode of two steps: agent 0 earns 1 and 2; agent 1 plays only if it is said to. */
function episode(isSecondThere: boolean): Experience {
  const experience = allocateExperience(game, 1, 2);
  experience.lengths.fill(2);
  experience.rewards.set([1, 0, 2, 0]);
  experience.active.set([1, isSecondThere ? 1 : 0, 1, isSecondThere ? 1 : 0]);
  experience.isFirst[0] = 1;
  experience.ended[1] = 1;
  return experience;
}

describe('what was not measured is absent', () => {
  it('models of others before the first episode have no accuracy, and no loss', async () => {
    const moa = createMoa({ game, id: 'agent_0' });
    await moa.initialise(createGenerator(0));
    expect(await moa.update(createGenerator(1))).toEqual({ 'moa/rows': 0 });
    expect(moa.accuracy('agent_1')).toBe(0); // what waits for an accuracy goes on waiting
    await moa.restore(await moa.state());
    expect(await moa.update(createGenerator(1))).toEqual({ 'moa/rows': 0 });
    moa.dispose();
  });

  it('subgoals and world models without data report counts alone', async () => {
    const hunt = stagHunt({ agents: 2, maxSteps: 4 });
    const omg = createOmg({ game: hunt, id: 'agent_0', selector: 'fixed' });
    await omg.initialise(createGenerator(0));
    expect(await omg.update(createGenerator(1))).toEqual({ 'omg/histories': 0, 'omg/steps': 0 });
    omg.dispose();
    const model = createWorldModel({ game: hunt, model: cellsWorldModel() });
    await model.initialise(createGenerator(0));
    expect(await model.update(createGenerator(1))).toEqual({});
    model.dispose();
  });

  it('an agent that never played has no return, and lowers no mean', () => {
    const tracker = episodeTracker(game.agents, 1);
    expect(tracker.add(episode(false))).toEqual({
      'episode/count': 1,
      'episode/return/agent_0': 3,
      'episode/return_mean': 3,
      'episode/length': 2,
    });
    expect(tracker.add(episode(true))).toMatchObject({ 'episode/return/agent_1': 0, 'episode/return_mean': 1.5 });
    const statistics = episodeStatistics(episode(false));
    expect([statistics.returnMean, statistics.mean, statistics.totalMean]).toEqual([{ agent_0: 3 }, 3, 3]);
    expect([...statistics.returns]).toEqual([3, Number.NaN]);
  });

  it('an accuracy that is not known keeps imagination closed', () => {
    const options = resolveImagined('test', { startUpdates: 0, minAccuracy: 0, horizon: 4 });
    expect(imaginationGate(options, 1, 1, [0]).horizon).toBe(0);
    expect(imaginationGate(options, 1, 1, [1]).horizon).toBe(4);
  });

  it('no speed by a clock that stood still', () => {
    expect(new Stopwatch(() => 5).metrics(100)).toEqual({});
  });

  it('diagnostics of nothing are refused, or left out', () => {
    const nothing = { classes: ['a', 'b'], scores: new Float32Array(0), labels: new Int32Array(0) };
    expect(() => moaEvaluation(nothing)).toThrow(/moaEvaluation: expected at least one row/);
    const array = { data: Float32Array.of(3, 4), shape: [1, 2, 1] };
    const arrays = { context: 1, actual: { rewards: array }, predicted: { rewards: array } };
    const valid = (...flags: number[]) => ({ data: Uint8Array.from(flags), shape: [1, 2] });
    expect(openLoopMetrics({ ...arrays, valid: valid(0, 1) })).toEqual({ 'openloop/mse_imagined/rewards': 0 });
    expect(openLoopMetrics({ ...arrays, valid: valid(1, 0) })).toEqual({ 'openloop/mse_seen/rewards': 0 });
  });
});
