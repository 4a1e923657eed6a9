/**
 * A strict reader of RFC 4180, character by character and written apart from the library: every record has as many
 * fields as the header, quotes stand only around a whole field, the text ends with a line end.
 */
export function readStrictCsv(text: string): Record<string, string>[] {
  const records = splitRecords(text);
  const [header, ...rows] = records;
  if (!header) throw new Error('no header');
  if (new Set(header).size !== header.length) throw new Error('two columns of one name');
  return rows.map((row, i) => {
    if (row.length !== header.length) throw new Error(`record ${i + 1}: ${row.length} of ${header.length} fields`);
    return Object.fromEntries(header.map((name, c) => [name, row[c]]));
  });
}

function splitRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  for (const character of text) {
    if (state === 'quoted') {
      if (character === '"') state = 'closed';
      else field += character;
    } else if (character === ',' || character === '\n') {
      record.push(field);
      field = '';
      state = 'start';
      if (character === '\n') {
        records.push(record);
        record = [];
      }
    } else if (character === '"') {
      if (state === 'plain') throw new Error('a quote inside a plain field');
      if (state === 'closed') field += '"';
      state = 'quoted';
    } else {
      if (state === 'closed') throw new Error('text after a closing quote');
      field += character;
      state = 'plain';
    }
  }
  if (state !== 'start' || record.length > 0) throw new Error('the last line has no end');
  return records;
}
