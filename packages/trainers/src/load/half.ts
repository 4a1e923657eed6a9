/*
 * Numbers of 16 bits (IEEE 754 binary16, "half"): 1 sign, 5 bits of exponent, 10 of fraction. Networks play with them
 * as with 32 bits, in a file of half the size.
 */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The nearest halves; what is too large becomes infinite, and NaN stays NaN. */
export function toHalves(values: Float32Array): Uint16Array {
  return Uint16Array.from(values, (value) => {
    const size = Math.abs(value);
    const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
    if (Number.isNaN(value)) return 0x7e00;
    if (size >= 65520) return sign | 0x7c00; // rounds to more than the largest half, 65504
    // Between 2^e and 2^(e + 1) halves are 2^(e - 10) apart; below 2^-14 they are 2^-24 apart.
    float[0] = size;
    const exponent = Math.max((bits[0]! >>> 23) - 127, -14);
    const steps = roundToEven(size / 2 ** (exponent - 10));
    return sign | ((exponent + 14) * 1024 + steps); // a fraction of 2048 carries over into the exponent
  });
}

/** The values of halves. */
export function fromHalves(halves: Uint16Array): Float32Array {
  return Float32Array.from(halves, (half) => {
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >>> 10) & 31;
    const fraction = half & 1023;
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
