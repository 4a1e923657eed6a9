import { type NamedArrays, ndarray } from '@coplay/core';
import { adam, adamW, rmsProp, sgd, useBackend } from '@coplay/tensor';
import { beforeEach, describe, expect, it } from 'vitest';
import { torchOptimisers } from './fixtures/torch-optimisers';
import { loadableMachines, runOptimiser } from './optimise-run';

const cases = {
  adam: adam(),
  'adam clipped': adam({ beta1: 0.8, beta2: 0.99, epsilon: 1e-5, clipNorm: 0.5 }),
  adamW: adamW(),
  'adamW 0.1': adamW({ weightDecay: 0.1 }),
  sgd: sgd(),
  momentum: sgd({ momentum: 0.9 }),
  nesterov: sgd({ momentum: 0.9, nesterov: true, clipNorm: 2 }),
  rmsProp: rmsProp(),
  'rmsProp 0.9': rmsProp({ decay: 0.9, epsilon: 0.1, clipNorm: 1 }),
};

/** The gradients of which torch-optimisers.ts tells, in arrays of two shapes. */
const gradients: NamedArrays[] = Array.from({ length: 20 }, (_, step) => {
  const g = [0, 1, 2, 3].map((i) => Math.sin((step + 1) * (i + 1)) * 10 ** (i - 2));
  return { a: ndarray(Float32Array.from(g.slice(0, 2)), [2, 1]), b: ndarray(Float32Array.from(g.slice(2))) };
});

describe.each(await loadableMachines())("PyTorch's optimisers on $label", ({ backend, executor }) => {
  beforeEach(async () => {
    await useBackend(backend);
  });

  it.each(Object.keys(cases) as (keyof typeof cases)[])('%s', async (name) => {
    const initial = { a: ndarray(Float32Array.of(0.3, -0.2), [2, 1]), b: ndarray(Float32Array.of(0.5, 1.5)) };
    const { trace } = await runOptimiser(cases[name], initial, gradients, 0.01, executor);
    const after = (step: number) => [...trace[step - 1].values['a'], ...trace[step - 1].values['b']];
    [1, 2, 20].forEach((step, i) => {
      // To 1e-6, and 2e-6 after 20 roundings to float32; a step is 0.01 where the optimiser normalises, and 0.00004 or
      // more in sgd.
      for (const [j, value] of after(step).entries()) {
        expect(Math.abs(value - torchOptimisers[name][i][j]), `step ${step}, number ${j}`).toBeLessThan(
          step > 2 ? 2e-6 : 1e-6,
        );
      }
    });
    expect(trace[0].norm).toBeCloseTo(Math.hypot(...[0, 1, 2, 3].map((i) => Math.sin(i + 1) * 10 ** (i - 2))), 5);
  });
});
