import { type ConstantData, constant, elements, type Value, type ValueSpec, type ValueType } from '../../graph';

const KINDS = { float32: Float32Array, int32: Int32Array, int64: Int32Array, bool: Uint8Array, uint8: Uint8Array };

/** Room for the numbers of a value. */
export function room(dtype: ValueType, size: number): ConstantData {
  return new KINDS[dtype](size);
}

/** A constant made entry by entry. */
export function filledBy({ shape, dtype }: ValueSpec, entry: (index: number) => number): Value {
  const data = room(dtype, elements({ shape, dtype }));
  for (let i = 0; i < data.length; i++) data[i] = entry(i);
  return constant(data, shape, dtype);
}

/** How many entries lie between neighbours along each axis. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides: number[] = Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

/**
 * Where to look in an operand for each entry of a result: `steps` are the operand's strides by axis of the result (0
 * where it is repeated), `start` its first entry.
 */
export function offsets(shape: readonly number[], steps: readonly number[], start = 0): Int32Array {
  const size = shape.reduce((product, d) => product * d, 1);
  const result = new Int32Array(size);
  const strides = stridesOf(shape);
  for (let i = 0; i < size; i++) {
    let offset = start;
    for (let axis = 0; axis < shape.length; axis++) {
      offset += (Math.floor(i / strides[axis]) % shape[axis]) * steps[axis];
    }
    result[i] = offset;
  }
  return result;
}

/** The operand's strides by axis of a shape that it is broadcast to. */
export function broadcastSteps(from: readonly number[], to: readonly number[]): number[] {
  const own = stridesOf(from);
  const lead = to.length - from.length;
  return to.map((_, axis) => (axis < lead || from[axis - lead] === 1 ? 0 : own[axis - lead]));
}
