import type { Agent, Game, SavedState } from '@coplay/core';
import { createGenerator } from '@coplay/core';
import { useBackend } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { dreamerAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';

beforeAll(async () => {
  await useBackend('wasm');
  useThreads(1); // no trials
});

const cueGame = tinyGame({ agents: 1, reward: (_, action) => action, maxSteps: 5 });

function makeRun(game: Game = cueGame) {
  const options = {
    size: 'debug',
    batchSize: 2,
    sequenceLength: 6,
    horizon: 3,
    startAfter: 20,
    trainRatio: 6,
  } as const;
  const agent = dreamerAgent({ ...options, game, id: 'agent_0' });
  return { agent, run: selfPlay({ game, agents: [agent as Agent], envs: 2, steps: 4, seed: 3 }) };
}

const bits = (state: SavedState) =>
  JSON.stringify(state, (_, x) => (ArrayBuffer.isView(x) ? Array.from(x as Float32Array) : x));

describe('learner.openLoop', () => {
  it('shows recorded sequences and predictions of them, and where the next episode makes them worthless', async () => {
    const { agent, run } = makeRun();
    await run.train({ envSteps: 80 });
    const open = await agent.learner.openLoop(createGenerator(9), { batch: 12, context: 2 });
    const { actual, predicted, valid } = open;
    expect(Object.keys(predicted).sort()).toEqual(['obs/vector', 'rewards']);
    expect(predicted['obs/vector'].shape).toEqual([12, 6, 2]);
    expect(actual['obs/vector'].shape).toEqual([12, 6, 2]);
    // Episodes are of 6 records; a cue is seen in the first. A window whose episode began k records before it has the
    // next one at 6 - k.
    let cut = 0;
    for (let b = 0; b < 12; b++) {
      const firsts = [...Array(6).keys()].filter((t) => {
        return actual['obs/vector'].data[(b * 6 + t) * 2] + actual['obs/vector'].data[(b * 6 + t) * 2 + 1] > 0;
      });
      const next = firsts.find((t) => t >= 2) ?? 6;
      expect([...valid.data.slice(b * 6, b * 6 + 6)]).toEqual([0, 1, 2, 3, 4, 5].map((t) => (t < next ? 1 : 0)));
      if (next < 6) cut++;
    }
    expect(cut).toBeGreaterThan(0);
    run.dispose();
  });

  it('gives a vector of any shape back in its shape', async () => {
    const cue = { shape: [1, 2, 1], dtype: 'float32', kind: 'vector' } as const;
    const { agent, run } = makeRun({ ...cueGame, observation: { cue } });
    await run.train({ envSteps: 24 });
    const { actual, predicted } = await agent.learner.openLoop(createGenerator(9), { batch: 2 });
    expect(predicted['obs/cue'].shape).toEqual([2, 6, 1, 2, 1]);
    expect(actual['obs/cue'].shape).toEqual([2, 6, 1, 2, 1]);
    run.dispose();
  });

  it('leaves training as it is, to the bit', { tags: ['slow'] }, async () => {
    const [one, two] = [makeRun(), makeRun()];
    for (const each of [one, two]) await each.run.train({ envSteps: 64 });
    await one.agent.learner.openLoop(createGenerator(9));
    for (const each of [one, two]) await each.run.train({ envSteps: 96 });
    expect(bits(await one.run.state())).toBe(bits(await two.run.state()));
    for (const each of [one, two]) each.run.dispose();
  });

  it('refuses a context that leaves nothing to imagine, unknown options, and an empty replay', async () => {
    const { agent, run } = makeRun();
    await agent.learner.initialise(createGenerator(1));
    await expect(agent.learner.openLoop(createGenerator(1))).rejects.toThrow(/expected experience/);
    await run.train({ envSteps: 40 });
    await expect(agent.learner.openLoop(createGenerator(1), { context: 6 })).rejects.toThrow(/context/);
    await expect(agent.learner.openLoop(createGenerator(1), { contxt: 2 } as never)).rejects.toThrow(/contxt/);
    run.dispose();
  });
});
