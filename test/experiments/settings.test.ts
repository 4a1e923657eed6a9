import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spoken } from '../../bench/harness/calibration';
import { describeAll, load } from '../../bench/harness/catalogue';
import { readSettings } from '../../bench/harness/command-line';
import { exitStatus, makeResults } from '../../bench/harness/results';
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
      out: undefined,
      options: { factor: '1' },
    });
  });

  it('takes fewer seeds when quick, unless told', () => {
    expect(readSettings(toy, ['--quick']).seeds).toBe(2);
    expect(readSettings(toy, ['--quick', '--seeds', '7']).seeds).toBe(7);
  });

  it('refuses what it does not know, naming what it does', () => {
    expect(() => readSettings(toy, ['--fast'])).toThrow(/--fast(.|\n)*The options of toy are: --quick, .*--factor/);
    expect(() => readSettings(toy, ['more'])).toThrow(/more/);
    expect(() => readSettings(toy, ['--seeds', '0'])).toThrow('--seeds: expected a number of at least 1, got 0');
    expect(() => readSettings(toy, ['--seeds', 'x'])).toThrow(/got x/);
    expect(() => readSettings(toy, ['--peer', 'ruby'])).toThrow(
      '--peer: expected python, or the folder of a checkout, got ruby',
    );
  });
});

describe('judging', () => {
  const run = { command: 'npm run study -- toy', seconds: 1 };
  const judge = (bars: Record<string, number | null>, args: string[] = []) =>
    makeResults(toy, readSettings(toy, args), { figures: {}, bars }, run);

  it('counts a bar that is just reached as held', () => {
    expect(exitStatus(judge({ sum: 6, largest: 10 }))).toBe(0);
    expect(exitStatus(judge({ sum: 5.999, largest: 10 }))).toBe(1);
    expect(exitStatus(judge({ sum: 6, largest: 10.001 }))).toBe(1);
  });

  it('leaves a bar alone that could not be measured', () => {
    const { bars } = judge({ sum: null, largest: 10 });
    expect(bars['sum']).toMatchObject({ value: null, ok: null });
    expect(exitStatus(judge({ sum: null, largest: 10 }))).toBe(0);
    expect(exitStatus(judge({ sum: null, largest: 11 }))).toBe(1);
  });

  it('takes folders as peers in addition to Python', () => {
    const args = ['--peer', 'python', '--peer', import.meta.dirname];
    expect(readSettings(toy, args)).toMatchObject({ withPython: true, peerFolders: [import.meta.dirname] });
    expect(readSettings(toy, args.slice(2))).toMatchObject({ withPython: false });
  });

  it('takes what is missing or no number for not held', () => {
    const results = judge({ largest: Number.NaN });
    expect(results.bars).toMatchObject({ sum: { value: null, ok: false }, largest: { value: null, ok: false } });
    expect(exitStatus(results)).toBe(1);
    expect(exitStatus(judge({ sum: 6, largest: Number.NEGATIVE_INFINITY }))).toBe(1);
  });

  it('judges nothing when quick', () => {
    const results = judge({ sum: 0 }, ['--quick']);
    expect(Object.values(results.bars).map(({ ok }) => ok)).toEqual([null, null]);
    expect(exitStatus(results)).toBe(0);
  });

  it('refuses a value for a bar that is not declared', () => {
    expect(() => judge({ sum: 6, larges: 1 })).toThrow(/bar larges/);
  });
});
