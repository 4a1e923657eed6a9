import type { Code, Local } from '../assembler';
import { callForLanes } from '../imports';

/**
 * Functions of four float32 numbers, as SIMD instructions. Each takes a local and leaves the result on the stack. NaN
 * gives NaN everywhere. Errors are relative to the exact result, as functions.test.ts measures them.
 */
export type VectorFunction = (code: Code, x: Local) => void;

/** c[0] z^n + c[1] z^(n-1) + ... + c[n] */
function polynomial(code: Code, z: Local, coefficients: readonly number[]): void {
  code.splat(coefficients[0]);
  for (const next of coefficients.slice(1)) {
    code.get(z);
    code.multiplyAdd(() => code.splat(next));
  }
}

/** x held between two numbers; NaN stays NaN. */
function clamped(code: Code, x: Local, low: number, high: number): Local {
  code.get(x);
  code.splat(high);
  code.op('f32x4.pmin');
  code.splat(low);
  code.op('f32x4.pmax');
  return code.keep('v128');
}

/**
 * exp(x) = 2^n exp(r) with |r| <= log(2) / 2 and a polynomial for exp(r) (Cephes, expf). Error below 2e-7; results
 * below 1.2e-38 are denormal, as they should be.
 */
export const exp: VectorFunction = (code, x) => {
  code.scope(() => {
    const held = clamped(code, x, -104, 89);
    code.get(held);
    code.splat(Math.LOG2E);
    code.op('f32x4.mul');
    code.op('f32x4.nearest');
    const n = code.keep('v128');
    // log(2) in two parts, of which the first has few digits: its product with n is exact.
    code.get(n);
    code.splat(-0.693359375);
    code.multiplyAdd(() => code.get(held));
    const first = code.keep('v128');
    code.get(n);
    code.splat(2.1219444e-4);
    code.multiplyAdd(() => code.get(first));
    const r = code.keep('v128');
    polynomial(code, r, [1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5]);
    code.get(r);
    code.op('f32x4.mul');
    code.get(r);
    code.multiplyAdd(() => code.get(r));
    code.splat(1);
    code.op('f32x4.add');
    // 2^n overflows where the product doesn't: two factors.
    code.get(n);
    code.op('i32x4.trunc_sat_f32x4_s');
    const power = code.keep('v128');
    code.get(power);
    code.i32(1);
    code.op('i32x4.shr_s');
    const half = code.keep('v128');
    const factor = (push: () => void): void => {
      push();
      code.splatInt(127);
      code.op('i32x4.add');
      code.i32(23);
      code.op('i32x4.shl');
      code.op('f32x4.mul');
    };
    factor(() => code.get(half));
    factor(() => {
      code.get(power);
      code.get(half);
      code.op('i32x4.sub');
    });
  });
};

/**
 * log(x) = e log(2) + log(m) with m between sqrt(1/2) and sqrt(2), and a polynomial for log(m) (Cephes, logf). Error
 * below 2e-7; -Infinity of 0, NaN of negative numbers.
 */
export const log: VectorFunction = (code, x) => {
  code.scope(() => {
    code.get(x);
    code.splat(1.1754943508222875e-38);
    code.op('f32x4.lt');
    const isDenormal = code.keep('v128');
    code.get(x);
    code.splat(2 ** 23);
    code.op('f32x4.mul');
    code.get(x);
    code.get(isDenormal);
    code.op('v128.bitselect');
    code.splatInt(0x3f3504f3); // the bits of sqrt(1/2)
    code.op('i32x4.sub');
    const bits = code.keep('v128');
    code.get(bits);
    code.i32(23);
    code.op('i32x4.shr_s');
    code.splatInt(-23);
    code.get(isDenormal);
    code.op('v128.and');
    code.op('i32x4.add');
    code.op('f32x4.convert_i32x4_s');
    const e = code.keep('v128');
    code.get(bits);
    code.splatInt(0x7fffff);
    code.op('v128.and');
    code.splatInt(0x3f3504f3);
    code.op('i32x4.add');
    code.splat(-1);
    code.op('f32x4.add');
    const f = code.keep('v128');
    code.get(f);
    code.get(f);
    code.op('f32x4.mul');
    const z = code.keep('v128');
    polynomial(
      code,
      f,
      [
        7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
        2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
      ],
    );
    code.get(f);
    code.op('f32x4.mul');
    code.get(z);
    code.op('f32x4.mul');
    const tail = code.keep('v128');
    code.get(e);
    code.splat(-2.1219444e-4);
    code.multiplyAdd(() => code.get(tail));
    code.splat(-0.5);
    code.get(z);
    code.op('f32x4.mul');
    code.op('f32x4.add');
    code.get(f);
    code.op('f32x4.add');
    const sum = code.keep('v128');
    code.get(e);
    code.splat(0.693359375);
    code.multiplyAdd(() => code.get(sum));
    // Infinity and NaN stay; the logarithm of 0 is -Infinity, that of negative numbers NaN.
    code.get(x);
    code.get(x);
    code.splat(Infinity);
    code.op('f32x4.lt');
    code.op('v128.bitselect');
    code.splat(-Infinity);
    code.splat(Number.NaN);
    code.get(x);
    code.splat(0);
    code.op('f32x4.eq');
    code.op('v128.bitselect');
    code.get(x);
    code.splat(0);
    code.op('f32x4.gt');
    code.op('v128.bitselect');
  });
};

/** x P(x^2) / Q(x^2), for x between -bound and bound; beyond, the value at the bound. */
function oddRatio(bound: number, above: readonly number[], below: readonly number[]): VectorFunction {
  return (code, x) =>
    code.scope(() => {
      const held = clamped(code, x, -bound, bound);
      code.get(held);
      code.get(held);
      code.op('f32x4.mul');
      const square = code.keep('v128');
      polynomial(code, square, above);
      code.get(held);
      code.op('f32x4.mul');
      polynomial(code, square, below);
      code.op('f32x4.div');
    });
}

/** The rational approximation of Eigen and XLA. Error below 6e-7. */
export const tanh = oddRatio(
  7.905311107635498,
  [
    -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-8, 1.48572235717979e-5,
    6.37261928875436e-4, 4.89352455891786e-3,
  ],
  [1.19825839466702e-6, 1.18534705686654e-4, 2.268434632439e-3, 4.89352518554385e-3],
);

/** The rational approximation of Eigen and XLA. Error below 1e-6. */
export const erf = oddRatio(
  4,
  [
    -2.72614225801306e-10, 2.77068142495902e-8, -2.10102402082508e-6, -5.69250639462346e-5, -7.34990630326855e-4,
    -2.95459980854025e-3, -1.60960333262415e-2,
  ],
  [-1.45660718464996e-5, -2.13374055278905e-4, -1.68282697438203e-3, -7.37332916720468e-3, -1.42647390514189e-2],
);

/** 1 / (1 + exp(-x)). Error below 3e-7. */
export const sigmoid: VectorFunction = (code, x) => {
  code.scope(() => {
    code.get(x);
    code.op('f32x4.neg');
    const negative = code.keep('v128');
    code.splat(1);
    exp(code, negative);
    code.splat(1);
    code.op('f32x4.add');
    code.op('f32x4.div');
  });
};

/** log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)). Error below 4e-7. */
export const softplus: VectorFunction = (code, x) => {
  code.scope(() => {
    code.get(x);
    code.op('f32x4.abs');
    code.op('f32x4.neg');
    const negative = code.keep('v128');
    exp(code, negative);
    const e = code.keep('v128');
    // log(1 + e) with the digits that 1 + e loses: log(u) + (e - (u - 1)) / u
    code.get(e);
    code.splat(1);
    code.op('f32x4.add');
    const u = code.keep('v128');
    log(code, u);
    code.get(e);
    code.get(u);
    code.splat(1);
    code.op('f32x4.sub');
    code.op('f32x4.sub');
    code.get(u);
    code.op('f32x4.div');
    code.op('f32x4.add');
    code.get(x);
    code.splat(0);
    code.op('f32x4.pmax');
    code.op('f32x4.add');
  });
};

/** exp(x) - 1 below 0, x above, times factors. */
function exponentialBelow(scale: number, alpha: number): VectorFunction {
  return (code, x) =>
    code.scope(() => {
      // exp(x) - 1 = tanh(x / 2) (exp(x) + 1), which keeps its digits near 0
      code.get(x);
      code.splat(0.5);
      code.op('f32x4.mul');
      const half = code.keep('v128');
      code.get(x);
      code.splat(scale);
      code.op('f32x4.mul');
      tanh(code, half);
      exp(code, x);
      code.splat(1);
      code.op('f32x4.add');
      code.op('f32x4.mul');
      code.splat(scale * alpha);
      code.op('f32x4.mul');
      code.get(x);
      code.splat(0);
      code.op('f32x4.gt');
      code.op('v128.bitselect');
    });
}

/** Error below 9e-7. */
export const elu = (alpha: number): VectorFunction => exponentialBelow(1, alpha);

/** Error below 9e-7. */
export const selu = exponentialBelow(1.0507009873554805, 1.6732632423543772);

/** Above, n pi / 2 isn't exact enough. */
const LARGE_ANGLE = 1e6;

/** The sine of x + quarters pi / 2. Error below 2e-7 of 1; JavaScript's own for |x| above 1e6. */
function sine(quarters: 0 | 1): VectorFunction {
  return (code, x) =>
    code.scope(() => {
      // r = x - n pi / 2, in float64, two lanes at a time
      const halves = [0, 2].map((lane) => {
        code.get(x);
        code.get(x);
        code.shuffle(lane as 0, (lane + 1) as 1, 0, 1);
        code.op('f64x2.promote_low_f32x4');
        const wide = code.keep('v128');
        code.get(wide);
        code.splat64(2 / Math.PI);
        code.op('f64x2.mul');
        code.op('f64x2.nearest');
        const n = code.keep('v128');
        code.get(wide);
        code.get(n);
        code.splat64(1.5707963267341256);
        code.op('f64x2.mul');
        code.op('f64x2.sub');
        code.get(n);
        code.splat64(6.077100506506192e-11);
        code.op('f64x2.mul');
        code.op('f64x2.sub');
        code.op('f32x4.demote_f64x2_zero');
        const r = code.keep('v128');
        code.get(n);
        code.op('i32x4.trunc_sat_f64x2_s_zero');
        return { r, n: code.keep('v128') };
      });
      const join = (which: 'r' | 'n'): Local => {
        for (const half of halves) code.get(half[which]);
        code.shuffle(0, 1, 4, 5);
        return code.keep('v128');
      };
      const r = join('r');
      const n = join('n');
      code.get(n);
      code.splatInt(quarters);
      code.op('i32x4.add');
      const quadrant = code.keep('v128');
      code.get(r);
      code.get(r);
      code.op('f32x4.mul');
      const z = code.keep('v128');
      // cos r
      polynomial(code, z, [2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2, -0.5, 1]);
      // sin r
      polynomial(code, z, [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]);
      code.get(z);
      code.op('f32x4.mul');
      code.get(r);
      code.multiplyAdd(() => code.get(r));
      code.get(quadrant);
      code.splatInt(1);
      code.op('v128.and');
      code.splatInt(1);
      code.op('i32x4.eq');
      code.op('v128.bitselect');
      code.get(quadrant);
      code.splatInt(2);
      code.op('v128.and');
      code.i32(30);
      code.op('i32x4.shl');
      code.op('v128.xor');
      const result = code.keep('v128');
      code.get(x);
      code.op('f32x4.abs');
      code.splat(LARGE_ANGLE);
      code.op('f32x4.gt');
      code.op('v128.any_true');
      code.when(() => {
        callForLanes(code, quarters === 0 ? 'sin' : 'cos', [x], 'float32');
        code.set(result);
      });
      code.get(result);
    });
}

export const sin = sine(0);
export const cos = sine(1);
