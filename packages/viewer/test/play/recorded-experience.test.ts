import { createMoaBuffer, moaRows } from '@coplay/buffers';
import { createGenerator, createRollout, type Game, streamSeed, vectorEnv } from '@coplay/core';
import {
  decodeRecording,
  encodeRecording,
  mixed,
  nearestHare,
  nearestStag,
  type Recording,
  recordEpisode,
  stagHunt,
} from '@coplay/envs';
import { mlp } from '@coplay/models';
import { createMoa } from '@coplay/trainers';
import { createTable, gameOfRecording, recordedExperience } from '@coplay/viewer';
import { describe, expect, it } from 'vitest';

// Prey moves: the rules draw random numbers in each step.
const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 2, preyMoves: 0.5, maxSteps: 12 });
const players = (rules: Game = game) => [
  mixed({ game: rules, id: 'agent_0', p: 0.5 }),
  nearestStag({ game: rules, id: 'agent_1' }),
  nearestHare({ game: rules, id: 'agent_2' }),
];

describe('recordedExperience', () => {
  it.each([1, 2, 3])('is what a rollout of the same game collects, seed %i', async (seed) => {
    const file = await encodeRecording(await recordEpisode(game, players(), { seed }));
    const recording = await decodeRecording(file);
    const env = vectorEnv(game, { envs: 1, seed: streamSeed(seed, 'record/env') });
    const rollout = createRollout(env, players(), createGenerator(streamSeed(seed, 'record/agents')));
    const lived = await rollout.collect(recording.steps.length);
    expect(lived.ended.at(-1)).toBe(1);
    expect(await recordedExperience(gameOfRecording(recording), recording)).toEqual(lived);
  });

  it('is refused where the record was changed, by step', async () => {
    const recording = await recordEpisode(game, players(), { seed: 1 });
    const steps = recording.steps.map((step, t) => (t === 1 ? { ...step, rewards: [7, 0, 0] } : step));
    await expect(recordedExperience(game, { ...recording, steps })).rejects.toThrow('step 2 as it was recorded');
    await expect(recordedExperience(stagHunt(), recording)).rejects.toThrow('a recording of stag-hunt with options');
  });

  it("teaches a model of the person: a buffer takes a person's games with their rewards", async () => {
    const table = createTable({
      game,
      person: 'agent_0',
      others: players().slice(1),
      // Somebody who takes the last legal action: hunts, else stays.
      decide: ({ mask }) => mask.lastIndexOf(1),
    });
    const recordings: Recording[] = [];
    for (let seed = 0; seed < 8; seed++) recordings.push(await table.play({ seed }));
    const episodes = await Promise.all(recordings.map((one) => recordedExperience(game, one)));
    const buffer = createMoaBuffer({ coPlayers: ['agent_0'], goals: game.goals });
    episodes.forEach((episode, i) => {
      const { steps } = recordings[i];
      expect([...episode.rewards]).toEqual(steps.flatMap(({ rewards }) => rewards));
      expect([...episode.isImagined]).toEqual([0]);
      const { agent_0: rows } = buffer.push(episode);
      const own = steps.map(({ actions }) => actions[0]).filter((action) => action !== null);
      expect([...rows['actions'].data]).toEqual(own);
    });
    expect(buffer.pushed['agent_0'].episodes).toBe(8);
    const moa = createMoa({ game, id: 'agent_1', network: mlp({ hidden: [32] }), learningRate: 3e-3 });
    await moa.initialise(createGenerator(1));
    const rows = moaRows(episodes[0], 0, { goals: game.goals });
    const likelihood = async () => {
      const logProbs = await moa.predictRows('agent_0', rows);
      return Array.from(rows['actions'].data).reduce((sum, action, i) => sum + logProbs[i * 7 + action], 0);
    };
    const before = await likelihood();
    for (const episode of episodes) await moa.pretrain(episode, { generator: createGenerator(2), epochs: 20 });
    expect(await likelihood()).toBeGreaterThan(before + 1);
    moa.dispose();
  });
});
