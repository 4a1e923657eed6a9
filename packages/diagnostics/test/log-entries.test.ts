import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, LogEntry } from '@coplay/core';
import { csv, jsonLines, readLog, tensorboard } from '@coplay/diagnostics';
import { afterAll, describe, expect, it } from 'vitest';

const made = mkdtempSync(join(tmpdir(), 'coplay-entries-'));
afterAll(() => rmSync(made, { recursive: true, force: true }));

const info = { name: 'test', config: {}, envSteps: 10, startedAt: 0 };
const SINKS = { jsonLines, csv, tensorboard };

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

  it.each([-1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])('refuses %d steps', (envSteps) => {
    const { log } = started(name);
    expect(() => log.write({ envSteps, update: 1, metrics: {} })).toThrow(/envSteps: expected a whole number/);
    expect(() => log.write({ envSteps: 1, update: envSteps, metrics: {} })).toThrow(/update: expected a whole number/);
    log.close();
  });

  it.each(['', 'envSteps', 'update'])('refuses the name %j', (key) => {
    const { log } = started(name);
    expect(() => log.write({ envSteps: 1, update: 1, metrics: { [key]: 1 } })).toThrow(/Rename the metric/);
    log.close();
  });
});

describe('log.jsonl', () => {
  it('gives back every number and name, and leaves out what was not measured', () => {
    const { log, directory } = started('jsonLines');
    const names = ['__proto__', 'a,b', 'a"b', 'a\nb', 'a/b/c', 'constructor'];
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
