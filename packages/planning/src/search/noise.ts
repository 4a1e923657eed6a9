import type { Generator } from '@coplay/core';

/**
 * Mixes Dirichlet noise into a prior (Silver et al. 2017): P <- (1 - fraction) P + fraction * eta, eta ~
 * Dirichlet(alpha) over the legal actions alone.
 *
 * @param priors  K of them from `offset` on, -1 where illegal; replaced
 */
export function addNoise(
  priors: Float32Array,
  offset: number,
  actions: number,
  { alpha, fraction }: { readonly alpha: number; readonly fraction: number },
  generator: Generator,
): void {
  const noise = new Float64Array(actions);
  let sum = 0;
  for (let k = 0; k < actions; k++) {
    if (priors[offset + k] < 0) continue;
    noise[k] = Math.max(gamma(alpha, generator), Number.MIN_VALUE); // a small alpha may give 0 everywhere
    sum += noise[k];
  }
  for (let k = 0; k < actions; k++) {
    if (priors[offset + k] >= 0) priors[offset + k] = (1 - fraction) * priors[offset + k] + (fraction * noise[k]) / sum;
  }
}

/**
 * A sample of the gamma distribution of shape `alpha` and scale 1 (Marsaglia and Tsang 2000; below 1 by their boost).
 */
export function gamma(alpha: number, generator: Generator): number {
  if (alpha < 1) return gamma(alpha + 1, generator) * (1 - generator.uniform()) ** (1 / alpha);
  const d = alpha - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = generator.normal();
    const v = (1 + c * x) ** 3;
    const u = 1 - generator.uniform(); // in (0, 1]
    if (v > 0 && Math.log(u) < 0.5 * x * x + d * (1 - v + Math.log(v))) return d * v;
  }
}
