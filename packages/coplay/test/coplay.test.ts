import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from 'coplay';
import { beforeAll, describe, expect, it } from 'vitest';
import { coplay, written } from './command-line';

const folder = mkdtempSync(join(tmpdir(), 'coplay-cli-'));
const run = join(folder, 'run');
const CONFIGURATION = {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [8] }, ppo: { gamma: 0.9 }, executor: 'eager' },
  envs: 4,
  steps: 8,
  envSteps: 64,
  checkpointEvery: 1,
  log: [],
};

describe('coplay', () => {
  it('shows its commands, and the help of each', async () => {
    const { code, out } = await coplay(['--help']);
    expect(code).toBe(0);
    for (const name of ['train', 'resume', 'evaluate', 'cross-play', 'record', 'report', 'export', 'inspect', 'play']) {
      expect(out).toContain(`  ${name}`);
      const help = await coplay([name, '--help']);
      expect([help.code, help.out]).toEqual([0, expect.stringMatching(new RegExp(`^coplay ${name} .*--help`, 's'))]);
    }
  });

  it.each([
    [[], 2, ''],
    [['trian'], 2, 'There is no command trian'],
    [['report'], 2, 'Something is missing: coplay report RUN'],
    [['inspect', 'a', 'b'], 2, 'Too many words'],
    [
      ['report', 'a', '--watsh'],
      2,
      'There is no flag --watsh. Flags of coplay report: --out, --title, --watch, --every, --json, --help.',
    ],
    [['report', 'a', '--watch=yes'], 2, '--watch takes no value.'],
    [['evaluate', 'a', '--episode', '3'], 2, 'There is no flag --episode. Flags of coplay evaluate: --episodes,'],
    [['evaluate', 'a', '--episodes'], 2, '--episodes needs a value: --episodes N'],
    [['evaluate', 'a', '--episodes', '--json'], 2, '--episodes needs a value: --episodes N'],
    [['evaluate', 'a', '-e'], 2, 'There is no flag -e.'],
    [['report', 'nowhere'], 1, 'run directory with config.json, got nowhere'],
    [['train', 'nowhere.json'], 1, 'a file of JSON'],
    [['evaluate', folder], 1, `the directory of a run, got ${folder}, without config.json`],
    [['evaluate', 'nowhere'], 1, 'got nowhere, which does not exist'],
    [['inspect', 'nowhere'], 1, 'got nowhere, which does not exist. Check the path.'],
    [['inspect', folder], 1, `got ${folder}, which is neither`],
  ])('%s ends with %i', async (args, code, message) => {
    const ended = await coplay(args);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(message)]);
  });

  it.each([
    [{ ...CONFIGURATION, evns: 4 }, 'the unknown option "evns"'],
    [{ ...CONFIGURATION, game: { name: 'go' } }, 'option game.name'],
    [{ ...CONFIGURATION, game: { name: 'matrix', roundz: 4 } }, 'the unknown option "roundz"'],
    [{ ...CONFIGURATION, agents: { kind: 'ppo', ppo: { gama: 0.9 } } }, 'the unknown option "gama"'],
    [{ ...CONFIGURATION, seats: { nobody: { kind: 'random' } } }, 'seats: expected ids of matrix-stag-hunt'],
  ])('a configuration with a mistake is refused: %#', async (configuration, message) => {
    const ended = await coplay(['train', written(folder, configuration), '--directory', join(folder, 'never')]);
    expect([ended.code, ended.err]).toEqual([1, expect.stringContaining(message)]);
    expect(existsSync(join(folder, 'never'))).toBe(false);
  });
});

describe('a run', () => {
  let trained = '';
  beforeAll(async () => {
    const ended = await coplay(['train', written(folder, CONFIGURATION), '--directory', run, '--seed', '3']);
    expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/agent_0|player_0/) });
    trained = ended.out;
  });

  it('leaves its configuration, log and report', () => {
    expect(JSON.parse(readFileSync(join(run, 'coplay.json'), 'utf8'))).toMatchObject({ seed: 3, envSteps: 64 });
    expect(readFileSync(join(run, 'log.jsonl'), 'utf8').trim().split('\n').length).toBe(2);
    expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('reward of the last rollout');
  });

  it('is not begun twice in one directory', async () => {
    const ended = await coplay(['train', written(folder, CONFIGURATION), '--directory', run]);
    expect([ended.code, ended.err]).toEqual([1, expect.stringContaining(`coplay resume ${run}`)]);
  });

  it('is evaluated with the trained agents, the same for the same seed', async () => {
    const args = ['evaluate', run, '--episodes', '8', '--seed', '5', '--json'];
    const [first, second] = [await coplay(args), await coplay(args)];
    expect(JSON.parse(first.out)).toMatchObject({ envSteps: 64, episodes: 8, lengthMean: 4 });
    expect(second.out).toBe(first.out);
  });

  it('is evaluated on other episodes than after training, the same each time', async () => {
    const args = ['evaluate', run, '--episodes', '200'];
    const first = await coplay(args);
    expect(first.out).toBe((await coplay(args)).out);
    const table = (out: string) => out.split('\n').slice(0, 4).join('\n');
    expect(table(first.out)).toMatch(/^agent +return/);
    expect(table(first.out)).not.toBe(table(trained));
    // The seed that it tells gives these episodes again.
    const { seed, mean } = JSON.parse((await coplay([...args, '--json'])).out) as { seed: number; mean: number };
    expect(JSON.parse((await coplay([...args, '--json', '--seed', String(seed)])).out)).toMatchObject({ seed, mean });
  });

  it('is inspected: first what its newest checkpoint holds, the configuration only where it is asked for', async () => {
    const { out } = await coplay(['inspect', run]);
    const [heading, columns, rule, ...rows] = out.split('\n');
    expect(heading).toMatch(/^step-000000000064: 64 steps/);
    expect([columns, rule]).toEqual([expect.stringMatching(/^part +arrays +numbers/), expect.stringMatching(/^-+/)]);
    expect(rows.length).toBeLessThan(20);
    const told = await coplay(['inspect', run, '--config']);
    expect(told.out.startsWith(out)).toBe(true);
    const { config } = JSON.parse(told.out.slice(out.length)) as { config: { envs: number } };
    expect(config.envs).toBe(4);
  });

  it('is inspected: every array of a checkpoint', async () => {
    const { code, out } = await coplay(['inspect', run, '--json']);
    const { step, arrays } = JSON.parse(out) as { step: number; arrays: Record<string, unknown>[] };
    expect([code, step]).toEqual([0, 64]);
    expect(arrays.every((row) => row['not finite'] === 0)).toBe(true);
    const checkpoint = join(run, 'checkpoints/step-000000000064');
    expect((await coplay(['inspect', checkpoint])).out).toContain('learners/');
    writeFileSync(join(checkpoint, 'copy'), 'x');
    expect((await coplay(['inspect', join(run, 'checkpoints/nothing')])).code).toBe(1);
  });

  it('is exported as ONNX', async () => {
    const file = join(folder, 'policy.onnx');
    const { code, out } = await coplay(['export', run, file]);
    expect([code, out]).toEqual([0, expect.stringContaining('out: logProbs')]);
    expect(readFileSync(file).length).toBeGreaterThan(500);
    expect((await coplay(['export', run, file, '--agent', 'nobody'])).err).toContain('--agent: expected one of');
  });

  it('stops when it is interrupted, goes on as if it had not, and says when all is done', {
    tags: ['slow'],
  }, async () => {
    const [stopped, whole] = [join(folder, 'stopped'), join(folder, 'whole')];
    const path = written(folder, { ...CONFIGURATION, envSteps: 96 });
    await coplay(['train', path, '--directory', whole]);
    const first = await coplay(['train', path, '--directory', stopped, '--steps', '32']);
    expect(first.code).toBe(0);
    expect((await coplay(['resume', stopped])).err).toContain('fewer than 32 steps done');
    const halted = await coplay(['resume', stopped, '--steps', '96'], AbortSignal.abort());
    expect([halted.code, halted.err]).toEqual([130, expect.stringContaining(`coplay resume ${stopped}`)]);
    expect((await coplay(['resume', stopped, '--steps', '96'])).code).toBe(0);
    const lines = (directory: string) => readFileSync(join(directory, 'log.jsonl'), 'utf8').trim().split('\n');
    expect(lines(stopped).map((line) => JSON.parse(line).envSteps)).toEqual([32, 64, 96]);
    expect(lines(whole).length).toBe(3);
  });

  it('stops in the evaluation after training too: nothing of the training is lost', async () => {
    const path = written(folder, { ...CONFIGURATION, envSteps: 32 });
    const [directory, controller] = [join(folder, 'not-evaluated'), new AbortController()];
    const lines: string[] = [];
    const err = (line: string) => {
      lines.push(line);
      if (line.startsWith('Evaluating: 200 episodes')) controller.abort();
    };
    const out = (line: string) => void lines.push(`out: ${line}`);
    const code = await runCommand(['train', path, '--directory', directory], {
      ...{ out, err, interrupt: () => controller.signal },
    });
    expect([code, lines.at(-1)]).toEqual([130, expect.stringContaining(`coplay evaluate ${directory}`)]);
    expect((await coplay(['evaluate', directory, '--episodes', '2'])).code).toBe(0);
  });

  it('leaves no listener of the process behind, by any command', { tags: ['slow'] }, async () => {
    const counts = () => ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((name) => process.listenerCount(name));
    const { log: _, ...configuration } = CONFIGURATION;
    const path = written(folder, { ...configuration, log: ['csv', 'tensorboard'] });
    const sweep = written(folder, { configuration, axes: { 'agents.ppo.gamma': [0.5] }, seeds: 1, episodes: 4 });
    const [one, two, swept] = ['listeners', 'listeners-two', 'listeners-swept'].map((name) => join(folder, name));
    const before = counts();
    for (const args of [
      ['train', path, '--directory', one],
      ['train', path, '--directory', two],
      ['resume', one, '--steps', '96'],
      ['evaluate', one, '--episodes', '2'],
      ['cross-play', one, two, '--episodes', '2'],
      ['record', one],
      ['export', one, join(folder, 'listeners.onnx')],
      ['sweep', sweep, '--directory', swept, '--index', '0'],
    ]) {
      expect([args[0], (await coplay(args)).code, counts()]).toEqual([args[0], 0, before]);
    }
    const stopped = await coplay(['train', path, '--directory', `${one}-stopped`], AbortSignal.abort());
    expect([stopped.code, counts()]).toEqual([130, before]);
    const refused = await coplay(['train', path, '--directory', one]);
    expect([refused.code, counts()]).toEqual([1, before]);
  });

  it('is reported together with another one', { tags: ['slow'] }, async () => {
    const file = join(folder, 'both.html');
    const ended = await coplay(['report', run, join(folder, 'whole'), '--out', file, '--title', 'Both']);
    expect([ended.code, ended.out]).toEqual([0, file]);
    expect(readFileSync(file, 'utf8')).toContain('<title>Both - Coplay report</title>');
  });

  it('is watched: the page is written again when the log grows, and refreshes itself no more after the end', {
    tags: ['slow'],
  }, async () => {
    const file = join(folder, 'watched.html');
    const controller = new AbortController();
    const watching = coplay(['report', run, '--out', file, '--watch', '--every', '1'], controller.signal);
    await expect.poll(() => existsSync(file)).toBe(true);
    const refresh = () => /"refreshSeconds":(\d+)/.exec(readFileSync(file, 'utf8'))?.[1];
    expect(refresh()).toBe('1');
    const log = join(run, 'log.jsonl');
    writeFileSync(log, `${readFileSync(log, 'utf8')}{"envSteps":96,"update":3,"new/metric":1}\n`);
    await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 20_000 }).toContain('new/metric');
    controller.abort();
    expect((await watching).code).toBe(0);
    expect(refresh()).toBe('0');
  });
});

it('trains, evaluates and reports in a game of continuous actions', async () => {
  const configuration = {
    ...CONFIGURATION,
    game: { name: 'simple-spread', agents: 2, maxSteps: 4, continuousActions: true },
    agents: { kind: 'ppo', continuous: { squash: true }, network: { kind: 'mlp', hidden: [8] }, executor: 'eager' },
  };
  const place = join(folder, 'continuous');
  const ended = await coplay(['train', written(folder, configuration), '--directory', place]);
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('agent_0') });
  expect(readFileSync(join(place, 'report.html'), 'utf8')).toContain('reward of the last rollout');
});
