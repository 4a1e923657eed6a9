/** Quotes a field where RFC 4180 asks for it. */
function formatField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record with its line feed. */
export function formatRecord(fields: readonly string[]): string {
  return `${fields.map(formatField).join(',')}\n`;
}

/** Records of a CSV text, and what follows the last line end. */
export interface Records {
  readonly records: string[][];
  readonly torn: string;
}

/** Reads CSV text (RFC 4180; lines may end in LF or CR LF). A record counts once its line end is there. */
export function parseRecords(text: string): Records {
  const records: string[][] = [];
  let start = 0;
  while (start < text.length) {
    const record = parseRecord(text, start);
    if (!record) break;
    records.push(record.fields);
    start = record.end;
  }
  return { records, torn: text.slice(start) };
}

function parseRecord(text: string, start: number): { fields: string[]; end: number } | undefined {
  const fields: string[] = [];
  let at = start;
  for (;;) {
    const field = text[at] === '"' ? parseQuoted(text, at) : parsePlain(text, at);
    if (!field) return undefined;
    fields.push(field.value);
    at = field.end;
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    if (text[at] === '\n') return { fields, end: at + 1 };
    if (text[at] !== ',') return undefined;
    at++;
  }
}

interface Field {
  readonly value: string;
  /** Where the comma or the line end stands. */
  readonly end: number;
}

function parsePlain(text: string, start: number): Field {
  let end = start;
  while (end < text.length && !',\r\n'.includes(text[end])) end++;
  return { value: text.slice(start, end), end };
}

function parseQuoted(text: string, start: number): Field | undefined {
  let value = '';
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return undefined;
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    at = quote + 2;
  }
}
