import { type NamedArrays, ndarray } from '@coplay/core';
import { laProp, learningRate, sgd, useBackend } from '@coplay/tensor';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectNumbers } from './numbers';
import { loadableMachines, runOptimiser } from './optimise-run';

const vector = (...values: number[]) => ndarray(Float32Array.from(values));

describe.each(await loadableMachines())('laProp and adaptive clipping on $label', ({ backend, executor }) => {
  beforeEach(async () => {
    await useBackend(backend);
  });

  const run = (
    optimiser: ReturnType<typeof laProp>,
    initial: NamedArrays,
    gradients: NamedArrays[],
    rate: number | ((update: number) => number),
  ) => runOptimiser(optimiser, initial, gradients, rate, executor);

  it('laProp: two steps by hand', async () => {
    // t 1: v = 0.001 x 4 = 0.004, unbiased 4: u = 2 / 2 = 1; m = 0.1, unbiased 1: p = 1 - 0.1. t 2: v = 0.999 x 0.004 +
    // 0.001 x 1 = 0.004996, unbiased / 0.001999 = 2.49924962, root 1.58090152: u = -0.63255047;
    //      m = 0.9 x 0.1 - 0.063255047 = 0.026744953, unbiased / 0.19 = 0.14076291: p = 0.9 - 0.014076291.
    const { trace, slots } = await run(laProp(), { w: vector(1) }, [{ w: vector(2) }, { w: vector(-1) }], 0.1);
    expectNumbers(trace[0].values['w'], [0.9]);
    expectNumbers(trace[1].values['w'], [0.885923709]);
    expectNumbers([slots['firstMoment']!.data[0], slots['secondMoment']!.data[0]], [0.026744953, 0.004996]);
    expect(slots['step']).toEqual({ data: Float32Array.of(2), shape: [] });
  });

  it('laProp: parameters without gradients stay, tiny gradients move at the full rate', async () => {
    const { trace } = await run(laProp(), { w: vector(1, 1) }, [{ w: vector(0, 1e-12) }], 0.5);
    expectNumbers(trace[0].values['w'], [1, 0.5]);
  });

  it('laProp: weight decay is decoupled', async () => {
    const { trace } = await run(laProp({ weightDecay: 0.5 }), { w: vector(2) }, [{ w: vector(3) }], 0.1);
    expectNumbers(trace[0].values['w'], [2 * (1 - 0.05) - 0.1]);
  });

  it("DreamerV3's optimiser: values of its own code, and of the formulas in double precision", async () => {
    // Changes that DreamerV3's published optimiser makes (its chain of AGC, RMS scaling and momentum), run once in
    // float32.
    const official = [
      [-4e-5, 4e-5, -4e-5],
      [-4.81116e-5, -4.11322e-6, 1.07793e-5],
      [-3.03582e-5, -3.40363e-6, -6.73954e-7],
    ];
    const rows = [
      [0.1, -0.2, 0.05],
      [10, 5, -20],
      [0, 0.01, 0.3],
    ];
    const [rate, w] = [4e-5, [1, -2, 3]];
    const gradients = rows.map((row) => ({ w: vector(...row) }));
    const { trace } = await run(laProp({ adaptiveClip: 0.3 }), { w: vector(...w) }, gradients, rate);
    const reference = dreamerSteps(w, rows, rate);
    let before = w;
    for (const [t, { values }] of trace.entries()) {
      const change = values['w'].map((value, i) => value - before[i]);
      for (const i of [0, 1, 2]) {
        // float32 holds w near 2 to 4 to 2.4e-7, that's 0.6% of a change of 4e-5.
        expect(Math.abs(change[i] - official[t][i]), `step ${t}, number ${i}`).toBeLessThan(3e-7);
        expect(Math.abs(reference[t][i] - official[t][i])).toBeLessThan(1e-3 * Math.abs(official[t][i]));
      }
      before = values['w'];
    }
    expectNumbers(before, [0.99988157, -1.99996758, 2.99996996]);
  });

  it("DreamerV3's optimiser at a large rate, over several arrays, against the formulas", async () => {
    const [w, b] = [
      [1, -2, 3],
      [0, 0],
    ];
    const rows = [
      [0.1, -0.2, 0.05, 1, 2],
      [10, 5, -20, 0, -1e-3],
      [0, 0.01, 0.3, 0, 0],
    ];
    const gradients = rows.map((row) => ({
      w: ndarray(Float32Array.from(row.slice(0, 3)), [3, 1]),
      b: vector(...row.slice(3)),
    }));
    const initial = { w: ndarray(Float32Array.from(w), [3, 1]), b: vector(...b) };
    const { trace } = await run(laProp({ adaptiveClip: 0.3 }), initial, gradients, 0.01);
    const changes = [
      dreamerSteps(
        w,
        rows.map((row) => row.slice(0, 3)),
        0.01,
      ),
      dreamerSteps(
        b,
        rows.map((row) => row.slice(3)),
        0.01,
      ),
    ];
    const sum = (start: number[], steps: number[][]) =>
      start.map((value, i) => value + steps.reduce((s, step) => s + step[i], 0));
    expectNumbers(trace[2].values['w'], sum(w, changes[0]));
    expectNumbers(trace[2].values['b'], sum(b, changes[1]));
    expect(trace[1].norm).toBeCloseTo(Math.sqrt(525.000001), 4); // before clipping
  });

  it('adaptive clipping: each array by its own norm, at least 0.001', async () => {
    // |a| = 5, limit 0.5: (6, 8) of norm 10 shrinks by 20, (0.3, 0.4) stays; |b| counts as 0.001: limit 0.0001.
    const initial = { a: vector(3, 4), b: vector(0, 0), c: ndarray(Float32Array.of(-10), []) };
    const rows = [
      { a: vector(6, 8), b: vector(0, 2), c: ndarray(Float32Array.of(0.5), []) },
      { a: vector(0, 0), b: vector(0, 0), c: ndarray(Float32Array.of(0), []) },
    ];
    const { trace } = await run(sgd({ adaptiveClip: 0.1 }), initial, rows, 1);
    expectNumbers(trace[0].values['a'], [3 - 0.3, 4 - 0.4]);
    expectNumbers(trace[0].values['b'], [0, -0.0001], 8);
    expectNumbers(trace[0].values['c'], [-10.5]); // its limit is 1
    expect(trace[0].norm).toBeCloseTo(Math.sqrt(100 + 4 + 0.25), 4);
    expect([trace[1].values, trace[1].norm]).toEqual([trace[0].values, 0]); // no gradient: no step, no NaN
  });

  it('adaptive clipping comes before joint clipping', async () => {
    // |a| = 10, limit 5: 50 becomes 5; |b| = 10, 5 stays: norm 7.0710678, then 1 / (norm + 1e-6) each.
    const initial = { a: vector(10), b: vector(10) };
    const { trace } = await run(sgd({ adaptiveClip: 0.5, clipNorm: 1 }), initial, [{ a: vector(50), b: vector(5) }], 1);
    expectNumbers([...trace[0].values['a'], ...trace[0].values['b']], [10 - Math.SQRT1_2, 10 - Math.SQRT1_2], 5);
    expect(trace[0].norm).toBeCloseTo(Math.hypot(50, 5), 4);
  });

  it('takes a rate for each update', async () => {
    const rate = learningRate({ rate: 1, warmUp: 2 });
    const gradients = [1, 1, 1].map((value) => ({ w: vector(value) }));
    const { trace } = await run(sgd(), { w: vector(0) }, gradients, rate);
    expectNumbers(
      trace.map(({ values }) => values['w'][0]),
      [0, -0.5, -1.5],
    );
  });
});

/** The change of one array in each step, by the formulas with beta 0.9 and 0.999, epsilon 1e-20 and a clip of 0.3. */
function dreamerSteps(start: readonly number[], gradients: readonly number[][], rate: number): number[][] {
  const norm = (x: readonly number[]) => Math.hypot(...x);
  const [m, v, w] = [start.map(() => 0), start.map(() => 0), [...start]];
  return gradients.map((raw, step) => {
    const divisor = Math.max(1, norm(raw) / (0.3 * Math.max(1e-3, norm(w))));
    return raw.map((value, i) => {
      const g = value / divisor;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      m[i] = 0.9 * m[i] + (0.1 * g) / (Math.sqrt(v[i] / (1 - 0.999 ** (step + 1))) + 1e-20);
      const change = (-rate * m[i]) / (1 - 0.9 ** (step + 1));
      w[i] += change;
      return change;
    });
  });
}
