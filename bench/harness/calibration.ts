/** Milliseconds that the loop below takes on the machine on which experiments state their minutes. */
const REFERENCE = 65;

/**
 * How many times longer than there an experiment takes here, by a loop of floating-point arithmetic. A rough figure: it
 * knows one core and no memory.
 */
export function slowdown(): number {
  const best = Math.min(loop(), loop(), loop());
  return Math.min(10, Math.max(0.1, best / REFERENCE));
}

function loop(): number {
  const start = performance.now();
  const values = new Float64Array(1024).fill(0.5);
  for (let round = 0; round < 20_000; round++) {
    for (let i = 0; i < values.length; i++) values[i] = 3.7 * values[i] * (1 - values[i]);
  }
  return performance.now() - start;
}

/** A time as a person says it: `40 seconds`, `12 minutes`, `2.5 hours`. */
export function spoken(minutes: number): string {
  if (minutes < 1) return minutes < 0.025 ? 'a second' : `${Math.round(minutes * 60)} seconds`;
  if (minutes < 1.5) return '1 minute';
  return minutes < 90 ? `${Math.round(minutes)} minutes` : `${(minutes / 60).toFixed(1)} hours`;
}
