import { bootstrapValues, continuation, createRewardScaler, type Experience, gae } from '@coplay/core';
import { allocateCuts, allocateExperience, isLastStep } from '@coplay/core/arrays';
import { describe, expect, it } from 'vitest';
import { clockGame } from './clock-game';

/** Four steps of one agent that earns 1, 2, 3, 4; the third is the first of another episode, though none has ended. */
function brokenOff(): Experience {
  const game = clockGame({});
  const experience = allocateExperience(game, 1, 4);
  experience.rewards.set([1, 2, 3, 4]);
  experience.active.fill(1);
  experience.isFirst.set([1, 0, 1, 0]);
  const cuts = allocateCuts(game, 2);
  cuts.step.set([1, 3]);
  return { ...experience, cuts };
}

describe('a stream in which an episode was broken off by a reset', () => {
  it('does not go on from one episode to the next', () => {
    const stream = brokenOff();
    expect([0, 1, 2, 3].map((step) => isLastStep(stream, step))).toEqual([false, true, false, true]);
    expect([...continuation(stream)]).toEqual([1, 0, 1, 0]);
  });

  it('takes no advantage over the reset, and asks for a cut there', () => {
    const stream = brokenOff();
    const values = Float32Array.of(10, 20, 30, 40);
    const nextValues = bootstrapValues(stream, values, Float32Array.of(5, 6));
    expect([...nextValues]).toEqual([20, 5, 40, 6]);
    // gamma = lambda = 1: deltas are r + V' - V = 11, -13, 13, -30, summed to the end of each episode.
    expect([...gae({ ...stream, values, nextValues }, { gamma: 1, lambda: 1 }).advantages]).toEqual([
      -2, -13, -17, -30,
    ]);
    const cuts = { ...stream.cuts, env: stream.cuts.env.slice(1), step: stream.cuts.step.slice(1) };
    expect(() => bootstrapValues({ ...stream, cuts }, values, Float32Array.of(6))).toThrow(
      /a cut at environment 0, step 1.*before a reset/,
    );
  });

  it('is scaled as if the episode had ended there', () => {
    const scale = (stream: Experience) => {
      const scaler = createRewardScaler({ envs: 1, agents: 1, gamma: 0.5 });
      return { scaled: [...scaler.scale(stream)], sums: [...(scaler.state()['sums'] as Float64Array)] };
    };
    const stream = brokenOff();
    const ended = { ...stream, ended: Uint8Array.of(0, 1, 0, 0) };
    expect(scale(stream)).toEqual(scale(ended));
    expect(scale(stream).sums).toEqual([0.5 * 3 + 4]);
  });
});
