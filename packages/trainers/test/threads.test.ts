import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SavedState } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { executorInfo, useExecutor } from '@coplay/tensor';
import { restoreThreadChoices, threadChoices, useThreads } from '@coplay/tensor/threads';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import { flattenState, loadCheckpoint, saveCheckpoint } from '@coplay/trainers/checkpoint';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2, maxSteps: 9 });
const scratch = mkdtempSync(join(tmpdir(), 'coplay-threads-'));

function makeRun(directory?: string) {
  const agents = game.agents.map((id) => ppoAgent({ game, id }));
  return selfPlay({ game, agents, envs: 8, steps: 16, warn: () => {}, ...(directory && { directory }) });
}

async function trained(threads: number): Promise<SavedState> {
  useThreads(threads);
  const run = makeRun();
  await run.train({ envSteps: 3 * 128 });
  const state = await run.state();
  run.dispose();
  return state;
}

const hasOnnx = (await executorInfo()).name === 'onnx';

beforeAll(async () => {
  vi.stubEnv('COPLAY_THREADS', '');
  if (hasOnnx) await useExecutor('onnx');
});
afterEach(() => useThreads());
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

describe.skipIf(!hasOnnx)('threads of compiled functions (skipped where they run eagerly)', () => {
  it('give the same bits, one or two, in three updates of PPO', { tags: ['slow'] }, async () => {
    expect(flattenState(await trained(2))).toEqual(flattenState(await trained(1)));
  });

  it('are kept with a checkpoint, and taken over by the run that goes on from it', { tags: ['slow'] }, async () => {
    const directory = join(scratch, 'run');
    const run = makeRun(directory);
    await run.train({ envSteps: 128 });
    run.dispose();
    const kept = threadChoices();
    expect(Object.keys(kept).some((key) => key.includes('update#'))).toBe(true);
    const [name] = readdirSync(join(directory, 'checkpoints'));
    expect((await loadCheckpoint(join(directory, 'checkpoints', name))).about['threads']).toEqual(kept);

    // As another process would, which chose otherwise.
    useThreads();
    restoreThreadChoices(Object.fromEntries(Object.keys(kept).map((key) => [key, kept[key] + 1])));
    const again = makeRun(directory);
    expect(await again.resume()).toBe(true);
    expect(threadChoices()).toEqual(kept);
    await again.train({ envSteps: 256 });
    again.dispose();
    expect(threadChoices()).toMatchObject(kept);
  });

  it.each([500, { 'ppo/act#1': 0 }, null])(
    'a checkpoint with other threads is refused and changes nothing: %j',
    async (threads) => {
      const damaged = mkdtempSync(join(scratch, 'damaged-'));
      const directory = `${damaged}-whole`;
      const run = makeRun(directory);
      await run.train({ envSteps: 128 });
      const [name] = readdirSync(join(directory, 'checkpoints'));
      const { saved, step, about } = await loadCheckpoint(join(directory, 'checkpoints', name));
      cpSync(join(directory, 'config.json'), join(damaged, 'config.json'));
      await saveCheckpoint(join(damaged, 'checkpoints'), step, saved, { about: { ...about, threads } });
      const fresh = makeRun(damaged);
      const before = await fresh.state();
      await expect(fresh.resume()).rejects.toThrow(/resume: about\.threads/);
      expect(await fresh.state()).toEqual(before);
      for (const one of [run, fresh]) one.dispose();
    },
  );

  it('are chosen anew for a checkpoint that says nothing of them', { tags: ['slow'] }, async () => {
    const [directory, old] = [join(scratch, 'new'), join(scratch, 'old')];
    const run = makeRun(directory);
    await run.train({ envSteps: 128 });
    run.dispose();
    const [name] = readdirSync(join(directory, 'checkpoints'));
    const { saved, step, about } = await loadCheckpoint(join(directory, 'checkpoints', name));
    const { threads: _, ...without } = about;
    cpSync(join(directory, 'config.json'), join(old, 'config.json'));
    await saveCheckpoint(join(old, 'checkpoints'), step, saved, { about: without });
    expect(readFileSync(join(old, 'checkpoints', name, 'manifest.json'), 'utf8')).not.toMatch(/threads/);
    useThreads();
    const again = makeRun(old);
    expect(await again.resume()).toBe(true);
    expect(threadChoices()).toEqual({});
    await again.train({ envSteps: 256 });
    again.dispose();
  });
});
