import { fail } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkCount } from '@coplay/core/checks';
import { checkTensor, type TensorRecord, tf } from '@coplay/tensor';
import { z } from 'zod';
import type { InputKinds, InputShapes } from '../inputs';

/**
 * One thing that is observed, and how it's read and reconstructed. Given to the networks as float32 (`discrete`:
 * int32).
 */
export type DreamerObservation =
  /** Numbers of any size: read as their symlog, reconstructed with squared error there. [N, size] */
  | { readonly kind: 'vector'; readonly size: number }
  /** One of some classes: a one-hot code, cross entropy. [N] */
  | { readonly kind: 'discrete'; readonly classes: number }
  /** Zeros and ones, mostly a grid: flattened, cross entropy of each. [N, ...shape], such as [N, H, W, C] */
  | { readonly kind: 'planes'; readonly shape: readonly number[] }
  /**
   * One-hot codes of `classes` numbers, behind one another along the last axis: flattened, cross entropy of each code.
   * [N, ...shape]
   */
  | { readonly kind: 'codes'; readonly shape: readonly number[]; readonly classes: number }
  /**
   * An image of values 0 to `high` (default 255): convolutions, squared error of value / high. [N, H, W, C], H and W
   * multiples of 16
   */
  | { readonly kind: 'image'; readonly shape: readonly number[]; readonly high?: number | undefined };

/** An agent's observations, by name. */
export type DreamerObservations = Readonly<Record<string, DreamerObservation>>;

const shapesSchema = z.record(z.string(), z.array(z.int().min(0)));
const kindsSchema = z.record(z.string(), z.looseObject({ kind: z.string() }));

/** The observations of an {@link InputShapes}. Where no kind is given, rank 3 becomes `planes`, all else `vector`. */
export function dreamerObservations(shapes: InputShapes, kinds: InputKinds = {}): DreamerObservations {
  checkArgument('dreamerObservations', 'shapes', shapesSchema, shapes);
  checkArgument('dreamerObservations', 'kinds', kindsSchema, kinds);
  const entries = Object.entries(shapes).map(([name, shape]): [string, DreamerObservation] => {
    const input = kinds[name] ?? { kind: shape.length === 3 ? 'planes' : 'vector' };
    return [name, input.kind === 'vector' ? { kind: 'vector', size: sizeOf(shape) } : { ...input, shape }];
  });
  return Object.fromEntries(entries);
}

/** The largest value of an image. */
export function highOfImage(observation: DreamerObservation): number {
  return (observation.kind === 'image' ? observation.high : undefined) ?? 255;
}

/** Names by kind, sorted: inputs of a perceptron, and images. */
export function sortedNames(observations: DreamerObservations): { readonly flat: string[]; readonly images: string[] } {
  const names = Object.keys(observations).sort();
  if (names.length === 0) fail('dreamerNets', 'at least one observation', 'none', 'Name the observations.');
  const isImage = (name: string) => observations[name].kind === 'image';
  return { flat: names.filter((name) => !isImage(name)), images: names.filter(isImage) };
}

/** Numbers of an observation once it's flattened (of `discrete`: its one-hot code). */
export function flatSizeOf(observation: DreamerObservation): number {
  if (observation.kind === 'vector') return observation.size;
  if (observation.kind === 'discrete') return observation.classes;
  return sizeOf(observation.shape);
}

/** The shape of an observation as a network of one's own reads or predicts it. */
export function shapeOf(observation: DreamerObservation): readonly number[] {
  return 'shape' in observation ? observation.shape : [flatSizeOf(observation)];
}

/** One-hot codes of whole numbers; -1 ("none") is all zeros. [...] int32 or float32 to [..., classes] */
export function oneHotCode(x: tf.Tensor, classes: number): tf.Tensor {
  checkTensor('oneHotCode', 'x', x);
  checkCount('oneHotCode', 'classes', classes, 1);
  return tf.cast(tf.equal(tf.cast(tf.expandDims(x, -1), 'int32'), tf.range(0, classes, 1, 'int32')), 'float32');
}

/** An observation out of a batch, refused where it's missing. */
export function observed(where: string, batch: TensorRecord, name: string): tf.Tensor {
  return batch[name] ?? fail(where, `the observation ${name}`, Object.keys(batch).join(', ') || 'none', 'Add it.');
}
