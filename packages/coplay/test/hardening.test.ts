import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../test/programs';
import { coplay, type Ended, files, written } from './command-line';

// Inside of the repository, where code finds packages.
const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
mkdirSync(join(repository, '.cache'), { recursive: true });
const folder = mkdtempSync(join(repository, '.cache', 'hardening-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const place = () => mkdtempSync(join(folder, 'case-'));

const PLAIN = {
  game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
  agents: { kind: 'random' },
  ...{ envs: 2, steps: 4, envSteps: 16, checkpointEvery: 1, log: [] },
};
/** A configuration of code, in which agents always do the same. */
const always = (action: string, before = '') => `${before}
const agent = (id) => ({ id, name: 'one', initialState: () => null, act: ({ rows }, state) => ({ state, actions: new Int32Array(rows).fill(${action}) }) });
export default { ...${JSON.stringify(PLAIN)}, agents: ({ ids }) => ids.map(agent) };
`;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
/** What a person is told: one line with these parts, no trace; before it which checkpoint was loaded. */
const told = (...parts: string[]) => ({
  code: 1,
  err: expect.stringMatching(new RegExp(`^(resumed [^\\n]*\\n)?[^\\n]*${parts.map(escaped).join('[^\\n]*')}[^\\n]*$`)),
});
const train = (path: string, directory: string, ...more: string[]): Promise<Ended> =>
  coplay(['train', path, '--directory', directory, ...more]);
/** The command line as a process of its own. */
const BIN = join(folder, 'bin.mjs');
beforeAll(
  async () => void (await bundleProgram(BIN, { entryPoints: [join(repository, 'packages/coplay/src/bin.ts')] })),
);
const seedIn = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { seed: number }).seed;

describe('a directory', () => {
  it('is taken by one of two that begin at once, and the other leaves it alone', async () => {
    const run = join(place(), 'run');
    const path = written(folder, PLAIN);
    const ended = await Promise.all(['1', '2'].map((seed) => train(path, run, '--seed', seed)));
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 1]);
    const winner = ended.findIndex(({ code }) => code === 0);
    expect(ended[1 - winner]).toMatchObject(told('expected a directory without a run', `coplay resume ${run}`));
    expect([seedIn(join(run, 'coplay.json')), seedIn(join(run, 'config.json'))]).toEqual([winner + 1, winner + 1]);
    expect(await coplay(['evaluate', run, '--episodes', '2'])).toMatchObject({ code: 0 });
  });

  it('is free again after a run that could not be made', async () => {
    const run = place();
    const path = files(place(), { 'run.js': always('0') });
    writeFileSync(join(run, 'code'), 'where the copies would be');
    expect(await train(path, run)).toMatchObject(told('coplay train', join(run, 'code')));
    expect(existsSync(join(run, 'coplay.json'))).toBe(false);
    // What was there before stays.
    expect(readdirSync(run)).toEqual(['code']);
    // Agents of which there can be no configuration: the run fails before it writes anything.
    const other = place();
    const bad = files(place(), { 'run.js': always('0').replace("name: 'one'", 'name: 1n') });
    expect(await train(bad, other)).toMatchObject({ code: 1 });
    expect(readdirSync(other).filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('below a file is refused', async () => {
    const file = files(place(), { 'a.txt': '' });
    expect(await train(written(folder, PLAIN), join(file, 'run'))).toMatchObject(told('expected', 'ENOTDIR'));
  });

  it.each([
    ['null', 'option game'],
    ['{"code":"run.js","files":{},"envSteps":1,"seed":1,"directory":"x"}', 'at least one file'],
  ])('whose coplay.json is %s is no run', async (text, message) => {
    const run = dirname(files(place(), { 'coplay.json': text }));
    expect(await coplay(['evaluate', run])).toMatchObject(told('coplay.json', message));
  });
});

describe('links', () => {
  it('of a configuration: the run stays with what they led to', async () => {
    const home = place();
    files(home, { 'a.js': always('0'), 'b.js': always('1') });
    const [link, run] = [join(home, 'run.js'), join(home, 'run')];
    symlinkSync('a.js', link);
    expect(await train(link, run)).toMatchObject({ code: 0 });
    const kept = JSON.parse(readFileSync(join(run, 'coplay.json'), 'utf8')) as { code: string; files: object };
    expect([kept.code, Object.keys(kept.files)]).toEqual(['../a.js', ['../a.js']]);
    const { out } = await coplay(['evaluate', run, '--json']);
    unlinkSync(link);
    symlinkSync('b.js', link);
    expect((await coplay(['evaluate', run, '--json'])).out).toBe(out);
  });

  it('of what it imports: another file than those recorded is refused, and not run', async () => {
    const home = place();
    const path = files(home, {
      'run.js': always('action', "import { action } from './action.js';"),
      'zero.js': 'export const action = 0;',
      'one.js': "throw new Error('was run');",
    });
    const [link, run] = [join(home, 'action.js'), join(home, 'run')];
    symlinkSync('zero.js', link);
    expect(await train(path, run)).toMatchObject({ code: 0 });
    unlinkSync(link);
    symlinkSync('one.js', link);
    const expected = told(join(home, 'one.js'), 'expected the code that the run was begun with');
    expect(await coplay(['evaluate', run])).toMatchObject(expected);
  });

  it('to the directory of a run, at another depth, lead to its code', async () => {
    const home = place();
    const path = files(home, { 'configs/run.js': always('0') });
    mkdirSync(join(home, 'runs/deep/er'), { recursive: true });
    symlinkSync(join(home, 'runs/deep/er'), join(home, 'short'));
    expect(await train(path, join(home, 'short/run'))).toMatchObject({ code: 0 });
    for (const run of ['short/run', 'runs/deep/er/run']) {
      expect(await coplay(['evaluate', join(home, run), '--episodes', '2'])).toMatchObject({ code: 0 });
    }
  });
});

describe('a number of a flag', () => {
  it.each([
    ['train', '--steps', '0'],
    ['train', '--steps', '99999999999999999999999'],
    ['train', '--seed', '99999999999999999999999'],
    ['train', '--seed', '1.5'],
    ['evaluate', '--episodes', '0'],
    ['record', '--episodes', '0'],
    ['resume', '--steps', '0'],
    ['report', '--every', '0'],
    ['report', '--every', '2147484'], // one second more than a timer can wait
  ])('coplay %s %s %s is refused before anything is written', async (name, flag, value) => {
    const home = place();
    const words = name === 'train' ? [written(folder, PLAIN), '--directory', join(home, 'run')] : [home];
    expect(await coplay([name, ...words, flag, value])).toMatchObject(told(`${flag}: expected a whole number`, value));
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('the temporary module in the folder of a configuration', () => {
  const left = (home: string) => readdirSync(home).filter((name) => name.startsWith('.'));

  /** A command that is stopped by a signal while its configuration runs; the signal that ended it. */
  async function stopped(home: string, signal: NodeJS.Signals): Promise<NodeJS.Signals | null> {
    const path = files(home, { 'endless.mjs': 'setInterval(() => {}, 1000); await new Promise(() => {});' });
    const child = spawn(process.execPath, [BIN, 'train', path, '--directory', join(home, 'run')], {
      cwd: repository,
      stdio: 'ignore',
    });
    const ended = new Promise<NodeJS.Signals | null>((done) => child.once('exit', (_, by) => done(by)));
    await expect.poll(() => left(home), { timeout: 60_000 }).toHaveLength(1);
    // It was written, and is imported by now or soon: neither matters.
    child.kill(signal);
    return ended;
  }

  it('is removed when a signal ends the process', { tags: ['slow'] }, async () => {
    const home = place();
    expect(await stopped(home, 'SIGTERM')).toBe('SIGTERM');
    expect(left(home)).toEqual([]);
  });

  it('is removed by the next one, where the process was killed; that of a living one stays', {
    tags: ['slow'],
  }, async () => {
    const home = place();
    expect(await stopped(home, 'SIGKILL')).toBe('SIGKILL');
    expect(left(home)).toHaveLength(1);
    const living = `.coplay-${process.ppid}-0.mjs`;
    const path = files(home, { 'run.js': always('0'), [living]: '' });
    expect(await train(path, join(home, 'run'))).toMatchObject({ code: 0 });
    expect(left(home)).toEqual([living]);
  });

  it('has a short name: that of the configuration may be as long as names can be', async () => {
    const home = place();
    const path = files(home, { [`${'l'.repeat(252)}.js`]: always('0') });
    expect(await train(path, join(home, 'run'))).toMatchObject({ code: 0 });
  });

  it('is missed with a message where it can not be written', async () => {
    // A path that is as long as the system allows, so that no longer path fits into the folder.
    let home = place();
    while (home.length < 3800) home = join(home, 'd'.repeat(200));
    home = join(home, 'd'.repeat(4095 - '/run.js'.length - home.length - 1));
    const path = files(home, { 'run.js': always('0') });
    expect(path).toHaveLength(4095);
    const expected = told('expected to write to', 'ENAMETOOLONG', 'copy the file to one of the project');
    expect(await train(path, join(folder, 'never'))).toMatchObject(expected);
  });
});

describe('code that is refused with a message', () => {
  it.each([
    ['throws nothing', 'throw null;', 'thrown was null'],
    [
      'has a game without its parts',
      'export default { game: { step() {} }, envSteps: 8 };',
      'option game: expected a game',
      'one without agents',
    ],
    [
      'has a seat that nobody has, made by a computed name',
      `export default { ...${JSON.stringify(PLAIN)}, seats: { ['__proto__']: { kind: 'random' } } };`,
      'option seats',
      '__proto__',
    ],
    [
      'has one that is a prototype',
      `export default { ...${JSON.stringify(PLAIN)}, seats: { __proto__: { kind: 'random' } } };`,
      'option seats',
      '__proto__',
    ],
  ])('because it %s', async (_, text, ...message) => {
    const home = place();
    const path = files(home, { 'run.js': text });
    expect(await train(path, join(home, 'run'))).toMatchObject(told(...message));
    expect(readdirSync(home)).toEqual(['run.js']);
  });
});

it.each([
  ['run.js', 'Dynamic require of "node:fs"'],
  ['package/run.js', 'Dynamic require of "node:fs"'], // in a package of ES modules
])(
  'code that is CommonJS is refused: %s',
  (name, message) => {
    const home = place();
    files(home, { 'package.json': '{}', 'package/package.json': '{ "type": "module" }' });
    const path = files(home, { [name]: "const fs = require('node:fs'); module.exports = { fs };" });
    // Not in here: the runner of the tests gives modules a function `require`.
    const { status, stderr } = spawnSync(process.execPath, [BIN, 'train', path], {
      cwd: repository,
      encoding: 'utf8',
    });
    expect({ code: status, err: stderr.trim() }).toMatchObject(told('an ES module', message, 'no require'));
  },
  60_000,
);

it('code may begin with a shebang, and import .cts and .tsx, which know their places', async () => {
  const home = place();
  const path = files(home, {
    'run.ts': always(
      'one + two + 0 * new Error().stack!.length',
      "#!/usr/bin/env node\nimport { one } from './one.cts'; import { two } from './two';",
    )
      .replaceAll('(id)', '(id: string)')
      .replace('({ rows }, state)', '({ rows }: any, state: any)'),
    'one.cts': "export const one: number = import.meta.filename.endsWith('one.cts') ? 0 : 7;",
    'two.tsx': "export const two: number = import.meta.url.endsWith('/two.tsx') ? 1 : 7;",
  });
  expect(await train(path, join(home, 'run'))).toMatchObject({ code: 0 });
});

describe('options of agents that the command line fills in itself', () => {
  const game = { name: 'stag-hunt', size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 };
  it.each([
    [{ kind: 'hop', game: 'x' }, 'agents: expected known options only', '"game"'],
    [{ kind: 'ppo', id: 'x' }, 'agents: expected known options only', '"id"'],
    [{ kind: 'shared-ppo', ids: ['x'] }, 'agents: expected known options only', '"ids"'],
    [{ kind: 'hop', search: { game: 1 } }, 'agents.search: expected known options only', '"game"'],
    [{ kind: 'social-influence', moa: 5 }, 'option agents.moa: expected record, or false', '5'],
  ] as [object, ...string[]][])('%j is refused by name', async (agents, ...message) => {
    const run = join(place(), 'run');
    expect(await train(written(folder, { ...PLAIN, game, agents }), run)).toMatchObject(told(...message));
    expect(existsSync(run)).toBe(false);
  });

  it('in a seat, too; and a seat __proto__', async () => {
    const home = place();
    const json = (seats: string) => JSON.stringify({ ...PLAIN, seats: 0 }).replace('"seats":0', `"seats":${seats}`);
    const byName = files(home, { 'a.json': json('{"agent_0":{"kind":"ppo","game":"x"}}') });
    expect(await train(byName, join(home, 'run'))).toMatchObject(told('seats.agent_0', '"game"'));
    const proto = files(home, { 'b.json': json('{"__proto__":{"kind":"random"}}') });
    expect(await train(proto, join(home, 'run'))).toMatchObject(told('option seats', '"__proto__"'));
  });
});

describe("a stranger's configuration is refused by name", () => {
  const ppo = { ...PLAIN, agents: { kind: 'ppo', ppo: { epochs: 1 } } };
  const long = 'x'.repeat(100_000);
  it.each([
    ['"seed":1', '"__proto__":{"seed":2}', '__proto__'],
    ['"maxSteps":4', '"__proto__":{"maxSteps":4}', 'option game', '__proto__'],
    ['"kind":"ppo"', '"kind":"ppo","__proto__":{"id":"x"}', 'option agents', '__proto__'],
    ['"epochs":1', '"__proto__":{"epochs":2}', 'option agents.ppo', '__proto__'],
    ['"seed":1', '"seed":1e999', 'option seed', 'Infinity'],
    ['"maxSteps":4', '"maxSteps":1e999', 'maxSteps', 'Infinity'],
    ['"epochs":1', '"learningRate":1e999', 'learningRate', 'Infinity'],
    ['"name":"matrix"', `"name":"${long}"`, 'option game.name', 'xxx'],
    ['"seed":1', `"${long}":1`, 'the unknown option', 'xxx'],
    ['"seed":1', '"seed":"1"', 'option seed', '"1"'],
    ['"epochs":1', '"epochs":[1]', 'epochs', '[1]'],
  ])('%s, case %#', async (good, bad, ...message) => {
    const home = place();
    const text = JSON.stringify({ ...ppo, seed: 1 });
    expect(text).toContain(good);
    const ended = await train(files(home, { 'run.json': text.replace(good, bad) }), join(home, 'run'));
    expect(ended).toMatchObject(told(...message));
    expect(ended.err.length).toBeLessThan(1000);
    expect(readdirSync(home)).toEqual(['run.json']);
  });
});

describe('coplay record', () => {
  const run = join(folder, 'recorded');
  beforeAll(async () => {
    expect(await train(written(folder, PLAIN), run)).toMatchObject({ code: 0 });
  });

  it('refuses a page where a recording goes', async () => {
    const home = place();
    const file = join(home, 'x.html');
    const expected = told('--page: expected another file than the recording');
    expect(await coplay(['record', run, '--out', file, '--page', `${home}/./x.html`])).toMatchObject(expected);
    const second = ['--episodes', '2', '--out', file, '--page', join(home, 'x-2.html')];
    expect(await coplay(['record', run, ...second])).toMatchObject(expected);
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ['--out', (home: string) => join(home, 'a.txt/x')],
    ['--page', (home: string) => join(home, 'a.txt/x')],
    ['--page', (home: string) => home],
    ['--out', () => ''],
  ])('looks whether %s can be written before it plays: %#', async (flag, file) => {
    const home = dirname(files(place(), { 'a.txt': '' }));
    const other = flag === '--page' ? ['--out', join(home, 'x.coplay')] : [];
    const ended = await coplay(['record', run, flag, file(home), ...other]);
    expect(ended).toMatchObject(told(`${flag}: expected a file that can be written`));
    expect(readdirSync(home)).toEqual(['a.txt']);
  });

  it('and inspect tell of checkpoints that are a file', async () => {
    const broken = dirname(files(place(), { checkpoints: '' }));
    expect(await coplay(['inspect', broken])).toMatchObject(told('latestCheckpoint', 'ENOTDIR', 'checkpoints'));
  });
});
