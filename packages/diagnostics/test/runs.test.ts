import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { curveOf, jsonLines, readRun, summarise } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { entry, runInfo, temporaryDirectory } from './helpers';

describe('readRun', () => {
  it('reads the directory of a run', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'config.json'), '{"seed": 1}');
    const log = jsonLines(directory);
    log.start(runInfo());
    log.write(entry(1, { 'policy/loss': 0.5 }));
    log.write(entry(2, { 'policy/loss': 0.25, 'value/mse': 3 }));
    log.close();
    const run = readRun(directory);
    expect(run).toMatchObject({ directory, config: { seed: 1 }, versions: {} });
    expect(curveOf(run.entries, 'policy/loss')).toEqual({ steps: [100, 200], values: [0.5, 0.25] });
    expect(curveOf(run.entries, 'value/mse')).toEqual({ steps: [200], values: [3] });
    expect(() => curveOf(run.entries, 'policy/los')).toThrow(
      /curveOf: expected a metric of the log, got "policy\/los"/,
    );
    writeFileSync(join(directory, 'versions.json'), '{"node": "v20.0.0"}');
    expect(readRun(directory).versions).toEqual({ node: 'v20.0.0' });
  });

  it('refuses what is no run directory', () => {
    const directory = temporaryDirectory();
    expect(() => readRun(directory)).toThrow(/readRun: expected a run directory with config.json/);
    writeFileSync(join(directory, 'config.json'), '{');
    expect(() => readRun(directory)).toThrow(/readRun: .*config.json: expected JSON, got SyntaxError/);
    writeFileSync(join(directory, 'config.json'), '{}');
    expect(() => readRun(directory)).toThrow(/readLog: expected the path of a log/);
  });
});

describe('summarise', () => {
  it('takes the last 20 % of the steps', () => {
    // Steps 100 .. 1000: the entries after step 800 are 900 and 1000.
    const entries = Array.from({ length: 10 }, (_, i) => entry(i + 1, { 'value/mse': i }));
    expect(summarise(entries)).toEqual({ 'value/mse': 8.5 });
    expect(summarise(entries, { lastShare: 1 })).toEqual({ 'value/mse': 4.5 });
    expect(summarise(entries.slice(0, 1))).toEqual({ 'value/mse': 0 });
  });

  it('weighs returns by episodes, so that an update in which few ended counts less', () => {
    const entries = [
      entry(9, { 'episode/return_mean': 1, 'episode/count': 30, 'value/mse': 1 }),
      entry(10, { 'episode/return_mean': 5, 'episode/count': 10, 'value/mse': 3 }),
    ];
    // (30 * 1 + 10 * 5) / 40
    expect(summarise(entries)).toEqual({ 'episode/return_mean': 2, 'episode/count': 20, 'value/mse': 2 });
  });

  it('leaves out what is missing or NaN', () => {
    const entries = [entry(9, { a: Number.NaN, b: 1 }), entry(10, { a: 4, c: Number.NaN })];
    expect(summarise(entries)).toEqual({ a: 4, b: 1, c: Number.NaN });
  });

  it('refuses nothing at all', () => {
    expect(() => summarise([])).toThrow(/summarise: expected one entry or more/);
    expect(() => summarise([entry(1, {})], { lastShare: 0 })).toThrow(/summarise: option lastShare/);
  });
});
