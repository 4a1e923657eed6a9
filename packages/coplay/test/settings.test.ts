import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coplay, files, written } from './command-line';

const folder = mkdtempSync(join(tmpdir(), 'coplay-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = written(folder, {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [4] }, executor: 'eager' },
  ...{ envs: 2, steps: 4, envSteps: 8, log: [] },
});
const kept = (directory: string) => JSON.parse(readFileSync(join(directory, 'coplay.json'), 'utf8'));
const json = async (...args: string[]) => {
  const { code, out } = await coplay([...args, '--json']);
  expect(code).toBe(0);
  return out.split('\n').map((line) => JSON.parse(line));
};

describe('--set', () => {
  it('changes fields of the configuration, and options of its agents for short', async () => {
    const directory = join(folder, 'set');
    const settings = ['envs=4', 'game.maxSteps=3', 'ppo.learningRate=1e-3', 'agents.ppo.gamma=0.5', 'log=["csv"]'];
    const flags = settings.flatMap((setting) => ['--set', setting]);
    expect(await coplay(['train', path, '--directory', directory, ...flags])).toMatchObject({ code: 0 });
    expect(kept(directory)).toMatchObject({
      ...{ envs: 4, game: { kind: 'stag-hunt', maxSteps: 3 }, log: ['csv'] },
      agents: { kind: 'ppo', ppo: { learningRate: 0.001, gamma: 0.5 }, network: { hidden: [4] } },
    });
  });

  it('sets texts, and options of agents that the file leaves out', async () => {
    const bare = written(folder, { game: { name: 'matrix', maxSteps: 4 }, envs: 1, steps: 4, envSteps: 4, log: [] });
    const directory = join(folder, 'bare');
    const flags = ['--set', 'game.kind=chicken', '--set', 'executor=eager'];
    expect(await coplay(['train', bare, '--directory', directory, ...flags])).toMatchObject({ code: 0 });
    expect(kept(directory)).toMatchObject({ game: { kind: 'chicken' }, agents: { kind: 'ppo', executor: 'eager' } });
  });

  it.each([
    ['envs', '--set: expected FIELD=VALUE, got "envs"'],
    ['=3', '--set: expected FIELD=VALUE'],
    ['ppo..gamma=1', '--set: expected a path of names with points between them, got "agents.ppo..gamma"'],
    ['envs.more=3', '--set: expected a record at envs, where envs.more leads, got 2'],
    ['ppo.gama=1', 'the unknown option "gama". Did you mean gamma? The options are: gamma, '],
    ['ppo.learnigRate=1', 'the unknown option "learnigRate". Did you mean learningRate?'],
    ['game.__proto__=1', '__proto__'],
    ['evns=3', 'the unknown option "evns"'],
    ['game.maxStep=3', 'Did you mean maxSteps?'],
  ])('refuses %s by name', async (setting, message) => {
    const ended = await coplay(['train', path, '--directory', join(folder, 'refused'), '--set', setting]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    expect(existsSync(join(folder, 'refused', 'config.json'))).toBe(false);
  });

  it('is refused for a configuration with code, which a run keeps as a file', async () => {
    const place = mkdtempSync(join(folder, 'code-'));
    const code = files(place, {
      'run.mjs': "export default { game: { name: 'matrix' }, agents: () => [], envSteps: 4 };",
    });
    const ended = await coplay(['train', code, '--directory', join(place, 'run'), '--set', 'envs=3']);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('which has code') });
  });
});

it('--seeds trains a run for each seed, and writes a report about all', async () => {
  const directory = join(folder, 'seeds');
  const lines = await json('train', path, '--directory', directory, '--seed', '3', '--seeds', '2');
  expect(lines.map((line) => line.directory)).toEqual(['seed-3', 'seed-4'].map((name) => join(directory, name)));
  expect([kept(lines[0].directory).seed, kept(lines[1].directory).seed]).toEqual([3, 4]);
  expect(readFileSync(join(directory, 'report.html'), 'utf8')).toContain('seed-4');
  const again = await coplay(['train', path, '--directory', directory, '--seed', '4', '--seeds', '2']);
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('seed-4') });
});

it('--version prints the version, and with --json what runs it', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(await coplay(['--version'])).toEqual({ code: 0, out: version, err: '' });
  expect(await json('--version')).toEqual([{ coplay: version, node: process.version, platform: expect.any(String) }]);
});

describe('--json', () => {
  const run = join(folder, 'json');
  beforeAll(async () => {
    const [trained] = await json('train', path, '--directory', run, '--set', 'evaluateEvery=1');
    expect(trained).toMatchObject({ directory: run, envSteps: 8, report: join(run, 'report.html') });
    expect(trained.best.envSteps).toBe(8);
  });

  it.each([
    [['resume', run, '--steps', '16'], { envSteps: 16 }],
    [['evaluate', run, '--episodes', '2'], { episodes: 2 }],
    [['cross-play', run, '--episodes', '2'], { game: 'matrix-stag-hunt', policies: [run] }],
    [
      ['record', run, '--out', join(folder, 'a.coplay')],
      { episodes: [expect.objectContaining({ file: join(folder, 'a.coplay'), steps: 4 })] },
    ],
    [['report', run], { report: join(run, 'report.html') }],
    [['export', run, join(folder, 'a.onnx')], { file: join(folder, 'a.onnx'), agent: 'agent_0' }],
    [['inspect', run], { library: expect.any(String) }],
  ])('%s prints one line', async (args, result) => {
    expect(await json(...args)).toEqual([expect.objectContaining(result)]);
  });

  it('play prints its address', async () => {
    const ended = new AbortController();
    ended.abort();
    const { code, out } = await coplay(['play', '--port', '0', '--json'], ended.signal);
    expect([code, JSON.parse(out)]).toEqual([0, { url: expect.stringMatching(/^http:/) }]);
  });
});
