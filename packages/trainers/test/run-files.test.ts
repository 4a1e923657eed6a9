import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoplayError, type Game, type Log, type LogEntry } from '@coplay/core';
import { csv, jsonLines, readLog } from '@coplay/diagnostics';
import { matrixGame } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { interruptSignal, ppoAgent, type SelfPlayOptions, selfPlay } from '@coplay/trainers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coplay-run-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const dilemma = matrixGame({ maxSteps: 4 });
const network = mlp({ hidden: [4] });

/** The same game with other names for its agents. */
function named(ids: readonly string[]): Game {
  return { ...dilemma, agents: [...ids] };
}

function runOf(options: Partial<SelfPlayOptions> = {}) {
  const game = options.game ?? dilemma;
  const agents = game.agents.map((id) => ppoAgent({ game, id, network }));
  return selfPlay({ game, agents, envs: 2, steps: 4, warn: () => undefined, ...options });
}

/** A log that keeps what happened to it. */
function recorder(happened: string[], wait = 0): Log {
  const step = async (what: string) => {
    happened.push(`${what} begins`);
    await new Promise((resolve) => setTimeout(resolve, wait));
    happened.push(`${what} ends`);
  };
  return {
    start: () => step('start'),
    write: ({ update }) => step(`write ${update}`),
    close: () => step('close'),
  };
}

describe('what a run calls may be asynchronous', () => {
  it('logs and onRollout are awaited, in order, and closed once', async () => {
    const happened: string[] = [];
    const onRollout = async (_: unknown, { update }: { update: number }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      happened.push(`rollout ${update}`);
    };
    const run = runOf({ log: [recorder(happened, 5)], onRollout });
    await run.train({ envSteps: 16 });
    run.dispose();
    const twice = (what: string) => [`${what} begins`, `${what} ends`];
    expect(happened).toEqual([
      ...twice('start'),
      ...twice('write 1'),
      'rollout 1',
      ...twice('write 2'),
      'rollout 2',
      ...twice('close'),
    ]);
  });

  it('one that rejects is what train() rejects with, and logs are closed', async () => {
    const rejected = async () => {
      throw new TypeError('of mine');
    };
    for (const broken of ['start', 'write', 'close', 'onRollout'] as const) {
      const happened: string[] = [];
      const sink = recorder(happened);
      const isLog = broken !== 'onRollout';
      const run = runOf(
        isLog ? { log: [sink, { ...recorder([]), [broken]: rejected }] } : { log: [sink], onRollout: rejected },
      );
      await expect(run.train({ envSteps: 8 })).rejects.toThrow('of mine');
      run.dispose();
      expect(happened.filter((line) => line === 'close ends')).toHaveLength(1);
    }
  });

  it('a warning that rejects ends nothing', async () => {
    const told: string[] = [];
    const warn = async (line: string) => {
      told.push(line);
      throw new Error('no');
    };
    const full = { ...recorder([]), write: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) };
    const run = runOf({ log: [full], warn });
    await run.train({ envSteps: 16 });
    run.dispose();
    expect(told).toHaveLength(2);
  });
});

describe('a log that the disk refuses', () => {
  it('loses lines and no more: told once, tried again, and told at the end', async () => {
    const written: LogEntry[] = [];
    const write = (entry: LogEntry) => {
      const cause = Object.assign(new Error('no room'), { code: 'ENOSPC' });
      if (entry.update === 2 || entry.update === 3) {
        throw new CoplayError({ where: 'log', expected: 'to append', got: 'disk full', remedy: 'Free it.' }, { cause });
      }
      written.push(entry);
    };
    const told: string[] = [];
    const log = [{ start: () => undefined, write, close: () => undefined }];
    const run = runOf({ log, directory, warn: (line) => told.push(line) });
    await run.train({ envSteps: 40 });
    run.dispose();
    expect(written.map(({ update }) => update)).toEqual([1, 4, 5]);
    expect(told).toEqual([
      expect.stringMatching(/^Training goes on without lines of log 1; .*disk full/),
      'Log 1 is written again; 2 lines of it are missing.',
      expect.stringMatching(/^Log 1 misses 2 lines\. .*disk full/),
    ]);
    expect(run.missing).toHaveLength(1);
    expect(readdirSync(join(directory, 'checkpoints'))).toHaveLength(1);
  });
});

describe('one process at a time', () => {
  it('a second run in the directory is refused until the first has ended, and leaves nothing', async () => {
    const first = runOf({ directory, onRollout: async () => refusal.push(await second().catch(String)) });
    const refusal: unknown[] = [];
    const second = async () => {
      const run = runOf({ directory });
      try {
        await run.resume();
        await run.train({ envSteps: 8 });
      } finally {
        run.dispose();
      }
    };
    await first.train({ envSteps: 8 });
    expect(refusal).toEqual([
      expect.stringMatching(/selfPlay: expected the directory .* to itself, got one that this process/),
    ]);
    expect(readdirSync(directory).sort()).toEqual(['checkpoints', 'config.json', 'versions.json']);
    const release = first.hold();
    await first.train({ envSteps: 16 });
    await expect(second()).rejects.toThrow(/to itself/);
    release();
    first.dispose();
    await second();
    expect(readdirSync(directory).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  it('a log file has one writer too', async () => {
    const logs = [jsonLines, csv].map((make) => [make(directory), make(directory)] as const);
    const info = { name: 'a', config: {}, envSteps: 1, startedAt: 0 };
    for (const [one, other] of logs) {
      one.start(info);
      expect(() => other.start(info)).toThrow(/expected the log .* to itself/);
      one.close();
      other.start(info);
      other.close();
    }
  });
});

describe('names of agents', () => {
  const nasty = [
    '__proto__',
    'constructor',
    'team:red/1',
    '../../up',
    'con',
    ' ',
    'toString',
    'ä\n',
    'x'.repeat(300),
    'A',
    'a',
  ];

  it.each(nasty.map((id) => [id]))('%j trains, is saved, resumed, evaluated and logged', async (id) => {
    const game = named([id, 'other']);
    const run = runOf({ game, directory, log: [jsonLines(directory), csv(directory)] });
    await run.train({ envSteps: 40 });
    const { byAgent } = await run.evaluate({ episodes: 4 });
    expect(Object.keys(byAgent).sort()).toEqual([id, 'other'].sort());
    expect(Object.hasOwn(byAgent, id)).toBe(true);
    run.dispose();
    const again = runOf({ game, directory });
    expect(await again.resume()).toBe(true);
    expect((await again.evaluate({ episodes: 4 })).byAgent).toEqual(byAgent);
    again.dispose();
    const config = JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8'));
    expect(Object.keys(config.learners).sort()).toEqual([id, 'other'].sort());
    const logged = readLog(join(directory, 'log.jsonl')).at(-1)?.metrics ?? {};
    expect(Object.keys(logged)).toContain(`episode/return/${id}`);
  });

  it.each(nasty.map((id) => [id]))(
    'NaN rewards of %j are named, and the batch is saved next to the checkpoints',
    async (id) => {
      const rules = named([id, 'other']);
      const game: Game = {
        ...rules,
        step(states, offset, actions, first, generator, result, row) {
          rules.step(states, offset, actions, first, generator, result, row);
          result.rewards.fill(Number.NaN);
        },
      };
      const run = runOf({ game, directory });
      await expect(run.train({ envSteps: 40 })).rejects.toThrow(/expected finite .*The batch is in .*non-finite-/s);
      run.dispose();
      expect(readdirSync(directory).filter((name) => name.startsWith('non-finite-'))).toHaveLength(2);
    },
  );
});

describe('interruptSignal', () => {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1'] as const;
  const counts = () => names.map((name) => process.listenerCount(name));

  it('listens once, however many there are, and not any more when all are disposed of', () => {
    const before = counts();
    const signals = Array.from({ length: 12 }, () => interruptSignal());
    expect(counts()).toEqual(before.map((count) => count + 1));
    for (const signal of signals) signal.dispose();
    signals[0].dispose();
    expect(counts()).toEqual(before);
  });

  it.each(names)('%s aborts those that run, tells each once, and an old one ends no new run', (name) => {
    const told: string[] = [];
    const old = interruptSignal(() => told.push('old'));
    process.emit(name);
    expect(old.aborted).toBe(true);
    const next = interruptSignal(() => told.push('next'));
    expect(next.aborted).toBe(false);
    process.emit(name);
    expect(next.aborted).toBe(true);
    expect(told).toEqual(['old', 'next']);
    old.dispose();
    next.dispose();
  });
});
