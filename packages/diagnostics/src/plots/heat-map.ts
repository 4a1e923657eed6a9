import { fail } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { figure } from '../inputs';
import { INK } from './colours';
import { checkFigure, drawFigure, type FigureOptions } from './frame';

/** A table of numbers with names. R rows from the top, C columns from the left. */
export interface HeatMapData {
  /** [R] */
  readonly rows: readonly string[];
  /** [C] */
  readonly columns: readonly string[];
  /** [R, C] */
  readonly values: readonly (readonly number[])[];
}

const schema = z.looseObject({
  rows: z.array(z.string()).min(1),
  columns: z.array(z.string()).min(1),
  values: z.array(z.array(figure)),
});

/**
 * A table as colours, with the numbers in the cells: payoffs of every agent against every other, action frequencies,
 * confusion.
 *
 * @returns SVG as text
 * @throws CoplayError if the values don't fit the names
 */
export async function heatMap(data: HeatMapData, options: FigureOptions = {}): Promise<string> {
  const checked = checkFigure('heatMap', options);
  checkArgument('heatMap', 'data', schema, data);
  const { rows, columns, values } = data;
  const fits = values.length === rows.length && values.every((row) => row.length === columns.length);
  if (!fits) {
    const got = `${values.length} rows of ${values.map((row) => row.length).join(', ')} values`;
    fail(
      'heatMap',
      `${rows.length} rows of ${columns.length} values`,
      got,
      'Give one value for each row and column name.',
    );
  }
  const cells = rows.flatMap((row, r) => columns.map((column, c) => ({ row, column, value: values[r][c] })));
  const known = cells.filter(({ value }) => Number.isFinite(value)).map(({ value }) => value);
  const middle = (Math.min(...known) + Math.max(...known)) / 2;
  return drawFigure(checked, [], (Plot) => ({
    padding: 0,
    marginTop: 8,
    marginLeft: 30 + 7 * Math.max(...rows.map((row) => row.length)),
    x: { domain: columns, label: checked.x || null },
    y: { domain: rows, label: checked.y || null },
    color: { scheme: 'Blues' },
    marks: [
      Plot.cell(cells, { x: 'column', y: 'row', fill: 'value', inset: 0.5 }),
      Plot.text(cells, {
        x: 'column',
        y: 'row',
        text: ({ value }: { value: number }) => (Number.isFinite(value) ? value.toFixed(2) : ''),
        fill: ({ value }: { value: number }) => (value > middle ? INK.paper : INK.text),
      }),
    ],
  }));
}
