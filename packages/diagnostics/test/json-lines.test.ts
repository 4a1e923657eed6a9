import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLines, readLog } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { entry, runInfo, temporaryDirectory } from './helpers';

/** Writes entries 1..count into a new log. */
function writeLog(directory: string, count: number): string {
  const log = jsonLines(directory);
  log.start(runInfo());
  for (let update = 1; update <= count; update++) log.write(entry(update, { 'policy/loss': update / 8 }));
  log.close();
  return join(directory, 'log.jsonl');
}

function updatesOf(path: string): number[] {
  return readLog(path).map(({ update }) => update);
}

describe('jsonLines', () => {
  it('writes each entry as a line of JSON at once', () => {
    const directory = temporaryDirectory();
    const log = jsonLines(directory);
    log.start(runInfo());
    log.write(entry(1, { 'policy/loss': 0.5, 'a "quoted", key': -1e-7 }));
    // Not closed: a kill now must find the row on the disk.
    const text = readFileSync(join(directory, 'log.jsonl'), 'utf8');
    expect(text.endsWith('}\n')).toBe(true);
    expect(JSON.parse(text)).toEqual({ envSteps: 100, update: 1, 'policy/loss': 0.5, 'a "quoted", key': -1e-7 });
    log.close();
  });

  it('keeps NaN and infinities in lines that are valid JSON', () => {
    const directory = temporaryDirectory();
    const log = jsonLines(directory);
    log.start(runInfo());
    const metrics = { a: Number.NaN, b: Number.POSITIVE_INFINITY, c: Number.NEGATIVE_INFINITY };
    log.write(entry(1, metrics));
    log.close();
    const path = join(directory, 'log.jsonl');
    expect(() => JSON.parse(readFileSync(path, 'utf8'))).not.toThrow();
    expect(readLog(path)).toEqual([entry(1, metrics)]);
  });

  it('goes on behind the rows that are there', () => {
    const directory = temporaryDirectory();
    const path = writeLog(directory, 3);
    const log = jsonLines(directory);
    log.start(runInfo(300));
    log.write(entry(4, {}));
    log.close();
    expect(updatesOf(path)).toEqual([1, 2, 3, 4]);
  });

  it('cuts a torn line off wherever a kill tore it, and says so', () => {
    const whole = writeLog(temporaryDirectory(), 2);
    const last = '{"envSteps":300,"update":3,"policy/loss":0.375}';
    for (let length = 1; length < last.length; length++) {
      const directory = temporaryDirectory();
      const path = join(directory, 'log.jsonl');
      writeFileSync(path, readFileSync(whole, 'utf8') + last.slice(0, length));
      const words: string[] = [];
      expect(readLog(path, { warn: (word) => words.push(word) })).toHaveLength(2);
      const log = jsonLines(directory, { warn: (word) => words.push(word) });
      log.start(runInfo(200));
      log.write(entry(3, { 'policy/loss': 9 }));
      log.close();
      expect(readLog(path).map(({ metrics }) => metrics['policy/loss'])).toEqual([0.125, 0.25, 9]);
      expect(words).toHaveLength(2);
      expect(words.every((word) => word.includes('torn') && word.includes(path))).toBe(true);
    }
  });

  it('takes a last line that only lacks its line feed for whole', () => {
    const directory = temporaryDirectory();
    const path = writeLog(directory, 2);
    writeFileSync(path, readFileSync(path, 'utf8').trimEnd());
    const log = jsonLines(directory);
    log.start(runInfo(200));
    log.write(entry(3, {}));
    log.close();
    expect(updatesOf(path)).toEqual([1, 2, 3]);
  });

  it('moves rows past the step from which a run goes on to another file', () => {
    const directory = temporaryDirectory();
    const path = writeLog(directory, 5);
    const words: string[] = [];
    const log = jsonLines(directory, { warn: (word) => words.push(word) });
    log.start(runInfo(300));
    log.write(entry(4, { again: 1 }));
    log.close();
    expect(updatesOf(path)).toEqual([1, 2, 3, 4]);
    expect(readLog(path).at(-1)!.metrics).toEqual({ again: 1 });
    expect(updatesOf(join(directory, 'log.old-1.jsonl'))).toEqual([4, 5]);
    expect(words.join()).toMatch(/moved 2 rows past step 300 to .*log\.old-1\.jsonl/);
  });

  it('deletes nothing when a new run starts where an old one logged', () => {
    const directory = temporaryDirectory();
    writeLog(directory, 2);
    for (const number of [1, 2]) {
      const log = jsonLines(directory, { warn: () => {} });
      log.start(runInfo(0));
      log.write(entry(10 * number, {}));
      log.close();
    }
    expect(updatesOf(join(directory, 'log.jsonl'))).toEqual([20]);
    expect(updatesOf(join(directory, 'log.old-1.jsonl'))).toEqual([1, 2]);
    expect(updatesOf(join(directory, 'log.old-2.jsonl'))).toEqual([10]);
  });

  it('refuses a log that is damaged before its end, and leaves it as it is', () => {
    const directory = temporaryDirectory();
    const path = writeLog(directory, 2);
    const text = `${readFileSync(path, 'utf8')}{"envSteps":30\n{"envSteps":400,"update":4}\n`;
    writeFileSync(path, text);
    expect(() => readLog(path)).toThrow(/readLog: expected line 3 of .*log\.jsonl to be a row.*repair the line/i);
    expect(() => jsonLines(directory).start(runInfo(400))).toThrow(/line 3/);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(existsSync(join(directory, 'log.old-1.jsonl'))).toBe(false);
  });

  it('refuses wrong use, saying what to do', () => {
    expect(() => jsonLines('')).toThrow(/jsonLines: expected the path of a directory, got "".*Give one/);
    expect(() => jsonLines('x', { wran: 1 } as object)).toThrow(/unknown option "wran".*warn/);
    expect(() => jsonLines(temporaryDirectory()).write(entry(1, {}))).toThrow(/jsonLines\.write.*Call start/);
    expect(() => readLog('/nowhere/log.jsonl')).toThrow(/readLog: expected the path of a log, got \/nowhere/);
  });

  it('reads a log while it is being written', () => {
    const directory = temporaryDirectory();
    const path = writeLog(directory, 1);
    appendFileSync(path, '{"envSteps":2');
    const words: string[] = [];
    expect(readLog(path, { warn: (word) => words.push(word) })).toHaveLength(1);
    expect(words[0]).toMatch(/left out a torn line .* \(13 characters\)/);
  });
});
