import { createGenerator } from '@coplay/core';
import { decodeRecording, pendulum, randomAgent, recordEpisode } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { ppoAgent, withInsight } from '@coplay/trainers';
import { recordedExperience, replayPage } from '@coplay/viewer';
import { beforeAll, describe, expect, it } from 'vitest';
import { LEAVES, mixedGame } from '../../core/test/mixed-game';

beforeAll(async () => {
  await useBackend('wasm');
});

const game = mixedGame();
const players = () => game.agents.map((id) => randomAgent({ game, id }));

describe('recordings of other spaces', () => {
  it('become experience with the recorded actions', async () => {
    const recording = await recordEpisode(game, players(), { seed: 1 });
    const experience = await recordedExperience(game, recording);
    const [walker, arm, clerk] = recording.steps[0].actions as [number, number[], number[]];
    expect([...experience.actions.subarray(0, 6)]).toEqual([walker, 0, ...arm, ...clerk]);
    expect([...experience.rewards.subarray(0, 3)]).toEqual(recording.steps[0].rewards);
    expect([...experience.active].filter((plays, at) => at % 3 === 0 && plays === 1)).toHaveLength(LEAVES);
  });

  it('become pages, with the policies of trained agents', async () => {
    const swing = pendulum({ maxSteps: 5 });
    const agent = ppoAgent({ game: swing, id: 'agent_0', network: mlp({ hidden: [4] }) });
    const clerk = ppoAgent({ game, id: 'clerk', network: mlp({ hidden: [4] }) });
    for (const { learner } of [agent, clerk]) await learner.initialise(createGenerator(1));
    const [walker, arm] = players();
    const recordings = [
      await recordEpisode(swing, [withInsight(agent)], { observations: true }),
      await recordEpisode(game, [walker, arm, withInsight(clerk)]),
    ];
    expect(recordings[0].steps[0].insights?.[0]).toEqual({ value: expect.any(Number) });
    const { policy } = recordings[1].steps[0].insights![2]!;
    expect(policy).toHaveLength(5); // of two options and of three, of which the first is masked
    expect(policy!.slice(0, 2).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
    expect(policy!.slice(2).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
    const page = await replayPage(recordings);
    const packed = [...page.matchAll(/data-coplay-replay="[^"]*">([^<]*)</g)].map(([, text]) => text);
    const embedded = await Promise.all(packed.map((text) => decodeRecording(Buffer.from(text, 'base64'))));
    expect(embedded).toEqual(recordings);
    for (const { learner } of [agent, clerk]) learner.dispose();
  });
});
