import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoplayError, type VectorEnv, vectorEnv } from '@coplay/core';
import { type GymnasiumOptions, gymnasium, pettingZoo } from '@coplay/python';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { pythonWith } from './python';

const folder = mkdtempSync(join(tmpdir(), 'coplay-trouble-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const TROUBLE = 'packages.python.test.fixtures.games:Trouble-v0';
const python = pythonWith('numpy', 'gymnasium');

function errorOf(use: () => unknown): CoplayError {
  try {
    use();
  } catch (error) {
    expect(error).toBeInstanceOf(CoplayError);
    return error as CoplayError;
  }
  throw new Error('nothing was thrown');
}

/** Whether a process runs; one that has ended counts for nothing although nothing has looked at it yet. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const ended = (pid: number) => vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000, interval: 50 });

/** Plays three steps of a game that gets into trouble in the third. */
function play(kind: string, options: GymnasiumOptions = {}) {
  const mark = join(folder, kind);
  const printed: string[] = [];
  const game = gymnasium<never>(TROUBLE, {
    ...{ python: python.command, workers: 1, options: { kind, mark } },
    output: (text) => printed.push(text),
    ...options,
  });
  const env = vectorEnv(game, { envs: 1 }) as VectorEnv<never>;
  const step = () => env.step(Float32Array.of(0.5, -0.5) as never);
  step();
  step();
  return { game, env, step, printed, pid: () => Number(readFileSync(mark, 'utf8')) };
}

python.describe('Python that gets into trouble', () => {
  it.each([
    ['raise', /expected Python code that raises nothing, got ValueError: the third step is broken.*line \d+, in step/s],
    ['exit', /got SystemExit: 5.*sys\.exit\(5\)/s],
    ['die', /got the end of the process.*last words/s],
    ['crash', /got the end of the process.*Segmentation fault.*in step/s],
    ['child', /got the end of the process.*printed nothing/s],
  ])('that does this: %s', async (kind, says) => {
    const { step, env, game, pid } = play(kind);
    const error = errorOf(step);
    expect(error.message).toMatch(says);
    await ended(pid());
    expect(errorOf(step).message).toMatch(/a game whose Python runs, got one that was ended by an error/);
    env.close?.();
    game.close();
  });

  it.each(['sleep', 'loop'])('that hangs: %s', async (kind) => {
    const { step, pid } = play(kind, { timeout: 1 });
    expect(errorOf(step).message).toMatch(/none for 1 s; it was ended.*option timeout.*games\.py", line \d+ in step/s);
    await ended(pid());
  });

  it('that was stopped', async () => {
    const { step, pid } = play('print', { timeout: 1 });
    step();
    process.kill(pid(), 'SIGSTOP');
    expect(errorOf(step).message).toMatch(/none for 1 s; it was ended/);
    await ended(pid());
  });

  it('that prints, from below Python too, plays on; the text is passed on', async () => {
    const { step, env, printed, game, pid } = play('print', { infos: ['time'] });
    step();
    expect(printed.join('')).toMatch(/hello from the third step\nand from below Python\n/);
    expect(env.result.rewards[0]).toBe(3);
    expect(env.result.infos['time'][0]).toBe(3);
    expect(env.observations['observation']).toEqual(Float32Array.of(0.5, -0.5));
    step();
    expect(env.result.truncated[0]).toBe(1);
    game.close();
    await ended(pid());
    expect(errorOf(step).message).toMatch(/a game whose Python runs, got one that was closed/);
  });

  it('ends with Node, however Node ends', async () => {
    const mark = join(folder, 'node');
    const script = join(folder, 'run.ts');
    const lines = [
      `import { vectorEnv } from '@coplay/core';`,
      `import { gymnasium } from '@coplay/python';`,
      `const options = { kind: process.argv[2], mark: ${JSON.stringify(mark)} };`,
      `const game = gymnasium(${JSON.stringify(TROUBLE)}, { workers: 1, options });`,
      `const env = vectorEnv(game, { envs: 1 });`,
      `for (let i = 0; i < 3; i++) env.step(Float32Array.of(0, 0) as never);`,
      `if (process.argv[3] === 'wait') setInterval(() => {}, 1000);`,
    ];
    // In the repository, where the packages are found.
    const place = join(process.cwd(), '.cache', `python-${process.pid}.ts`);
    execFileSync('mkdir', ['-p', join(process.cwd(), '.cache')]);
    writeFileSync(place, lines.join('\n'));
    try {
      const run = async (kind: string, wait: string, end?: NodeJS.Signals) => {
        rmSync(mark, { force: true });
        const args = ['--conditions=@coplay/source', '--import', 'tsx', place, kind, wait];
        const node = spawn(process.execPath, args, {
          env: { ...process.env, PYTHON: python.command },
          stdio: 'ignore',
        });
        const exit = new Promise((resolve) => node.on('exit', (code, signal) => resolve(signal ?? code)));
        const pid = await vi.waitFor(() => Number(readFileSync(mark, 'utf8')) || Promise.reject(new Error('not yet')), {
          timeout: 60_000,
          interval: 50,
        });
        if (end) node.kill(end);
        expect(await exit).toBe(end ?? 0);
        await ended(pid);
      };
      await run('none', 'go'); // the game wasn't closed
      await run('none', 'wait', 'SIGTERM');
      await run('none', 'wait', 'SIGKILL');
      await run('loop', 'wait', 'SIGKILL'); // in the middle of a step that never returns
    } finally {
      rmSync(place, { force: true });
      rmSync(script, { force: true });
    }
  });
});

python.describe('a program that Node gets as text', () => {
  it('plays too, as an ES module', () => {
    const text = [
      `import { gymnasium } from '@coplay/python';`,
      `const game = gymnasium('Pendulum-v1', { workers: 1 });`,
      // The thread that watches over Python has started by then.
      `setTimeout(() => { console.log(game.maxSteps); game.close(); }, 500);`,
    ].join('\n');
    const args = ['--conditions=@coplay/source', '--import', 'tsx', '--input-type=module', '-e', text];
    const env = { ...process.env, PYTHON: python.command };
    expect(execFileSync(process.execPath, args, { env, encoding: 'utf8' })).toBe('200\n');
  });
});

python.describe('what is not supported is refused by name', () => {
  const options = (kind: string) => ({ python: python.command, workers: 1, options: { kind } });

  it.each<[string, () => unknown, RegExp]>([
    ['a space of texts', () => gymnasium(TROUBLE, options('text')), /spaces of Discrete.*got the space Text/],
    ['a record of actions', () => gymnasium(TROUBLE, options('dict')), /actions of Discrete.*got Dict.* for agent_0/],
    ['actions of whole numbers', () => gymnasium(TROUBLE, options('whole')), /Box of real numbers, got Box.*int32/],
    [
      'an environment that cannot be made',
      () => gymnasium(TROUBLE, options('make')),
      /RuntimeError: no such level.*Trace/s,
    ],
    [
      'an unknown game',
      () => gymnasium('Nothing-v0', { python: python.command, workers: 1 }),
      /Nothing.*doesn't exist/,
    ],
    [
      'a missing module',
      () => pettingZoo('no_such_games.v1', { python: python.command, workers: 1 }),
      /a Python with the module no_such_games, got \S+python\S*, which .* -m pip install no_such_games/,
    ],
    [
      'a module without environments',
      () => pettingZoo('json', { python: python.command, workers: 1 }),
      /a module with parallel_env or env, got json.*'module:function'/,
    ],
    [
      'no end of episodes',
      () => pettingZoo('packages.python.test.fixtures.games:turns', { python: python.command, workers: 1 }),
      /says when an episode is cut.*option maxSteps/,
    ],
    [
      'an info that is no number',
      () => {
        const id = 'packages.python.test.fixtures.games:leavers';
        const game = pettingZoo(id, { python: python.command, workers: 1, infos: ['word'] });
        vectorEnv(game, { envs: 1 }).step(new Int32Array(3));
      },
      /a number as the info word of a, got 'hello'/,
    ],
  ])('%s', (_what, use, says) => {
    expect(errorOf(use).message).toMatch(says);
  });

  it('an old version of a library, with the line that installs a newer one', () => {
    const old = join(folder, 'old');
    const info = join(old, 'gymnasium-0.26.3.dist-info');
    execFileSync('mkdir', ['-p', info]);
    writeFileSync(join(info, 'METADATA'), 'Metadata-Version: 2.1\nName: gymnasium\nVersion: 0.26.3\n');
    vi.stubEnv('PYTHONPATH', old);
    try {
      const { message } = errorOf(() => gymnasium('Pendulum-v1', { python: python.command, workers: 1 }));
      expect(message).toMatch(/gymnasium 0\.29 or later, got gymnasium 0\.26\.3.*-m pip install 'gymnasium>=0\.29'/);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('without Python', () => {
  it('says how to name one', () => {
    const { message } = errorOf(() => gymnasium('Pendulum-v1', { python: '/no/such/python' }));
    expect(message).toMatch(/a Python that can be run, got no program \/no\/such\/python.*Python 3\.9.*PYTHON/);
  });

  it('shows what another program said in its place', () => {
    const fake = join(folder, 'python3');
    writeFileSync(fake, '#!/bin/sh\necho "not a Python" >&2\nexit 3\n', { mode: 0o755 });
    const { message } = errorOf(() => pettingZoo('a.b', { python: fake }));
    expect(message).toMatch(/got the end of the process.*not a Python/s);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['an id', () => pettingZoo('' as string), /pettingZoo: id/],
    ['an option', () => gymnasium('Pendulum-v1', { enfs: 3 } as never), /gymnasium: .*enfs/],
    ['an api', () => pettingZoo('a.b', { api: 'turns' as never }), /pettingZoo: option api/],
    ['no environments', () => gymnasium('Pendulum-v1', { envs: 0 }), /option envs/],
    ['options that are no JSON', () => gymnasium('Pendulum-v1', { options: { n: 7n } }), /option options/],
  ])('refuses %s', (_what, use, says) => {
    expect(errorOf(use).message).toMatch(says);
  });
});
