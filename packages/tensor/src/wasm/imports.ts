import type { Code, ImportedFunction, Local } from './assembler';

/**
 * Functions that kernels call for each number, since they're rare in networks: JavaScript's own, in float64, so that
 * results are exact but for the rounding to float32.
 */
export const SCALAR_FUNCTIONS = {
  acos: Math.acos,
  acosh: Math.acosh,
  asin: Math.asin,
  asinh: Math.asinh,
  atan: Math.atan,
  atanh: Math.atanh,
  cos: Math.cos,
  cosh: Math.cosh,
  sin: Math.sin,
  sinh: Math.sinh,
  tan: Math.tan,
  pow: (a: number, b: number) => a ** b,
  /** The sign of a. */
  remainder: (a: number, b: number) => a % b,
  /** The sign of b. */
  modulo: (a: number, b: number) => a - b * Math.floor(a / b),
  /** Rounded towards 0. */
  quotient: (a: number, b: number) => Math.trunc(a / b),
} as const;

export type ScalarFunction = keyof typeof SCALAR_FUNCTIONS;

const NAMES = Object.keys(SCALAR_FUNCTIONS) as ScalarFunction[];

/** What every module imports. */
export const IMPORTS: readonly ImportedFunction[] = NAMES.map((name) => ({
  name,
  params: SCALAR_FUNCTIONS[name].length === 1 ? ['f64'] : ['f64', 'f64'],
  results: ['f64'],
}));

/** Calls a function for each of four lanes. */
export function callForLanes(
  code: Code,
  name: ScalarFunction,
  operands: readonly Local[],
  type: 'float32' | 'int32',
): void {
  const shape = type === 'int32' ? 'i32x4' : 'f32x4';
  const result = code.local('v128');
  code.get(operands[0]);
  code.set(result);
  for (const lane of [0, 1, 2, 3]) {
    code.get(result);
    for (const operand of operands) {
      code.get(operand);
      code.lane(`${shape}.extract_lane`, lane);
      code.op(type === 'int32' ? 'f64.convert_i32_s' : 'f64.promote_f32');
    }
    code.call(NAMES.indexOf(name));
    code.op(type === 'int32' ? 'i32.trunc_sat_f64_s' : 'f32.demote_f64');
    code.lane(`${shape}.replace_lane`, lane);
    code.set(result);
  }
  code.get(result);
}
