import { checkOptions } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { tableRows } from '../inputs';
import { type Cell, formatCell } from './format';

/** Options of {@link textTable} and {@link markdownTable}. */
export interface TableOptions {
  /** Which columns, in which order. Default: all, in the order in which rows first name them */
  readonly columns?: readonly string[];
  /** Digits after the decimal point; 0 to 20. Default 3 */
  readonly digits?: number;
}

const schema = z
  .object({ columns: z.array(z.string()).readonly().optional(), digits: z.number().int().min(0).max(20).default(3) })
  .strict();

/** A row of a table: a cell for each column's name. */
export type TableRow = Readonly<Record<string, Cell>>;

/** Rows as plain text in aligned columns, numbers to the right; ends with a line feed. */
export function textTable(rows: readonly TableRow[], options: TableOptions = {}): string {
  const { header, body, isNumeric, widths } = layTable('textTable', rows, options);
  const line = (cells: readonly string[]) =>
    cells.map((cell, c) => (isNumeric[c] ? cell.padStart(widths[c]) : cell.padEnd(widths[c]))).join('  ');
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return `${[line(header), rule, ...body.map(line)].map((text) => text.trimEnd()).join('\n')}\n`;
}

/** Rows as a Markdown table, aligned so that it can be read as text too; ends with a line feed. */
export function markdownTable(rows: readonly TableRow[], options: TableOptions = {}): string {
  const { header, body, isNumeric, widths } = layTable('markdownTable', rows, options);
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, c) => (isNumeric[c] ? cell.padStart(widths[c]) : cell.padEnd(widths[c]))).join(' | ')} |`;
  const rule = widths.map((width, c) => (isNumeric[c] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return `${[line(header), line(rule), ...body.map(line)].join('\n')}\n`;
}

interface Layout {
  readonly header: readonly string[];
  readonly body: readonly (readonly string[])[];
  /** For each column: no cell is text */
  readonly isNumeric: readonly boolean[];
  /** For each column, in characters; at least 3, as Markdown's rule needs */
  readonly widths: readonly number[];
}

function layTable(where: string, rows: readonly TableRow[], options: TableOptions): Layout {
  const { columns, digits } = checkOptions(where, schema, options);
  checkArgument(where, 'rows', tableRows, rows);
  const header = columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const body = rows.map((row) => header.map((name) => escapeCell(formatCell(row[name], digits))));
  return {
    header: header.map(escapeCell),
    body,
    isNumeric: header.map((name) =>
      rows.every((row) => typeof row[name] !== 'string' && typeof row[name] !== 'boolean'),
    ),
    widths: header.map((name, c) => Math.max(3, escapeCell(name).length, ...body.map((cells) => cells[c].length))),
  };
}

/** A cell is one line, and its bars must not look like borders. */
function escapeCell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
}
