import { readFileSync } from 'node:fs';
import type { NamedArrays } from '@coplay/core';
import { rssm } from '@coplay/models/dreamer';
import { rmsNorm } from '@coplay/models/layers';
import { tf } from '@coplay/tensor';
import { categoricalEntropy, latentLosses, unimixLog } from '@coplay/tensor/distributions';
import { describe, expect, it } from 'vitest';
import { differences, floats, loadableMachines, onMachine, wave } from '../../../test/machines';

// Inputs and outputs of DreamerV3's published modules, run once in float32.
const golden = JSON.parse(readFileSync(new URL('./data/dreamer-golden.json', import.meta.url), 'utf8'));

const numbers = (nested: unknown): number[] => (nested as unknown[]).flat(9).map(Number);
const oneHot = (indices: readonly number[], classes: number) =>
  indices.flatMap((hot) => Array.from({ length: classes }, (_, i) => Number(i === hot)));

const model = rssm({ deter: 16, hidden: 8, stoch: 2, classes: 4, blocks: 4, actions: 3, tokens: 5 });

/** The file's parameters under our names: a norm's scale is stored with the kernel that it follows. */
function goldenParams(): NamedArrays {
  const entries = Object.entries(golden.rssm.params as Record<string, { idx: number; shape: number[] }>);
  return Object.fromEntries(
    entries.map(([name, { idx, shape }]) => {
      const ours = name.replace('dyn/', '').replace('norm/scale', '/scale');
      return [ours, wave(shape, idx, name.endsWith('scale') ? 1 : 0)];
    }),
  );
}

describe.each(await loadableMachines())('DreamerV3, golden values, on $label', (machine) => {
  it('the parameters are those of the published modules', () => {
    const ours = Object.fromEntries(Object.entries(model.specs).map(([name, { shape }]) => [name, shape]));
    expect(ours).toEqual(Object.fromEntries(Object.entries(goldenParams()).map(([name, { shape }]) => [name, shape])));
  });

  it('RMSNorm', async () => {
    const { y } = await onMachine(
      machine,
      (_, { x }) => ({ y: rmsNorm(x, tf.ones([4])) }),
      {},
      { x: floats([1, 2, 3, 4]) },
    );
    expect(differences(y.data, [0.3651459, 0.7302918, 1.0954378, 1.4605837], 1e-6)).toEqual([]);
  });

  it('core, prior, posterior, divergence and entropy', async () => {
    const { inputs, core, prior_logit, post_logit, kl_post_prior, ent_post } = golden.rssm;
    const out = await onMachine(
      machine,
      (params, { deter, stoch, action, tokens }) => {
        const sequence = { tokens, actions: action, isFirst: tf.zeros([2, 1]) } as never;
        const { deter: h, logits } = model.observe(
          params,
          { deter, stoch } as never,
          sequence,
          tf.fill([2, 1, 2], 0.5),
        );
        const prior = model.prior(params, deter);
        const [q, p] = [tf.squeeze(logits, [1]), prior].map((x) => unimixLog(x, 0.01));
        return {
          h,
          logits,
          prior,
          kl: latentLosses(q, p, 0).dynamics,
          entropy: tf.sum(categoricalEntropy(q, tf.onesLike(q)), -1),
        };
      },
      goldenParams(),
      {
        deter: floats(numbers(inputs.deter), [2, 16]),
        stoch: floats(oneHot(numbers(inputs.stoch_idx), 4), [2, 2, 4]),
        action: floats(oneHot(inputs.action_idx, 3), [2, 1, 3]),
        tokens: floats(numbers(inputs.tokens), [2, 1, 5]),
      },
    );
    expect(differences(out.h.data, numbers(core))).toEqual([]);
    expect(differences(out.prior.data, numbers(prior_logit))).toEqual([]);
    expect(differences(out.logits.data, numbers(post_logit))).toEqual([]);
    expect(differences(out.kl.data, kl_post_prior)).toEqual([]);
    expect(differences(out.entropy.data, ent_post)).toEqual([]);
  });

  it('an imagined step uses the same core, and samples the prior', async () => {
    const { inputs, core } = golden.rssm;
    const params = goldenParams();
    const { h, z, expected } = await onMachine(
      machine,
      (given, { deter, stoch, action, noise }) => {
        const next = model.imagine(given, { deter, stoch } as never, action as tf.Tensor2D, noise as tf.Tensor2D);
        return { h: next.deter, z: next.stoch, expected: unimixLog(model.prior(given, next.deter), 0.01) };
      },
      params,
      {
        deter: floats(numbers(inputs.deter), [2, 16]),
        stoch: floats(oneHot(numbers(inputs.stoch_idx), 4), [2, 2, 4]),
        action: floats(oneHot(inputs.action_idx, 3), [2, 3]),
        noise: floats([0.1, 0.4, 0.6, 0.95], [2, 2]),
      },
    );
    expect(differences(h.data, numbers(core))).toEqual([]);
    [0.1, 0.4, 0.6, 0.95].forEach((u, row) => {
      const p = [...expected.data.slice(4 * row, 4 * row + 4)].map(Math.exp);
      const sums = p.map((_, i) => p.slice(0, i + 1).reduce((a, b) => a + b));
      const drawn = sums.findIndex((sum) => u < sum);
      expect([...z.data.slice(4 * row, 4 * row + 4)]).toEqual(oneHot([drawn], 4));
    });
  });
});
