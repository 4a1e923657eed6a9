import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, LogEntry } from '@coplay/core';
import { csv, jsonLines, progress, readLog, tensorboard } from '@coplay/diagnostics';
import { afterAll, describe, expect, it } from 'vitest';
import { readEventFiles } from './event-files';
import { readStrictCsv } from './strict-csv';

const made = mkdtempSync(join(tmpdir(), 'coplay-entries-'));
afterAll(() => rmSync(made, { recursive: true, force: true }));

const info = { name: 'test', config: {}, envSteps: 10, startedAt: 0 };
const SINKS = { jsonLines, csv, tensorboard };
const ODD_NAMES = ['__proto__', 'a,b', 'a"b', 'a\nb', 'a\r', 'constructor', 'toString', ' b ', '1', 'é/漢', '=1+1'];
const ODD_VALUES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1.5e30, 2 ** -140];
const odd = Object.fromEntries(ODD_NAMES.map((name, i) => [name, ODD_VALUES[i % ODD_VALUES.length]]));

function started(name: keyof typeof SINKS): { log: Log; directory: string } {
  const directory = mkdtempSync(join(made, 'log-'));
  const log = SINKS[name](directory);
  log.start(info);
  return { log, directory };
}

describe.each(Object.keys(SINKS) as (keyof typeof SINKS)[])('%s', (name) => {
  it.each<[string, unknown]>([
    ['text', '0.5'],
    ['a bigint', 1n],
    ['a list', [1]],
    ['a record', { mean: 1 }],
    ['null', null],
  ])('refuses a metric that is %s, by name, and goes on', (_, value) => {
    const { log } = started(name);
    const entry = { envSteps: 1, update: 1, metrics: { 'policy/loss': value } } as unknown as LogEntry;
    expect(() => log.write(entry)).toThrow(/a number for the metric "policy\/loss"/);
    expect(() => log.write({ envSteps: 1, update: 1, metrics: {} })).not.toThrow();
    log.close();
  });

  it.each<[string, unknown]>([
    ['a Map', new Map([['policy/loss', 0.5]])],
    ['a list', [0.5]],
    [
      'an instance of a class',
      new (class {
        readonly loss = 0.5;
      })(),
    ],
    ['a typed array', Float32Array.of(0.5)],
    ['a date', new Date(0)],
    ['nothing', undefined],
  ])('refuses metrics that are %s', (_, metrics) => {
    const { log, directory } = started(name);
    const entry = { envSteps: 1, update: 1, metrics } as unknown as LogEntry;
    expect(() => log.write(entry)).toThrow(`${name}.write: metrics: expected a record of numbers`);
    log.write({ envSteps: 1, update: 1, metrics: Object.assign(Object.create(null), { 'policy/loss': 0.5 }) });
    log.close();
    expect(
      readdirSync(directory)
        .map((file) => readFileSync(join(directory, file), 'latin1'))
        .join(''),
    ).toContain('policy/loss');
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])('refuses %d steps', (envSteps) => {
    const { log } = started(name);
    expect(() => log.write({ envSteps, update: 1, metrics: {} })).toThrow(/envSteps: expected a whole number/);
    expect(() => log.write({ envSteps: 1, update: envSteps, metrics: {} })).toThrow(/update: expected a whole number/);
    log.close();
  });

  it.each(['', 'envSteps', 'update', 'half \ud800'])('refuses the name %j', (key) => {
    const { log } = started(name);
    expect(() => log.write({ envSteps: 1, update: 1, metrics: { [key]: 1 } })).toThrow(/Rename the metric/);
    log.close();
  });
});

describe('log.jsonl', () => {
  it('gives back every number and name, and leaves out what was not measured', () => {
    const { log, directory } = started('jsonLines');
    const names = ODD_NAMES.slice(0, 6);
    const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1.7e308, 5e-324];
    const metrics = Object.fromEntries(names.map((name, i) => [name, values[i]]));
    log.write({ envSteps: 2 ** 53 - 1, update: 0, metrics: { ...metrics, missing: undefined as unknown as number } });
    log.close();
    const [entry] = readLog(join(directory, 'log.jsonl'));
    expect(Object.entries(entry.metrics)).toEqual(Object.entries(metrics));
    expect(Object.is(entry.metrics['a\nb'], -0)).toBe(true);
    expect(entry.envSteps).toBe(2 ** 53 - 1);
    expect(readFileSync(join(directory, 'log.jsonl'), 'utf8')).not.toContain('missing');
  });
});

describe('progress', () => {
  it('refuses steps and metrics that are no numbers, and shows none of them', () => {
    let text = '';
    const log = progress({ stream: { write: (more) => (text += more) }, clock: () => 0 });
    log.start(info);
    const write = (envSteps: number, value: unknown) => {
      log.write({ envSteps, update: 1, metrics: { 'episode/return_mean': value } } as unknown as LogEntry);
    };
    expect(() => write(1, '0.5')).toThrow(/progress.write: expected a number for the metric "episode\/return_mean"/);
    for (const steps of [-1, Number.NaN, 1.5]) expect(() => write(steps, 1)).toThrow(/envSteps: expected a whole/);
    const map = { envSteps: 1, update: 1, metrics: new Map() } as unknown as LogEntry;
    expect(() => log.write(map)).toThrow(/progress.write: metrics: expected a record of numbers, got Map/);
    write(1, undefined);
    write(2, Number.NaN);
    log.close();
    expect(text).not.toMatch(/NaN|undefined|-1/);
  });
});

describe('odd names and values', () => {
  it('come back from log.csv as they were, and are empty where they were not measured', () => {
    const { log, directory } = started('csv');
    log.write({ envSteps: 1, update: 1, metrics: { plain: 1 } });
    log.write({ envSteps: 2, update: 2, metrics: odd });
    log.write({ envSteps: 3, update: 3, metrics: { plain: 2 } });
    log.close();
    const rows = readStrictCsv(readFileSync(join(directory, 'log.csv'), 'utf8'));
    for (const [name, value] of Object.entries(odd)) {
      expect(Object.is(Number(rows[1][name]), value), name).toBe(true);
      expect([rows[0][name], rows[2][name]], name).toEqual(['', '']);
    }
    expect(rows.map((row) => row['plain'])).toEqual(['1', '', '2']);
  });

  it('come back from event files as they were', () => {
    const { log, directory } = started('tensorboard');
    log.write({ envSteps: 2 ** 53 - 1, update: 2, metrics: odd });
    log.close();
    const [{ scalars }] = readEventFiles(directory);
    expect(scalars.map(({ tag, value, step }) => [tag, value, step])).toEqual(
      Object.entries(odd).map(([name, value]) => [name, Math.fround(value), 2 ** 53 - 1]),
    );
  });

  it.each([
    '{"envSteps":-1,"update":1}',
    '{"envSteps":1.5,"update":1}',
    '{"envSteps":1,"update":1e999}',
    '{"envSteps":1,"update":1,"policy/loss":"0.5"}',
    '{"envSteps":1,"update":1,"policy/loss":true}',
    '{"envSteps":1,"update":1,"policy/loss":[1]}',
  ])('that no log writes are told as damage: %s', (line) => {
    const path = join(mkdtempSync(join(made, 'log-')), 'log.jsonl');
    writeFileSync(path, `${line}\n{"envSteps":2,"update":2}\n`);
    expect(() => readLog(path)).toThrow(/line 1 of .*to be a row/);
  });
});
