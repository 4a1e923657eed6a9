import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRecord, parseRecords } from './csv-text';

const field = fc.oneof(fc.string(), fc.stringMatching(/^[",\r\n a]*$/));
const records = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 });

describe('parseRecords', () => {
  it('reads back every written text', () => {
    fc.assert(
      fc.property(records, (rows) => {
        expect(parseRecords(rows.map(formatRecord).join(''))).toEqual({ records: rows, torn: '' });
      }),
    );
  });

  it('finds the whole records of a text that was cut anywhere', () => {
    const field = fc.stringMatching(/^[",\na]*$/);
    const table = fc.array(fc.array(field, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(table, fc.nat(), (rows, place) => {
        const lines = rows.map(formatRecord);
        const text = lines.join('');
        const cut = text.slice(0, place % (text.length + 1));
        // Records whose last character lies before the cut.
        const whole = lines.filter((_, i) => lines.slice(0, i + 1).join('').length <= cut.length);
        const parsed = parseRecords(cut);
        expect(parsed.records).toEqual(rows.slice(0, whole.length));
        expect(parsed.torn).toBe(cut.slice(whole.join('').length));
      }),
    );
  });

  it('takes lines that end in CR LF', () => {
    expect(parseRecords('a,"b"\r\n1,2\r\n').records).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
  });
});
