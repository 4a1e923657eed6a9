import { tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { rmsNorm } from './rms-norm';

beforeAll(() => useBackend('cpu'));

const wave = (shape: number[], step: number) =>
  tf.tensor(
    Float32Array.from({ length: tf.util.sizeFromShape(shape) }, (_, i) => Math.sin(step * (i + 1))),
    shape,
  );

describe("rmsNorm's gradients", () => {
  it.each([
    ['over the last axis', [3, 4], [4], -1],
    ['over a block each, with a scale for each block', [2, 3, 4], [3, 4], -1],
    ['over two axes, with a scale repeated in between', [2, 3, 4], [2, 1, 4], [0, 2]],
  ])('are those of the single steps, %s', (_, shape, scaleShape, axes) => {
    const [x, scale, dy] = [wave(shape, 1.3), wave(scaleShape, 0.7), wave(shape, 2.1)];
    const spelled = (a: tf.Tensor, s: tf.Tensor) =>
      tf.mul(tf.div(a, tf.sqrt(tf.add(tf.mean(tf.square(a), axes, true), 1e-4))), s);
    const ours = tf.grads((a, s) => rmsNorm(a, s, axes))([x, scale], dy);
    const expected = tf.grads(spelled)([x, scale], dy);
    ours.forEach((gradient, i) => {
      expect(gradient.shape).toEqual(expected[i].shape);
      const apart = tf.max(tf.abs(tf.sub(gradient, expected[i]))).dataSync()[0];
      expect(apart).toBeLessThan(2e-6);
    });
  });
});
