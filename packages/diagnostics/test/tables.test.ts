import { markdownTable, textTable } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { formatEstimate } from '../src/tables/format';

const rows = [
  { agent: 'NearestStag', return: 2.8534, episodes: 20_000 },
  { agent: 'Random', return: -0.5, episodes: 7, note: 'a|b' },
];

describe('textTable', () => {
  it('aligns columns, numbers to the right', () => {
    expect(textTable(rows)).toBe(
      [
        'agent        return  episodes  note',
        '-----------  ------  --------  ----',
        'NearestStag   2.853    20,000',
        'Random       -0.500         7  a\\|b',
        '',
      ].join('\n'),
    );
  });

  it('takes columns and digits', () => {
    expect(textTable(rows, { columns: ['return'], digits: 1 })).toBe('return\n------\n   2.9\n  -0.5\n');
  });

  it('refuses an unknown option', () => {
    expect(() => textTable(rows, { colums: [] } as object)).toThrow(/textTable.*unknown option "colums".*columns/);
  });
});

describe('markdownTable', () => {
  it('is a table in Markdown that can be read as text', () => {
    expect(markdownTable(rows, { columns: ['agent', 'return', 'note'] })).toBe(
      [
        '| agent       | return | note |',
        '| ----------- | -----: | ---- |',
        '| NearestStag |  2.853 |      |',
        '| Random      | -0.500 | a\\|b |',
        '',
      ].join('\n'),
    );
  });

  it('shows estimates, missing figures and large ones', () => {
    const estimate = { value: 2.861, lower: 2.7811, upper: 2.8899, count: 5 };
    const table = markdownTable([{ a: estimate, b: Number.NaN, c: 1234567.8, d: undefined, e: true, p: 0.00001 }]);
    expect(table.split('\n')[2]).toBe('| 2.861 [2.781, 2.890] | n/a | 1,234,568 |     | true | 1.0e-5 |');
  });
});

describe('formatEstimate', () => {
  it('leaves an interval out that is none', () => {
    expect(formatEstimate({ value: 1, lower: Number.NaN, upper: Number.NaN, count: 1 })).toBe('1.000');
    expect(formatEstimate({ value: 1.25, lower: 0, upper: 2, count: 3 }, 1)).toBe('1.3 [0.0, 2.0]');
  });
});
