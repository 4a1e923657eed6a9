import { type NamedArrays, ndarray } from '@coplay/core';
import { adam, adamW, laProp, type Optimiser, rmsProp, sgd, tf, useBackend } from '@coplay/tensor';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectNumbers } from './numbers';
import { loadableMachines, runOptimiser } from './optimise-run';

const vector = (...values: number[]) => ndarray(Float32Array.from(values));

describe.each(await loadableMachines())('optimisers on $label', ({ backend, executor }) => {
  beforeEach(async () => {
    await useBackend(backend);
  });

  const run = (optimiser: Optimiser, initial: NamedArrays, gradients: NamedArrays[], learningRate: number) =>
    runOptimiser(optimiser, initial, gradients, learningRate, executor);

  it('adam: two steps by hand', async () => {
    // t 1: m = 0.05, v = 0.00025; unbiased 0.5 and 0.25: p = 1 - 0.1 x 0.5 / 0.5 = 0.9. t 2: m = 0.9 x 0.05 - 0.1 =
    // -0.055, v = 0.999 x 0.00025 + 0.001 = 0.00124975; unbiased -0.055 / 0.19 = -0.28947368 and
    //      0.00124975 / 0.001999 = 0.62518759, root 0.79068805: p = 0.9 + 0.1 x 0.28947368 / 0.79068805 = 0.93661036.
    const { trace, slots } = await run(adam(), { w: vector(1) }, [{ w: vector(0.5) }, { w: vector(-1) }], 0.1);
    expectNumbers(trace[0].values['w'], [0.9]);
    expectNumbers(trace[1].values['w'], [0.93661036]);
    expectNumbers([slots['firstMoment']!.data[0], slots['secondMoment']!.data[0] * 1000], [-0.055, 1.24975]);
    expect(slots['step']).toEqual({ data: Float32Array.of(2), shape: [] });
  });

  it("adam: PyTorch's formula in double precision, over 50 steps and several arrays", async () => {
    const [beta1, beta2, epsilon, decay, rate] = [0.8, 0.99, 1e-5, 0.1, 0.01];
    const p = [0.3, -0.2, 0.5, 1.5];
    const [m, v] = [
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ];
    const gradients: NamedArrays[] = [];
    for (let t = 1; t <= 50; t++) {
      const g = p.map((_, i) => Math.fround(Math.sin(t * (i + 1)) * 10 ** (i - 2)));
      gradients.push({ a: ndarray(Float32Array.from(g.slice(0, 2)), [2, 1]), b: vector(...g.slice(2)) });
      for (let i = 0; i < 4; i++) {
        p[i] -= rate * decay * p[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g[i];
        v[i] = beta2 * v[i] + (1 - beta2) * g[i] ** 2;
        const denominator = Math.sqrt(v[i]) / Math.sqrt(1 - beta2 ** t) + epsilon;
        p[i] -= ((rate / (1 - beta1 ** t)) * m[i]) / denominator;
      }
    }
    const initial = { a: ndarray(Float32Array.of(0.3, -0.2), [2, 1]), b: vector(0.5, 1.5) };
    const { trace } = await run(adam({ beta1, beta2, epsilon, weightDecay: decay }), initial, gradients, rate);
    const { a, b } = trace[49].values;
    expectNumbers([...a, ...b], p, 5);
  });

  it('adam with beta1 = beta2 = 0 moves by the sign of the gradient', async () => {
    const { trace } = await run(adam({ beta1: 0, beta2: 0 }), { w: vector(1, 1) }, [{ w: vector(5, -0.01) }], 0.25);
    expectNumbers(trace[0].values['w'], [0.75, 1.25], 5);
  });

  it('clips jointly over all arrays, and reports the norm before that', async () => {
    // |(3, 4)| = 5 over two arrays; scale 1 / (5 + 1e-6): changes 0.6 and 0.8.
    const gradients = [{ a: vector(3), b: vector(4) }];
    const initial = { a: vector(0), b: vector(0) };
    const clipped = await run(sgd({ clipNorm: 1 }), initial, gradients, 1);
    expect(clipped.trace[0].norm).toBeCloseTo(5, 5);
    expectNumbers([...clipped.trace[0].values['a'], ...clipped.trace[0].values['b']], [-0.6, -0.8]);
    const within = await run(sgd({ clipNorm: 10 }), initial, gradients, 1);
    expectNumbers([...within.trace[0].values['a'], ...within.trace[0].values['b']], [-3, -4]);
    // Adam's moments are those of the clipped gradient: 0.1 x 0.6 and 0.001 x 0.36.
    const { slots } = await run(adam({ clipNorm: 1 }), initial, gradients, 1);
    expectNumbers([slots['firstMoment']!.data[0], slots['secondMoment']!.data[0] * 1000], [0.06, 0.36]);
  });

  it('sgd: with and without momentum', async () => {
    const gradients = [{ w: vector(1) }, { w: vector(1) }];
    expectNumbers((await run(sgd(), { w: vector(0) }, gradients, 0.1)).trace[1].values['w'], [-0.2]);
    // b: 1, then 0.5 + 1 = 1.5
    expectNumbers((await run(sgd({ momentum: 0.5 }), { w: vector(0) }, gradients, 0.1)).trace[1].values['w'], [-0.25]);
  });

  it('rmsProp: two steps by hand', async () => {
    // v = 0.1 x 4 = 0.4: p = -2 / sqrt(0.4) = -3.1622777; v = 0.9 x 0.4 + 0.1 = 0.46: p -= 1 / sqrt(0.46) = 1.4744196
    const { trace } = await run(
      rmsProp({ decay: 0.9, epsilon: 0 }),
      { w: vector(0) },
      [{ w: vector(2) }, { w: vector(1) }],
      1,
    );
    expectNumbers(trace[0].values['w'], [-3.1622777], 5);
    expectNumbers(trace[1].values['w'], [-4.6366973], 5);
  });

  it('takes a number as learning rate too', () => {
    tf.tidy(() => {
      const next = sgd().update({ w: tf.tensor1d([2]) }, {}, { w: tf.tensor1d([1]) }, 0.5);
      expect([...next.params['w']!.dataSync()]).toEqual([0]);
    });
  });

  it('refuses gradients of other names or shapes', () => {
    tf.tidy(() => {
      const params = { w: tf.zeros([2]) };
      const slots = { firstMoment: tf.zeros([2]), secondMoment: tf.zeros([2]), step: tf.scalar(0) };
      expect(() => adam().update({}, slots, params, 1)).toThrow(/a gradient of shape \[2\] for w, got none/);
      expect(() => adam().update({ w: tf.zeros([3]) }, slots, params, 1)).toThrow(/for w, got \[3\]/);
      expect(() => sgd().update({ w: tf.zeros([2]), v: tf.zeros([2]) }, {}, params, 1)).toThrow(/also v/);
    });
  });
});

describe('options', () => {
  it.each([
    [() => adam({ beta1: 1 }), /adam: option beta1/],
    [() => adam({ epsilon: -1 }), /adam: option epsilon/],
    [() => adam({ weigthDecay: 0 } as object), /adam.*unknown option "weigthDecay"/],
    [() => adamW({ weightDecay: -1 }), /adamW: option weightDecay/],
    [() => laProp({ adaptiveClip: 0 }), /laProp: option adaptiveClip/],
    [() => sgd({ nesterov: true }), /sgd: expected momentum with nesterov, got 0/],
    [() => sgd({ clipNorm: 0 }), /sgd: option clipNorm/],
    [() => rmsProp({ decay: Number.NaN }), /rmsProp: option decay/],
  ])('refuses %s', (make, message) => {
    expect(make).toThrow(message);
  });
});
