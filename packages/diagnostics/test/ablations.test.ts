import {
  ablationCsv,
  ablationFigure,
  ablationGrid,
  ablationSummary,
  ablationTable,
} from '@coplay/diagnostics/ablations';
import { describe, expect, it } from 'vitest';
import { readStrictCsv } from './strict-csv';

const names = ['worldModel', 'imagined', 'moa'] as const;
const requires = { imagined: ['worldModel', 'moa'] } as const;

/** `label: on, on` of each cell. */
function told(cells: ReturnType<typeof ablationGrid>): string[] {
  return cells.map(({ label, switches }) => `${label}: ${Object.keys(switches).filter((name) => switches[name])}`);
}

describe('ablationGrid', () => {
  it('switches off one at a time', () => {
    expect(told(ablationGrid(names))).toEqual([
      'all: worldModel,imagined,moa',
      'without worldModel: imagined,moa',
      'without imagined: worldModel,moa',
      'without moa: worldModel,imagined',
    ]);
  });

  it('switches on one at a time', () => {
    const cells = ablationGrid(names, { design: 'one-on' });
    expect(told(cells)).toEqual(['none: ', 'only worldModel: worldModel', 'only imagined: imagined', 'only moa: moa']);
  });

  it('has all combinations, each once', () => {
    const cells = ablationGrid(names, { design: 'full' });
    expect(new Set(cells.map(({ switches }) => JSON.stringify(switches))).size).toBe(8);
    expect(cells.map(({ label }) => label)).toEqual([
      'none',
      'worldModel',
      'imagined',
      'worldModel + imagined',
      'moa',
      'worldModel + moa',
      'imagined + moa',
      'all',
    ]);
  });

  it('heeds what modules need', () => {
    expect(told(ablationGrid(names, { requires }))).toEqual([
      'all: worldModel,imagined,moa',
      'without worldModel: moa',
      'without imagined: worldModel,moa',
      'without moa: worldModel',
    ]);
    expect(told(ablationGrid(names, { requires, design: 'one-on' }))[2]).toBe('only imagined: worldModel,imagined,moa');
    // 8 less the 3 that have imagined without both others.
    expect(ablationGrid(names, { requires, design: 'full' })).toHaveLength(5);
  });

  it('follows needs of needs', () => {
    const chain = { moa: ['imagined'], imagined: ['worldModel'] } as const;
    expect(told(ablationGrid(names, { requires: chain }))[1]).toBe('without worldModel: ');
  });

  it('leaves out cells that requirements make equal', () => {
    // Without either of two that need each other both are off.
    const cells = ablationGrid(['a', 'b'], { requires: { a: ['b'], b: ['a'] } });
    expect(told(cells)).toEqual(['all: a,b', 'without a: ']);
  });

  it('refuses names that mean nothing', () => {
    expect(() => ablationGrid([])).toThrow(/one name or more/);
    expect(() => ablationGrid(['a', 'a'])).toThrow(/each once/);
    expect(() => ablationGrid(['a'], { requires: JSON.parse('{"a":["b"]}') })).toThrow(/names among a, got "b"/);
  });
});

describe('ablationSummary', () => {
  const rows = ablationSummary({ all: [3, 1, 2, 4, 100], 'without moa': [2, 0, 1, 3, 99] });

  it('has mean, IQM and the difference from the baseline', () => {
    const [all, without] = rows;
    expect(all).toMatchObject({ label: 'all', min: 1, max: 100, mean: { value: 22, count: 5 } });
    expect(all.iqm?.value).toBe(3); // of 2, 3, 4: floor(5 / 4) = 1 dropped at each end
    expect(all.spread).toBeCloseTo(Math.sqrt((19 ** 2 + 21 ** 2 + 20 ** 2 + 18 ** 2 + 78 ** 2) / 4), 10);
    // Seed by seed each is 1 less, so that the interval has no width.
    expect(without.difference).toEqual({ value: -1, lower: -1, upper: -1, count: 5 });
  });

  it('has no IQM below five seeds, and no interval of one', () => {
    const [three, one] = ablationSummary({ all: [1, 2, 3], few: [5] });
    expect(three).not.toHaveProperty('iqm');
    expect(one.difference).toMatchObject({ value: 3, lower: Number.NaN });
    expect(one.spread).toBeNaN();
  });

  it('compares with the requested one', () => {
    const [all] = ablationSummary({ all: [1, 2], none: [0, 0] }, { baseline: 'none' });
    expect(all.difference.value).toBe(1.5);
    expect(() => ablationSummary({ all: [1] }, { baseline: 'some' })).toThrow(/one of all, got "some"/);
  });

  it('refuses cells that were not run', () => {
    expect(() => ablationSummary({})).toThrow(/no cells/);
    expect(() => ablationSummary({ all: [1], moa: [] })).toThrow(/moa: \[\]/);
    expect(() => ablationSummary({ all: [Number.NaN] })).toThrow(/finite/);
  });

  it('becomes a table, CSV and box plots', async () => {
    expect(ablationTable(rows)[1]).toMatchObject({ setting: 'without moa', seeds: 5, 'IQM [95 %]': { value: 2 } });
    const [all] = readStrictCsv(ablationCsv(rows));
    expect(Object.keys(all)).toHaveLength(14 + 5);
    expect(all).toMatchObject({ setting: 'all', seeds: '5', mean: '22', iqm: '3', difference: '0', value_5: '100' });
    expect(await ablationFigure(rows)).toContain('without moa');
  });

  it('leaves fields of CSV empty where there is no number', () => {
    const [, few] = readStrictCsv(ablationCsv(ablationSummary({ all: [1, 2], few: [5] })));
    expect(few).toMatchObject({ mean: '5', iqm: '', spread: '', mean_lower: '', value_2: '' });
  });
});
