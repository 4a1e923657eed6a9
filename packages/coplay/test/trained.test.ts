import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { evaluate } from '@coplay/core';
import { matrixGame } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { loadRun, ppoAgent, type SelfPlayOptions, selfPlay } from '@coplay/trainers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coplay, written } from './command-line';

const root = resolve(import.meta.dirname, '../../..');
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'trained-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONFIGURATION = {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [8] }, executor: 'eager' },
  ...{ envs: 4, steps: 8, envSteps: 96, checkpointEvery: 1, log: [] },
};
const [run, best, script] = ['run', 'best', 'script'].map((name) => join(folder, name));

/** A run of a script; its scores fall, so that the first evaluation is the best. */
async function ofScript(directory: string, options: Partial<SelfPlayOptions> = {}): Promise<void> {
  const game = options.game ?? matrixGame({ kind: 'stag-hunt', maxSteps: 4 });
  const agents = game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [8] }), executor: 'eager' }));
  let score = 0;
  const evaluations = { evaluateEvery: 1, evaluateEpisodes: 1, keepBest: true, score: () => --score } as const;
  const own = selfPlay({
    game,
    agents,
    envs: 4,
    steps: 8,
    seed: 3,
    checkpointEvery: 1,
    ...evaluations,
    ...options,
    directory,
  });
  await own.train({ envSteps: 96 });
  own.dispose();
}

const evaluated = async (...args: string[]) => {
  const { code, out } = await coplay(['evaluate', ...args, '--episodes', '6', '--json']);
  expect(code).toBe(0);
  return JSON.parse(out);
};

beforeAll(async () => {
  expect(await coplay(['train', written(folder, CONFIGURATION), '--directory', run])).toMatchObject({ code: 0 });
  await ofScript(script);
});

describe('--step', () => {
  it('N is a checkpoint, best that of the best evaluation; without it, the newest', async () => {
    expect([(await evaluated(run)).envSteps, (await evaluated(run, '--step', '64')).envSteps]).toEqual([96, 64]);
    expect([(await evaluated(script)).envSteps, (await evaluated(script, '--step', 'best')).envSteps]).toEqual([
      96, 32,
    ]);
    const file = join(folder, 'policy.onnx');
    expect((await coplay(['export', script, file, '--step', 'best'])).out).toContain('after 32 steps');
    expect(await coplay(['record', script, '--step', 'best'])).toMatchObject({ code: 0 });
    expect(await coplay(['cross-play', script, run, '--step', '64', '--episodes', '2'])).toMatchObject({ code: 0 });
  });

  it('refuses others, and best where there is none', async () => {
    for (const name of ['evaluate', 'record', 'play', 'resume', 'cross-play']) {
      const none = await coplay([name, run, '--step', 'best']);
      expect([name, none.code, none.err]).toEqual([name, 1, expect.stringContaining(`${run}/best, got none. Train`)]);
    }
    const other = await coplay(['evaluate', run, '--step', '65']);
    expect([other.code, other.err]).toEqual([1, expect.stringMatching(/: 32, 64, 96, got 65/)]);
    expect((await coplay(['evaluate', run, '--step', 'bset'])).err).toContain('expected best, or a step of');
  });

  it('of resume goes on from there, to the same bits, and keeps the later checkpoints', {
    tags: ['slow'],
  }, async () => {
    const weights = (directory: string) =>
      readdirSync(join(directory, 'checkpoints', 'step-000000000096'))
        .filter((name) => name.endsWith('.safetensors'))
        .map((name) => readFileSync(join(directory, 'checkpoints', 'step-000000000096', name)));
    const before = weights(run);
    expect(before.length).toBeGreaterThan(0);
    // As if its last evaluation had been the best: a state later than the step to go back to.
    const last = 'step-000000000096';
    cpSync(join(run, 'checkpoints', last), join(run, 'best', last), { recursive: true });
    const again = await coplay(['resume', run, '--step', '32']);
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('It goes on from step-000000000032')]);
    expect(weights(run)).toEqual(before);
    const later = ['64', '96'].map((step) => `step-0000000000${step}`);
    expect(readdirSync(join(run, 'checkpoints.old-1')).sort()).toEqual(['best', ...later]);
    expect(existsSync(join(run, 'best'))).toBe(false);
    // What is refused has moved nothing.
    const done = await coplay(['resume', run, '--step', '64', '--steps', '64']);
    expect([done.code, done.err]).toEqual([1, expect.stringContaining('expected fewer than 64 steps done, got 64')]);
    expect(existsSync(join(run, 'checkpoints.old-2'))).toBe(false);
    const kept = { ...CONFIGURATION, evaluateEvery: 1, evaluateEpisodes: 2, keepBest: true };
    expect(await coplay(['train', written(folder, kept), '--directory', best])).toMatchObject({ code: 0 });
    const resumed = await coplay(['resume', best, '--step', 'best', '--steps', '128']);
    expect([resumed.code, existsSync(join(best, 'checkpoints', 'step-000000000128'))]).toEqual([0, true]);
  });
});

describe('a run of a script', () => {
  it('plays as its agents do', async () => {
    const loaded = await loadRun(script);
    const { mean } = await evaluate(loaded.game, loaded.agents, { episodes: 6, seed: 5 });
    loaded.dispose();
    expect(await evaluated(script, '--seed', '5')).toMatchObject({ mean, envSteps: 96 });
  });

  it('with a part that no name makes is refused: the error names it', async () => {
    const own = join(folder, 'own');
    await ofScript(own, { game: { ...matrixGame({ kind: 'stag-hunt', maxSteps: 4 }), name: 'my-game' } });
    for (const args of [
      ['evaluate', own],
      ['record', own],
      ['play', own],
      ['export', own, join(folder, 'own.onnx')],
    ]) {
      const { code, err } = await coplay(args);
      expect([code, err]).toEqual([1, expect.stringMatching(/got my-game: .*a script that calls loadRun can/s)]);
    }
  });
});

describe('npm run coplay', () => {
  it('reads paths from where it is typed, and no other npm script does', { tags: ['slow'] }, () => {
    const bin = join(root, 'packages/coplay/src/bin.ts');
    const flags = ['--conditions=@coplay/source', '--import', 'tsx', bin, 'inspect', 'run', '--json'];
    const inspect = (script: string) => {
      const env = { ...process.env, INIT_CWD: folder, npm_lifecycle_event: script };
      return spawnSync(process.execPath, flags, { cwd: root, env, encoding: 'utf8' });
    };
    expect(inspect('coplay')).toMatchObject({ status: 0, stdout: expect.stringContaining('"step":96') });
    expect(inspect('test')).toMatchObject({ status: 1, stderr: expect.stringContaining('run, which does not exist') });
  });
});
