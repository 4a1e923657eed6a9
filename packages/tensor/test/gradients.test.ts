import { stopGradient, tf, useBackend, valueAndGradients } from '@coplay/tensor';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadableBackends } from './backends';

const numbers = (x: tf.Tensor | undefined): number[] => [...x!.dataSync()];

describe.each(await loadableBackends())('gradients on %s', (backend) => {
  beforeEach(async () => {
    await useBackend(backend);
    tf.engine().startScope();
  });
  afterEach(() => tf.engine().endScope());

  it('returns the loss, the gradient of each parameter, and metrics made inside', () => {
    // loss = sum(w^2) + 3 b = 14 + 15; d/dw = 2 w, d/db = 3
    const params = { w: tf.tensor1d([1, 2, 3]), b: tf.scalar(5) };
    const { loss, gradients, metrics } = valueAndGradients(({ w, b }) => {
      const squares = tf.sum(tf.square(w));
      return { loss: tf.add(squares, tf.mul(b, 3)) as tf.Scalar, metrics: { squares, b } };
    }, params);
    expect(numbers(loss)).toEqual([29]);
    expect(numbers(gradients['w'])).toEqual([2, 4, 6]);
    expect(numbers(gradients['b'])).toEqual([3]);
    expect(numbers(metrics['squares'])).toEqual([14]);
    expect(numbers(metrics['b'])).toEqual([5]);
    expect(numbers(params.b)).toEqual([5]); // a parameter among the metrics isn't disposed with them
  });

  it('gives zeros where the loss does not depend on a parameter', () => {
    const params = { used: tf.scalar(2), unused: tf.ones([2, 2]) };
    const { gradients } = valueAndGradients(({ used }) => ({ loss: tf.square(used!) as tf.Scalar }), params);
    expect(numbers(gradients['used'])).toEqual([4]);
    expect(gradients['unused']!.shape).toEqual([2, 2]);
    expect(numbers(gradients['unused'])).toEqual([0, 0, 0, 0]);
  });

  it('holds nothing when the caller lets go, nor when the loss throws', () => {
    const params = { w: tf.ones([3]) };
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      valueAndGradients(({ w }) => ({ loss: tf.sum(tf.exp(w!)) as tf.Scalar, metrics: { w: w! } }), params);
    });
    expect(tf.memory().numTensors).toBe(before);
    const failing = () =>
      tf.tidy(() => {
        valueAndGradients(({ w }) => {
          tf.exp(tf.exp(w!));
          throw new Error('no loss today');
        }, params);
      });
    expect(failing).toThrow('no loss today');
    expect(tf.memory().numTensors).toBe(before);
  });

  it('goes through unstack, also where there is one slice only', () => {
    // sum of (t + 1) x_t over t: the gradient is t + 1
    const f = (x: tf.Tensor): tf.Tensor => tf.addN(tf.unstack(x, 1).map((slice, t) => tf.mul(tf.sum(slice), t + 1)));
    expect(numbers(tf.grad(f)(tf.ones([2, 3])))).toEqual([1, 2, 3, 1, 2, 3]);
    expect(numbers(tf.grad(f)(tf.ones([2, 1])))).toEqual([1, 1]);
  });

  it('stopGradient passes values but no gradient', () => {
    // y = x * stop(x^2): the value is x^3, the gradient is x^2 alone
    const x = tf.tensor1d([2, -3]);
    const f = (t: tf.Tensor): tf.Tensor => tf.mul(t, stopGradient(tf.square(t)));
    expect(numbers(f(x))).toEqual([8, -27]);
    expect(numbers(tf.grad(f)(x))).toEqual([4, 9]);
  });

  it('stopGradient does not differentiate what led to it', () => {
    // TopK has no gradient: without stopGradient this throws
    const x = tf.tensor1d([2, 5, 3]);
    const f = (t: tf.Tensor): tf.Tensor => tf.mul(tf.sum(t), stopGradient(tf.topk(t, 1).values));
    expect(numbers(tf.grad(f)(x))).toEqual([5, 5, 5]);
  });
});
