import { checkArgument } from '@coplay/core/checks';
import { ablationRows } from '../inputs';
import { formatRecord } from '../logs/csv-text';
import { type BoxPlotOptions, drawBoxes } from '../plots/box-plot';
import type { TableRow } from '../tables';
import type { AblationRow } from './summary';

/**
 * One row a cell: seeds, mean and interval, IQM where there are five seeds or more, spread, extremes, difference from
 * the baseline.
 */
export function ablationTable(rows: readonly AblationRow[]): TableRow[] {
  checkArgument('ablationTable', 'rows', ablationRows, rows);
  const hasIqm = rows.some(({ iqm }) => iqm !== undefined);
  return rows.map(({ label, values, mean, iqm, spread, min, max, difference }) => ({
    setting: label,
    seeds: values.length,
    'mean [95 %]': mean,
    ...(hasIqm && { 'IQM [95 %]': iqm }),
    spread,
    min,
    max,
    'difference [95 %]': difference,
  }));
}

const COLUMNS = [
  'setting',
  'seeds',
  'mean',
  'mean_lower',
  'mean_upper',
  'iqm',
  'iqm_lower',
  'iqm_upper',
  'spread',
  'min',
  'max',
  'difference',
  'difference_lower',
  'difference_upper',
];

/**
 * The same as CSV with every digit; a field is empty where there is no such number. After those columns, one for each
 * seed's figure.
 */
export function ablationCsv(rows: readonly AblationRow[]): string {
  checkArgument('ablationCsv', 'rows', ablationRows, rows);
  const seeds = Math.max(0, ...rows.map(({ values }) => values.length));
  const header = [...COLUMNS, ...Array.from({ length: seeds }, (_, s) => `value_${s + 1}`)];
  const lines = rows.map(({ label, values, mean, iqm, spread, min, max, difference }) => {
    const estimates = [mean, iqm].flatMap((estimate) => [estimate?.value, estimate?.lower, estimate?.upper]);
    const numbers = [...estimates, spread, min, max, difference.value, difference.lower, difference.upper];
    const all = [...numbers, ...Array.from({ length: seeds }, (_, s) => values[s])];
    return [label, String(values.length), ...all.map(formatNumber)];
  });
  return [header, ...lines].map(formatRecord).join('');
}

function formatNumber(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '' : String(value);
}

/**
 * Box plots of the cells side by side, each seed a dot.
 *
 * @returns SVG as text
 */
export async function ablationFigure(rows: readonly AblationRow[], options: BoxPlotOptions = {}): Promise<string> {
  checkArgument('ablationFigure', 'rows', ablationRows, rows);
  return drawBoxes('ablationFigure', Object.fromEntries(rows.map(({ label, values }) => [label, values])), options);
}
