import { describe, expect, it } from 'vitest';
import { GraphBuilder } from '../graph';
import { WasmSession } from './session';

/** A function of float32 numbers as its kernel computes it. */
async function computed(op: string, x: Float32Array): Promise<Float32Array> {
  const builder = new GraphBuilder();
  const value = { shape: [x.length], dtype: 'float32' as const };
  const y = builder.op(op, [value], value);
  const graph = { inputs: [{ name: 'x', value }], nodes: builder.nodes, outputs: [{ name: 'y', value: y }] };
  const session = await WasmSession.create(graph);
  const { y: result } = session.run({ x: { data: x } }, { y: null });
  session.release();
  return result!.data as Float32Array;
}

/** n numbers from low to high, evenly spread. */
function spread(low: number, high: number, n = 20_000): Float32Array {
  return Float32Array.from({ length: n }, (_, i) => low + ((high - low) * i) / (n - 1));
}

/** 10^low to 10^high, of both signs where asked. */
function magnitudes(low: number, high: number, signs: readonly number[] = [1, -1]): Float32Array {
  return Float32Array.from(signs.flatMap((sign) => Array.from(spread(low, high, 10_000), (e) => sign * 10 ** e)));
}

/** The error function by its series, and by its continued fraction from 3 on. */
function erf(x: number): number {
  const a = Math.abs(x);
  if (a < 3) {
    let [term, sum] = [a, a];
    for (let n = 1; n < 100; n++) {
      term *= (-a * a) / n;
      sum += term / (2 * n + 1);
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction));
}

interface Case {
  readonly op: string;
  readonly exact: (x: number) => number;
  readonly inputs: readonly Float32Array[];
  /** Largest error, relative to the result. */
  readonly relative?: number;
  /** Largest error, relative to 1. */
  readonly absolute?: number;
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const cases: readonly Case[] = [
  { op: 'Exp', exact: Math.exp, inputs: [spread(-87, 88), magnitudes(-9, 1)], relative: 2e-7 },
  { op: 'Log', exact: Math.log, inputs: [spread(0.3, 3), magnitudes(-44, 38, [1])], relative: 2e-7 },
  { op: 'Tanh', exact: Math.tanh, inputs: [spread(-10, 10), magnitudes(-30, 1)], relative: 6e-7 },
  { op: 'Sigmoid', exact: sigmoid, inputs: [spread(-80, 20), magnitudes(-9, 1)], relative: 3e-7 },
  { op: 'Erf', exact: erf, inputs: [spread(-5, 5), magnitudes(-9, 0)], relative: 1e-6 },
  {
    op: 'Softplus',
    exact: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
    inputs: [spread(-80, 80), magnitudes(-9, 1)],
    relative: 4e-7,
  },
  {
    op: 'Elu',
    exact: (x) => (x > 0 ? x : Math.expm1(x)),
    inputs: [spread(-20, 5), magnitudes(-9, 1)],
    relative: 9e-7,
  },
  { op: 'Sin', exact: Math.sin, inputs: [spread(-10, 10), magnitudes(0, 38)], absolute: 2e-7 },
  { op: 'Sin', exact: Math.sin, inputs: [magnitudes(-9, 0)], relative: 2e-7 },
  { op: 'Cos', exact: Math.cos, inputs: [spread(-10, 10), magnitudes(-9, 38)], absolute: 2e-7 },
];

describe('functions of generated code', () => {
  it.each(cases)('$op has an error below $relative $absolute', async ({ op, exact, inputs, relative, absolute }) => {
    for (const x of inputs) {
      const got = await computed(op, x);
      let worst = 0;
      let at = 0;
      x.forEach((entry, i) => {
        const y = exact(entry);
        const error = Math.abs(got[i]! - y) / (absolute === undefined ? Math.abs(y) || 1 : 1);
        if (!(error <= worst)) [worst, at] = [error, entry];
      });
      expect(worst, `at ${at}`).toBeLessThan((relative ?? absolute)!);
    }
  });

  it('take special numbers as JavaScript does', async () => {
    const x = Float32Array.of(Number.NaN, Infinity, -Infinity, 0, -1e-30, 1e-30, 200, -200);
    const expected: Readonly<Record<string, (x: number) => number>> = { Exp: Math.exp, Log: Math.log, Tanh: Math.tanh };
    for (const [op, f] of Object.entries(expected)) {
      const got = await computed(op, x);
      const close = Array.from(x, (entry, i) => {
        const y = Math.fround(f(entry));
        return Object.is(got[i], y) || Math.abs(got[i]! - y) <= 3e-7 * Math.abs(y);
      });
      expect(close, op).toEqual(Array(x.length).fill(true));
    }
  });
});
