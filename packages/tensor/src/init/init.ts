import { fail, type Generator, type NDArray, ndarray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkGenerator, checkNumber } from '@coplay/core/checks';
import { z } from 'zod';

// Initial weights, drawn on the host from our own generator: a seed gives the same bits on every backend.
// Kernels are [in, out] (dense) or [height, width, in, out] (convolutions); the last dimension counts the outputs.

const shapeSchema = z.array(z.int().min(0));

/** Zeros, as for biases. */
export function zeros(shape: readonly number[]): NDArray<Float32Array> {
  checkShape('zeros', shape);
  return ndarray(new Float32Array(sizeOf(shape)), shape);
}

/**
 * A random matrix with orthonormal rows or columns (the shorter dimension), times `gain` (Saxe et al. 2014). All
 * dimensions but the last are taken together as rows, as for a convolution's kernel.
 *
 * @param shape  at least two dimensions
 * @param gain   usually sqrt(2) for hidden layers, 0.01 for a policy's head, 1 for a value's
 */
export function orthogonal(generator: Generator, shape: readonly number[], gain = 1): NDArray<Float32Array> {
  checkGenerator('orthogonal', generator);
  checkKernel('orthogonal', shape);
  checkNumber('orthogonal', 'gain', gain);
  const columns = shape[shape.length - 1];
  const rows = sizeOf(shape) / columns;
  const isWide = rows < columns;
  const count = Math.min(rows, columns);
  const basis = orthonormalVectors(generator, count, Math.max(rows, columns));
  const data = new Float32Array(rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) data[r * columns + c] = gain * (isWide ? basis[r][c] : basis[c][r]);
  }
  return ndarray(data, shape);
}

/** Uniform in +-sqrt(6 / (fanIn + fanOut)) (Glorot and Bengio 2010). */
export function glorotUniform(generator: Generator, shape: readonly number[]): NDArray<Float32Array> {
  checkGenerator('glorotUniform', generator);
  checkKernel('glorotUniform', shape);
  const [inputs, outputs] = shape.slice(-2);
  const receptiveField = sizeOf(shape) / (inputs * outputs);
  const limit = Math.sqrt(6 / (receptiveField * (inputs + outputs)));
  return fill(shape, () => limit * (2 * generator.uniform() - 1));
}

/** Normal with mean 0; samples beyond two standard deviations are drawn again. `stddev` is that before the cut. */
export function truncatedNormal(generator: Generator, shape: readonly number[], stddev: number): NDArray<Float32Array> {
  checkGenerator('truncatedNormal', generator);
  checkShape('truncatedNormal', shape);
  checkNumber('truncatedNormal', 'stddev', stddev, { min: 0 });
  return fill(shape, () => {
    let sample = generator.normal();
    while (Math.abs(sample) > 2) sample = generator.normal();
    return stddev * sample;
  });
}

function fill(shape: readonly number[], draw: () => number): NDArray<Float32Array> {
  const data = new Float32Array(sizeOf(shape));
  for (let i = 0; i < data.length; i++) data[i] = draw();
  return ndarray(data, shape);
}

/**
 * `count` orthonormal vectors of `length`, uniformly distributed: Gram-Schmidt on normal vectors, each projected twice
 * for accuracy.
 */
function orthonormalVectors(generator: Generator, count: number, length: number): Float64Array[] {
  const basis: Float64Array[] = [];
  while (basis.length < count) {
    const vector = Float64Array.from({ length }, () => generator.normal());
    for (let pass = 0; pass < 2; pass++) for (const unit of basis) removeComponent(vector, unit);
    const norm = Math.sqrt(dot(vector, vector));
    if (norm > 1e-6) basis.push(vector.map((value) => value / norm));
  }
  return basis;
}

function removeComponent(vector: Float64Array, unit: Float64Array): void {
  const component = dot(vector, unit);
  for (let i = 0; i < vector.length; i++) vector[i] -= component * unit[i];
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

function checkShape(where: string, shape: readonly number[]): void {
  checkArgument(where, 'shape', shapeSchema, shape);
  const size = sizeOf(shape);
  if (size < 2 ** 31) return;
  fail(`${where}: shape`, 'less than 2^31 elements', `[${shape}] with ${size}`, 'Give a smaller shape.');
}

function checkKernel(where: string, shape: readonly number[]): void {
  checkShape(where, shape);
  const valid = shape.length >= 2 && shape.every((size) => Number.isInteger(size) && size > 0);
  if (!valid)
    fail(where, 'a shape of at least two positive dimensions', `[${shape.join(', ')}]`, 'Use zeros for biases.');
}
