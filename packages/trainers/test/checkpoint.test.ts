import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGenerator } from '@coplay/core';
import {
  createRunDirectory,
  describeCheckpoint,
  latestCheckpoint,
  resumeFits,
  runtimeVersions,
  saveCheckpoint,
} from '@coplay/trainers/checkpoint';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('a run that is stopped goes on from its last good checkpoint with the same numbers', async () => {
  const runDirectory = mkdtempSync(join(tmpdir(), 'coplay-run-'));
  try {
    const about = { game: 'stag-hunt', agents: ['agent_0', 'agent_1'] };
    await createRunDirectory(runDirectory, { config: { seed: 5 }, versions: runtimeVersions() });
    const checkpoints = join(runDirectory, 'checkpoints');
    // A random walk stands for the training: its generator and its position are the state.
    const generator = createGenerator(5);
    const walk = new Float64Array(3);
    const move = (): void => {
      for (let i = 0; i < walk.length; i++) walk[i] += generator.normal();
    };
    for (let step = 1; step <= 4; step++) {
      move();
      const saved = { generator: generator.state(), walk };
      await saveCheckpoint(checkpoints, step, saved, { about: { ...about, update: step } });
    }
    truncateSync(join(checkpoints, 'step-000000000004', 'arrays.safetensors'), 20);

    const { checkpoint, skipped } = await latestCheckpoint(checkpoints);
    expect(skipped.map(({ path }) => path)).toEqual([`${checkpoints}/step-000000000004`]);
    if (!checkpoint) throw new Error('no checkpoint');
    expect(describeCheckpoint(checkpoint)).toMatch(/^step-000000000003: 3 steps, update 3, saved by version/);
    resumeFits(checkpoint.about, about);
    expect(() => resumeFits(checkpoint.about, { ...about, game: 'snowdrift' })).toThrow(/game "stag-hunt"/);

    const { walk: restored, generator: words } = checkpoint.saved as { walk: Float64Array; generator: never };
    generator.restore(words);
    const expected = walk.slice();
    walk.set(restored);
    move();
    expect(walk).toEqual(expected);
    expect(readdirSync(runDirectory).sort()).toEqual(['checkpoints', 'config.json', 'versions.json']);
  } finally {
    rmSync(runDirectory, { recursive: true });
  }
});

test('the checkpoint code asks a browser bundle for no module of Node until it is used', async () => {
  const entry = join(import.meta.dirname, '../src/checkpoint/index.ts');
  const options = { bundle: true, write: false, platform: 'browser', format: 'esm', logLevel: 'silent' } as const;
  const { outputFiles } = await build({ ...options, entryPoints: [entry], conditions: ['@coplay/source'] });
  expect(outputFiles[0].text).not.toMatch(/^import .*node:/m);
});
