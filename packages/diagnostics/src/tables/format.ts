import { checkArgument, checkNumber } from '@coplay/core/checks';
import { estimate } from '../inputs';
import type { Estimate } from '../statistics';

/** The values that a cell of a table may hold. */
export type Cell = string | number | boolean | Estimate | null | undefined;

/**
 * An estimate as `2.861 [2.781, 2.889]`; without the brackets where it has no interval.
 *
 * @param digits  after the point. Default 3
 */
export function formatEstimate(figures: Estimate, digits = 3): string {
  checkArgument('formatEstimate', 'estimate', estimate, figures);
  checkNumber('formatEstimate', 'digits', digits, { min: 0, max: 20, whole: true });
  const { value, lower, upper } = figures;
  const [middle, low, high] = [value, lower, upper].map((number) => formatDecimal(number, digits));
  return Number.isNaN(lower) || Number.isNaN(upper) ? middle! : `${middle} [${low}, ${high}]`;
}

/** The text of a cell. Whole numbers have commas, others `digits` digits after the point: none from 1,000 on, and
 * `1.0e-5` where they would show zeros only. */
export function formatCell(cell: Cell, digits: number): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return Number.isInteger(cell) ? withCommas(cell, 0) : formatDecimal(cell, digits);
  if (typeof cell === 'object') return formatEstimate(cell, digits);
  return String(cell);
}

function formatDecimal(value: number, digits: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'n/a' : String(value);
  // A small p-value is not 0.
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits) return value.toExponential(1);
  return withCommas(value, Math.abs(value) >= 1000 ? 0 : digits);
}

function withCommas(value: number, digits: number): string {
  const [whole, fraction] = value.toFixed(digits).split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
