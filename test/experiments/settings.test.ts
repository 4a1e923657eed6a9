import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spoken } from '../../bench/harness/calibration';
import { describeAll, load } from '../../bench/harness/catalogue';
import { readSettings } from '../../bench/harness/command-line';
import type { Outcome } from '../../bench/harness/experiment';
import { exitStatus, leftOutBy, makeResults, type Run } from '../../bench/harness/results';
import { study as toy } from './fixtures/toy';

const shelf = { kind: 'study', folder: fileURLToPath(new URL('fixtures', import.meta.url)) } as const;

describe('the list', () => {
  it('names every experiment with its time, and all options', async () => {
    const list = await describeAll(shelf);
    expect(list).toMatch(/npm run study -- NAME/);
    expect(list).toMatch(/ {2}toy +adds up seeds \(3 minutes\)\n/);
    expect(list).toMatch(/ {2}broken +throws \(30 seconds\)\n/);
    for (const option of ['--quick', '--seeds', '--resume', '--out', '--peer']) expect(list).toContain(option);
    expect(list).toMatch(/--factor .*of every seed \(toy; default 1\)/);
  });

  it('is given when a name is wrong', async () => {
    await expect(load(shelf, 'tay')).rejects.toThrow('no study called tay; there are: broken, toy');
  });

  it('says times as people do', () => {
    expect([0.01, 0.5, 1.2, 45, 150].map(spoken)).toEqual([
      'a second',
      '30 seconds',
      '1 minute',
      '45 minutes',
      '2.5 hours',
    ]);
  });
});

describe('readSettings', () => {
  it('fills in defaults', () => {
    expect(readSettings(toy, [])).toEqual({
      isQuick: false,
      isResume: false,
      withPython: false,
      peerFolders: [],
      seeds: 3,
      firstSeed: 1,
      out: undefined,
      options: { factor: '1', weights: '1,1' },
    });
  });

  it('takes fewer seeds when quick, unless told', () => {
    expect(readSettings(toy, ['--quick']).seeds).toBe(2);
    expect(readSettings(toy, ['--quick', '--seeds', '7']).seeds).toBe(7);
  });

  it('refuses what it does not know, naming what it does', () => {
    expect(() => readSettings(toy, ['--fast'])).toThrow(/--fast(.|\n)*The options of toy are: --quick, .*--factor/);
    expect(() => readSettings(toy, ['more'])).toThrow(/more/);
    expect(() => readSettings(toy, ['--seeds', '0'])).toThrow('--seeds: expected a whole number of at least 1, got 0');
    expect(() => readSettings(toy, ['--seeds', 'x'])).toThrow(/got x/);
    expect(() => readSettings(toy, ['--first-seed', '0'])).toThrow('--first-seed: expected a whole number');
    expect(() => readSettings(toy, ['--peer', 'ruby'])).toThrow(
      '--peer: expected python, or the folder of a checkout, got ruby',
    );
  });
});

describe('judging', () => {
  const run = { command: 'npm run study -- toy', seconds: 1, commit: 'abc', sources: '', seedCommits: {} };
  const judge = (bars: Outcome['bars'], args: string[] = [], circumstances: Partial<Run> = {}) =>
    makeResults(toy, readSettings(toy, args), { figures: {}, bars }, { ...run, ...circumstances });

  it('counts a bar that is just reached as held', () => {
    expect(exitStatus(judge({ sum: 6, largest: 10 }))).toBe(0);
    expect(exitStatus(judge({ sum: 5.999, largest: 10 }))).toBe(1);
    expect(exitStatus(judge({ sum: 6, largest: 10.001 }))).toBe(1);
  });

  it('takes a bar without a measurement for missing, and its run for failed', () => {
    const { bars } = judge({ sum: null, largest: 10 });
    expect(bars['sum']).toMatchObject({ value: null, verdict: 'missing' });
    expect(bars['largest']).toMatchObject({ value: 10, verdict: 'holds' });
    expect(exitStatus(judge({ sum: null, largest: 10 }))).toBe(1);
    expect(judge({ largest: 10 }).bars['sum'].verdict).toBe('missing');
  });

  it('takes every bar for missing where seeds, parts or settings are not those of the default', () => {
    const reasons = (...args: string[]) => judge({ sum: 6, largest: 10 }, args).leftOut;
    expect(reasons()).toEqual([]);
    expect(reasons('--seeds', '4', '--weights', '2,1')).toEqual([]);
    expect(reasons('--seeds', '2')).toEqual(['seeds are 1 to 2, by default 1 to 3']);
    expect(reasons('--first-seed', '2')).toEqual(['seeds are 2 to 4, by default 1 to 3']);
    expect(reasons('--weights', '2')).toEqual(['--weights is 2, by default 1,1']);
    expect(reasons('--factor', '2')).toEqual(['--factor is 2, by default 1']);
    const results = judge({ sum: 6, largest: 10 }, ['--seeds', '2']);
    expect(Object.values(results.bars).map(({ verdict }) => verdict)).toEqual(['missing', 'missing']);
    expect(exitStatus(results)).toBe(1);
  });

  it('asks for every item of a list that selects', () => {
    const parts = { ...toy, options: { parts: { what: 'parts', default: 'a,b c', isSelection: true } } };
    const leftOut = (value: string) =>
      leftOutBy(parts, { quick: false, seeds: 3, firstSeed: 1, options: { parts: value } });
    expect(leftOut('b c, a, d')).toEqual([]);
    expect(leftOut('a,b')).toEqual(['--parts is a,b, by default a,b c']);
  });

  it('takes every bar for missing that rests on uncommitted changes, in this run or in a resumed one', () => {
    const verdicts = (circumstances: Partial<Run>) =>
      Object.values(judge({ sum: 6, largest: 10 }, [], circumstances).bars).map(({ verdict }) => verdict);
    expect(verdicts({ commit: 'abc+' })).toEqual(['missing', 'missing']);
    expect(verdicts({ commit: null })).toEqual(['missing', 'missing']);
    expect(verdicts({ seedCommits: { loop: { 1: 'abc', 2: 'abd+' } } })).toEqual(['missing', 'missing']);
    expect(verdicts({ seedCommits: { loop: { 1: null } } })).toEqual(['missing', 'missing']);
    expect(verdicts({ seedCommits: { loop: { 1: 'abc', 2: 'abd' } } })).toEqual(['holds', 'holds']);
  });

  it('names the seeds that come from other commits', () => {
    const seedCommits = { one: { 1: 'abd', 2: 'abc', 3: 'abd' }, two: { 1: 'abd', 2: null } };
    const { otherCommits } = judge({ sum: 6, largest: 10 }, [], { seedCommits });
    expect(otherCommits).toEqual({ abd: ['one: 1, 3', 'two: 1'], unknown: ['two: 2'] });
  });

  it('keeps the interval and the number of seeds of an estimate', () => {
    const { bars } = judge({ sum: { value: 7, lower: 5, upper: 8, count: 3 }, largest: 10 });
    expect(bars['sum']).toMatchObject({ value: 7, interval: [5, 8], seeds: 3, verdict: 'holds' });
    expect(bars['largest']).not.toHaveProperty('interval');
  });

  it('takes folders as peers in addition to Python', () => {
    const args = ['--peer', 'python', '--peer', import.meta.dirname];
    expect(readSettings(toy, args)).toMatchObject({ withPython: true, peerFolders: [import.meta.dirname] });
    expect(readSettings(toy, args.slice(2))).toMatchObject({ withPython: false });
  });

  it('takes what is no number for not held', () => {
    const results = judge({ sum: 6, largest: Number.NaN });
    expect(results.bars['largest']).toMatchObject({ value: null, verdict: 'does not hold' });
    expect(exitStatus(results)).toBe(1);
    expect(exitStatus(judge({ sum: 6, largest: Number.NEGATIVE_INFINITY }))).toBe(1);
  });

  it('judges nothing when quick', () => {
    const results = judge({ sum: 0 }, ['--quick']);
    expect(Object.values(results.bars).map(({ verdict }) => verdict)).toEqual(['not judged', 'not judged']);
    expect(exitStatus(results)).toBe(0);
  });

  it('refuses a value for a bar that is not declared', () => {
    expect(() => judge({ sum: 6, larges: 1 })).toThrow(/bar larges/);
  });
});
