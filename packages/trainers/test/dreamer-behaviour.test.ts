import { readFileSync } from 'node:fs';
import { tf } from '@coplay/tensor';
import { categoricalEntropy, twoHotBins, twoHotMean } from '@coplay/tensor/distributions';
import {
  arrivalReturns,
  criticLoss,
  imaginedWeights,
  policyLoss,
  replayReturns,
  trackReturns,
} from '@coplay/trainers/losses';
import { describe, expect, it } from 'vitest';
import { differences, floats, loadableMachines, onMachine } from '../../../test/machines';

// Inputs and outputs of DreamerV3's published modules, run once in float32.
const golden = JSON.parse(readFileSync(new URL('./data/dreamer-golden.json', import.meta.url), 'utf8'));

const numbers = (nested: unknown): number[] => (nested as unknown[]).flat(9).map(Number);
const oneHot = (indices: readonly number[], classes: number) =>
  indices.flatMap((hot) => Array.from({ length: classes }, (_, i) => Number(i === hot)));

describe.each(await loadableMachines())("DreamerV3's behaviour, golden values, on $label", (machine) => {
  it('lambda-returns and weights by hand-made terms', async () => {
    const terms = {
      r: floats([9, 1, 2, 3, 4], [1, 5]),
      v: floats([0.5, 1, 1.5, 2, 2.5], [1, 5]),
      c: floats([1, 1, 0.9, 0, 1], [1, 5]),
    };
    const gamma = 1 - 1 / 333;
    const out = await onMachine(
      machine,
      (_, { r, v, c }) => {
        const of = (discounts: tf.Tensor, traces: tf.Tensor | number) =>
          arrivalReturns({ rewards: r, values: v, discounts, traces } as never);
        const cut = tf.tensor2d([0.95, 0.95, 0, 0.95, 0.95], [1, 5]);
        return {
          plain: of(c, 0.95),
          discounted: of(tf.mul(c, gamma), 0.95),
          cut: of(tf.fill([1, 5], gamma), cut),
          far: of(tf.fill([1, 5], 0.99), 1),
          near: of(tf.fill([1, 5], 0.99), 0),
          nearEnd: of(tf.mul(c, 0.99), 0),
          farEnd: of(tf.mul(c, 0.99), 1),
          weights: imaginedWeights(c as tf.Tensor2D),
        };
      },
      {},
      terms,
    );
    const expected = {
      plain: [5.4508743, 4.6324997, 3, 6.5],
      discounted: [5.4300218, 4.6245947, 3, 6.4924927],
      cut: [4.3605986, 3.4954956, 9.2490454, 6.4924927],
      far: [12.2029858, 11.3161469, 9.4102497, 6.4749999],
      near: [1.99, 3.485, 4.98, 6.475],
      nearEnd: [1.99, 3.3365, 3, 6.475], // 2 + 0.99 x 0.9 x 1.5 = 3.3365
      farEnd: [5.626, 4.673, 3, 6.475],
      weights: [1, 1, 0.9, 0, 0],
    };
    for (const [name, values] of Object.entries(expected))
      expect(differences(out[name].data, values), name).toEqual([]);
  });

  it('percentiles of returns, tracked', async () => {
    // 5 % and 95 % of [0, 1, 2, 10] are 0.15 and 8.8; of 0, 1, ..., 100 they're 5 and 95.
    const out = await onMachine(
      machine,
      (_, { few, many }) => {
        const start = { low: tf.scalar(0), high: tf.scalar(0) };
        const whole = trackReturns(start, few, { rate: 1 });
        const steps = [trackReturns(start, many)];
        for (let i = 0; i < 2; i++) steps.push(trackReturns(steps[i], many));
        const rows = steps.map(({ low, high, scale }) => tf.stack([low, high, scale]));
        return {
          whole: tf.stack([whole.low, whole.high]),
          steps: tf.stack(rows),
          single: trackReturns(start, tf.scalar(7), { rate: 1 }).low,
        };
      },
      {},
      { few: floats([10, 0, 2, 1]), many: floats(Array.from({ length: 101 }, (_, i) => (i * 37) % 101)) },
    );
    expect(differences(out.whole.data, [0.15, 8.8])).toEqual([]);
    expect(differences(out.single.data, [7])).toEqual([]);
    const tracked = [0.05, 0.95, 1, 0.0995, 1.8905, 1.791, 0.148505, 2.821595, 2.67309];
    expect(differences(out.steps.data, tracked)).toEqual([]);
  });

  it('the losses of actor and critic on imagined steps', async () => {
    const { val, slowval, policy_logits, actions, rew, con, ret, policy_loss, value_loss } = golden.imag_loss;
    const bins = twoHotBins(255);
    const out = await onMachine(
      machine,
      (_, { rewards, discounts, logits, taken }) => {
        const first = <T extends tf.Tensor>(x: T) => tf.slice(x, 0, [2, 3, ...x.shape.slice(2)]) as T;
        const valueLogits = logitsAround(2, 4, Math.sin);
        const values = twoHotMean(valueLogits, bins) as tf.Tensor2D;
        const slowValues = twoHotMean(logitsAround(2, 4, Math.cos), bins) as tf.Tensor2D;
        const returns = arrivalReturns({ rewards, discounts, values, traces: 0.95 } as never);
        const { scale } = trackReturns({ low: tf.scalar(0), high: tf.scalar(0) }, returns);
        const logProbs = tf.logSoftmax(logits);
        const weights = first(imaginedWeights(discounts as tf.Tensor2D));
        const terms = {
          logProbs: first(tf.sum(tf.mul(logProbs, taken), -1)),
          entropies: first(categoricalEntropy(logProbs, tf.onesLike(logProbs))),
          advantages: tf.div(tf.sub(returns, first(values)), scale),
          weights,
        };
        const critic = { logits: first(valueLogits), returns, slowValues: first(slowValues), weights };
        return { values, slowValues, returns, policy: policyLoss(terms, 3e-4), value: criticLoss(critic, bins) };
      },
      {},
      {
        rewards: floats(numbers(rew), [2, 4]),
        discounts: floats(numbers(con), [2, 4]),
        logits: floats(numbers(policy_logits), [2, 4, 3]),
        taken: floats(oneHot(numbers(actions), 3), [2, 4, 3]),
      },
    );
    expect(differences(out.values.data, numbers(val))).toEqual([]);
    expect(differences(out.slowValues.data, numbers(slowval))).toEqual([]);
    expect(differences(out.returns.data, numbers(ret))).toEqual([]);
    expect(differences(out.policy.data, numbers(policy_loss))).toEqual([]);
    expect(differences(out.value.data, numbers(value_loss), 1e-3)).toEqual([]);
  });

  it('the loss of the critic on replayed steps', async () => {
    const { last, term, rew, boot, ret, repval_loss } = golden.repl_loss;
    const bins = twoHotBins(255);
    const out = await onMachine(
      machine,
      (_, { rewards, isTerminal, isLast, imagined }) => {
        const terms = { rewards, isTerminal, isLast, imagined } as never;
        const returns = replayReturns(terms, 1 - 1 / 333, 0.95);
        const first = (x: tf.Tensor) => tf.slice(x, 0, [2, 3, ...x.shape.slice(2)]);
        const critic = {
          logits: first(logitsAround(2, 4, Math.sin)),
          returns,
          slowValues: first(twoHotMean(logitsAround(2, 4, Math.cos), bins)),
          weights: first(tf.sub(1, isLast)),
        };
        return { returns, loss: criticLoss(critic, bins) };
      },
      {},
      {
        rewards: floats(numbers(rew), [2, 4]),
        isTerminal: floats(numbers(term), [2, 4]),
        isLast: floats(numbers(last), [2, 4]),
        imagined: floats(numbers(boot), [2, 4]),
      },
    );
    expect(differences(out.returns.data, numbers(ret))).toEqual([]);
    expect(differences(out.loss.data, numbers(repval_loss), 1e-3)).toEqual([]);
  });
});

/** The file's rule for value logits: -20 |symlog(bin) - symlog(v)| with v = 2 f(T n + t). */
function logitsAround(rows: number, steps: number, f: (x: number) => number): tf.Tensor3D {
  const symlog = (x: number) => Math.sign(x) * Math.log1p(Math.abs(x));
  const bins = twoHotBins(255);
  const logits = Array.from({ length: rows * steps }, (_, k) =>
    [...bins].map((bin) => -20 * Math.abs(symlog(bin) - symlog(2 * f(k)))),
  );
  return tf.tensor3d(logits.flat(), [rows, steps, 255]);
}
