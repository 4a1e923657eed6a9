/** From here on a number is as far from a whole one as two decimals show. */
const FAR = 0.05;

/**
 * A number by its distance from the nearest whole one, with two digits, so that none is ever shown as a whole number
 * that it isn't: `0`, `1`, `0.12`, `3.1e-4`, `1-3.1e-4`, `-2+0.020`.
 */
export function rawNumber(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) return String(value);
  const whole = Math.round(value);
  const rest = value - whole;
  if (Math.abs(rest) >= FAR) return value.toFixed(2);
  if (whole === 0) return small(rest);
  return `${whole}${rest < 0 ? '-' : '+'}${small(Math.abs(rest))}`;
}

function small(value: number): string {
  return Math.abs(value) < 0.01 ? value.toExponential(1) : value.toPrecision(2);
}
