import type { Generator, ObservationField } from '@coplay/core';
import { highOf, kindOf, sizeOf } from '@coplay/core/arrays';
import { drawIndex } from '@coplay/core/rows';
import { tf } from '@coplay/tensor';
import { bernoulliLoss, symexp, symlog } from '@coplay/tensor/distributions';

/** The logit by which a zero or one is expected to stay as it is before anything is learned: a chance of 0.98. */
export const STAYS = 4;
/** In imagination, chances of a zero or one closer than this to 0 or 1 are taken for 0 or 1. */
const CERTAIN = 0.05;

/** How a field is read, predicted and drawn. */
export interface FieldModel {
  readonly name: string;
  /** Numbers of one agent, as a network reads and predicts them. */
  readonly size: number;
  /** Of an image or planes [H, W, C]; undefined for fields that are read flat. */
  readonly image: readonly number[] | undefined;
  /** Numbers of the field [..., ...shape] as a network reads them, [N, size]. */
  read(x: tf.Tensor): tf.Tensor2D;
  /** Added to the network's outputs: a prediction that nothing changes. [N, size] to [N, size] */
  stay(read: tf.Tensor): tf.Tensor;
  /** [..., size] probabilities or expected numbers, from outputs */
  expect(output: tf.Tensor): tf.Tensor;
  /** [N] of outputs and the truth as it's read, both [N, size] */
  loss(output: tf.Tensor2D, read: tf.Tensor2D): tf.Tensor1D;
  /**
   * Numbers of one agent, from `size` expected ones at `from`, to `count` numbers at `to`; most probable ones without a
   * generator.
   */
  draw(
    expected: ArrayLike<number>,
    from: number,
    out: { [index: number]: number },
    to: number,
    generator?: Generator,
  ): void;
}

/** The model of a field, by its kind. */
export function fieldModel(name: string, field: ObservationField, tolerance: number): FieldModel {
  const kind = kindOf(field);
  if (kind === 'planes') return planesField(name, field);
  if (kind === 'one-hot' || kind === 'indices') return codesField(name, field);
  return numbersField(name, field, tolerance);
}

/** Zeros and ones, each by a logit. */
function planesField(name: string, { shape }: ObservationField): FieldModel {
  const size = sizeOf(shape);
  return {
    ...{ name, size, image: shape.length === 3 ? shape : undefined },
    read: (x) => tf.reshape(tf.cast(x, 'float32'), [-1, size]) as tf.Tensor2D,
    stay: (read) => tf.mul(STAYS, tf.sub(tf.mul(2, read), 1)),
    expect: (output) => tf.sigmoid(output),
    loss: (output, read) => tf.sum(bernoulliLoss(output, read), 1) as tf.Tensor1D,
    draw: (expected, from, out, to, generator) => {
      for (let i = 0; i < size; i++) out[to + i] = drawFlag(expected[from + i], generator);
    },
  };
}

/** 1 or 0: by a chance, or the more probable one without a generator. */
export function drawFlag(chance: number, generator: Generator | undefined): number {
  const isDrawn = generator && chance > CERTAIN && chance < 1 - CERTAIN;
  return chance > (isDrawn ? generator.uniform() : 0.5) ? 1 : 0;
}

/** Codes of some classes, each by logits: `indices`, or `one-hot` codes with "none" as the last class. */
function codesField(name: string, field: ObservationField): FieldModel {
  const isIndex = kindOf(field) === 'indices';
  const given = field.classes ?? field.shape.at(-1) ?? 1;
  const classes = isIndex ? given : given + 1;
  const codes = isIndex ? sizeOf(field.shape) : sizeOf(field.shape) / given;
  const size = codes * classes;
  const flat = (x: tf.Tensor) => tf.reshape(x, [-1, size]) as tf.Tensor2D;
  const apart = (x: tf.Tensor) => tf.reshape(x, [-1, classes]) as tf.Tensor2D;
  return {
    ...{ name, size, image: undefined },
    read: (x) => {
      if (isIndex) {
        const index = tf.reshape(tf.cast(x, 'int32'), [-1, 1]);
        return flat(tf.cast(tf.equal(index, tf.range(0, classes, 1, 'int32')), 'float32'));
      }
      const code = tf.reshape(tf.cast(x, 'float32'), [-1, given]);
      return flat(tf.concat([code, tf.sub(1, tf.sum(code, 1, true))], 1));
    },
    stay: (read) => tf.mul(STAYS, read),
    expect: (output) => tf.reshape(tf.softmax(apart(output)), output.shape),
    loss: (output, read) => {
      const surprise = tf.neg(tf.sum(tf.mul(tf.logSoftmax(apart(output)), apart(read)), 1));
      return tf.sum(tf.reshape(surprise, [-1, codes]), 1) as tf.Tensor1D;
    },
    draw: (expected, from, out, to, generator) => {
      for (let code = 0; code < codes; code++) {
        const chosen = drawClass(expected, from + code * classes, classes, generator);
        if (isIndex) out[to + code] = chosen;
        else for (let i = 0; i < given; i++) out[to + code * given + i] = i === chosen ? 1 : 0;
      }
    },
  };
}

function drawClass(chances: ArrayLike<number>, from: number, classes: number, generator?: Generator): number {
  let best = 0;
  for (let i = 1; i < classes; i++) if (chances[from + i] > chances[from + best]) best = i;
  return generator && chances[from + best] < 1 - CERTAIN ? drawIndex(chances, generator, from, classes) : best;
}

/** Numbers of a `vector` as symlog, or of an `image` as value / high; whole numbers are rounded. */
function numbersField(name: string, field: ObservationField, tolerance: number): FieldModel {
  const size = sizeOf(field.shape);
  const isImage = kindOf(field) === 'image';
  const high = isImage ? highOf(field) : 1;
  const isFloat = field.dtype === 'float32' || field.dtype === 'float64';
  const [least, most] = isImage ? [0, high] : (RANGES[field.dtype] ?? [-Infinity, Infinity]);
  return {
    ...{ name, size, image: isImage ? field.shape : undefined },
    read: (x) => {
      const flat = tf.reshape(tf.cast(x, 'float32'), [-1, size]);
      return (isImage ? tf.div(flat, high) : symlog(flat)) as tf.Tensor2D;
    },
    stay: (read) => read,
    expect: (output) => (isImage ? tf.mul(output, high) : symexp(output)),
    loss: (output, read) => {
      return tf.mul(0.5 / tolerance ** 2, tf.sum(tf.square(tf.sub(output, read)), 1)) as tf.Tensor1D;
    },
    draw: (expected, from, out, to) => {
      for (let i = 0; i < size; i++) {
        const value = Math.min(most, Math.max(least, expected[from + i]));
        out[to + i] = isFloat ? value : Math.round(value);
      }
    },
  };
}

/** The values of whole numbers. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
};

/** Whether a predicted number counts as the true one. */
export function isClose(field: ObservationField, predicted: number, truth: number, tolerance: number): boolean {
  const kind = kindOf(field);
  if (kind === 'image') return Math.abs(predicted - truth) <= tolerance * highOf(field);
  const log = (x: number) => Math.sign(x) * Math.log1p(Math.abs(x));
  return kind === 'vector' ? Math.abs(log(predicted) - log(truth)) <= tolerance : predicted === truth;
}
