import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csv } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { entry, runInfo, temporaryDirectory } from './helpers';
import { readStrictCsv } from './strict-csv';

const read = (directory: string, name = 'log.csv') => readStrictCsv(readFileSync(join(directory, name), 'utf8'));
const headerOf = (directory: string) => readFileSync(join(directory, 'log.csv'), 'utf8').split('\n')[0];

describe('csv', () => {
  it('gives a metric that comes late a column that is empty before, and one that vanishes empty fields', () => {
    const directory = temporaryDirectory();
    const log = csv(directory);
    log.start(runInfo());
    log.write(entry(1, { 'policy/loss': 0.5, 'value/mse': 2 }));
    log.write(entry(2, { 'policy/loss': 0.25, 'value/mse': 1 }));
    log.write(entry(3, { 'policy/loss': 0.125, 'evaluation/return': 2.5 }));
    log.close();
    expect(read(directory)).toEqual([
      { envSteps: '100', update: '1', 'policy/loss': '0.5', 'value/mse': '2', 'evaluation/return': '' },
      { envSteps: '200', update: '2', 'policy/loss': '0.25', 'value/mse': '1', 'evaluation/return': '' },
      { envSteps: '300', update: '3', 'policy/loss': '0.125', 'value/mse': '', 'evaluation/return': '2.5' },
    ]);
  });

  it('quotes names with commas, quotes and line ends', () => {
    const directory = temporaryDirectory();
    const log = csv(directory);
    log.start(runInfo());
    log.write(entry(1, { 'a,b': 1, 'say "hi"': 2, '"': 3, 'two\nlines': 4 }));
    log.write(entry(2, { 'late, "too"': 5 }));
    log.close();
    expect(read(directory)[0]).toMatchObject({ 'a,b': '1', 'say "hi"': '2', '"': '3', 'two\nlines': '4' });
    expect(read(directory)[1]).toMatchObject({ 'a,b': '', 'late, "too"': '5' });
  });

  it('keeps the columns of a run that goes on, and adds new ones at the end', () => {
    const directory = temporaryDirectory();
    const first = csv(directory);
    first.start(runInfo());
    first.write(entry(1, { b: 1, a: 2 }));
    first.close();
    const second = csv(directory);
    second.start(runInfo(100));
    second.write(entry(2, { a: 4, b: 3 }));
    second.write(entry(3, { c: 5, a: 6 }));
    second.close();
    expect(headerOf(directory)).toBe('envSteps,update,b,a,c');
    expect(read(directory).map(({ a, b, c }) => [a, b, c])).toEqual([
      ['2', '1', ''],
      ['4', '3', ''],
      ['6', '', '5'],
    ]);
  });

  it('cuts off a torn record, wherever it was torn', () => {
    for (const torn of ['3', '300,', '300,3', '300,3,"unfinished', '300,3,0.12']) {
      const directory = temporaryDirectory();
      const first = csv(directory);
      first.start(runInfo());
      first.write(entry(1, { a: 1 }));
      first.close();
      appendFileSync(join(directory, 'log.csv'), torn);
      const words: string[] = [];
      const second = csv(directory, { warn: (word) => words.push(word) });
      second.start(runInfo(100));
      second.write(entry(2, { a: 2 }));
      second.close();
      expect(read(directory).map(({ a }) => a)).toEqual(['1', '2']);
      expect(words).toHaveLength(1);
    }
  });

  it('mends a header that was torn', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'log.csv'), 'envSteps,upda');
    const log = csv(directory, { warn: () => {} });
    log.start(runInfo());
    log.write(entry(1, { a: 1 }));
    log.close();
    expect(read(directory)).toEqual([{ envSteps: '100', update: '1', a: '1' }]);
  });

  it('moves later records aside with their header; a new run begins with its own columns', () => {
    const directory = temporaryDirectory();
    const first = csv(directory);
    first.start(runInfo());
    for (let update = 1; update <= 4; update++) first.write(entry(update, { a: update }));
    first.close();
    const second = csv(directory, { warn: () => {} });
    second.start(runInfo(200));
    second.write(entry(3, { a: 30 }));
    second.close();
    expect(read(directory).map(({ a }) => a)).toEqual(['1', '2', '30']);
    expect(read(directory, 'log.old-1.csv').map(({ a }) => a)).toEqual(['3', '4']);

    const other = csv(directory, { warn: () => {} });
    other.start(runInfo(0));
    other.write(entry(1, { z: 1 }));
    other.close();
    expect(read(directory)).toEqual([{ envSteps: '100', update: '1', z: '1' }]);
    expect(read(directory, 'log.old-2.csv').map(({ a }) => a)).toEqual(['1', '2', '30']);
  });

  it('writes numbers that read back to the same value', () => {
    const directory = temporaryDirectory();
    const values = [0.1 + 0.2, 1e-300, -5e21, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const log = csv(directory);
    log.start(runInfo());
    for (const [i, value] of values.entries()) log.write(entry(i + 1, { a: value }));
    log.close();
    expect(read(directory).map(({ a }) => Number(a))).toEqual(values);
  });

  it("refuses to append to somebody else's table", () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'log.csv'), 'name,age\nAda,36\n');
    expect(() => csv(directory).start(runInfo())).toThrow(
      /csv: expected columns that begin with envSteps, update.*"name"/,
    );
    expect(readFileSync(join(directory, 'log.csv'), 'utf8')).toBe('name,age\nAda,36\n');
  });
});
