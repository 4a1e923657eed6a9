/**
 * Probabilities of legal actions: exp(logits) normalised over them, -1 where an action is illegal, so that it differs
 * from a legal action of probability 0. Uniform where there are no logits, or none above -Infinity is legal.
 *
 * @param logits         K of them from `logitsOffset` on
 * @param mask           [K] 1 where legal, at least one
 * @param probabilities  K of them from `offset` on are written
 * @returns whether the logits were numbers, none of them NaN or +Infinity
 */
export function maskedSoftmax(
  logits: Float32Array | undefined,
  logitsOffset: number,
  mask: Uint8Array,
  probabilities: Float32Array,
  offset: number,
): boolean {
  const K = mask.length;
  let largest = Number.NEGATIVE_INFINITY;
  if (logits) for (let k = 0; k < K; k++) if (mask[k] === 1) largest = Math.max(largest, logits[logitsOffset + k]);
  const isUniform = !logits || largest === Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let k = 0; k < K; k++) {
    const weight = mask[k] === 0 ? 0 : isUniform ? 1 : Math.exp(logits[logitsOffset + k] - largest);
    probabilities[offset + k] = weight;
    sum += weight;
  }
  for (let k = 0; k < K; k++) {
    probabilities[offset + k] = mask[k] === 0 ? -1 : probabilities[offset + k] / sum;
  }
  return sum > 0; // not so for NaN
}
