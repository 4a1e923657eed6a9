import type { ConstantData, ValueType } from '../graph';

/** Where a buffer lies, and who fills it. */
export type Place =
  /** Filled once, when the session is made. */
  | 'constant'
  /** Filled by the caller in each call. */
  | 'input'
  /** Made by a step. */
  | 'scratch';

/**
 * Memory for the numbers of one value, four bytes each: float32, int32 (also for int64), and for bool all bits or none.
 * Buffers are followed by room for four numbers, so that vectors may reach over the end.
 */
export interface Buffer {
  readonly place: Place;
  /** Numbers. */
  readonly size: number;
  readonly data?: ConstantData;
  readonly dtype: ValueType;
}

/** One axis: `size` entries, each `stride` numbers behind the one before. */
export interface Dim {
  readonly size: number;
  readonly stride: number;
}

/** A value as part of a buffer: a reshaped, cut, repeated or transposed value needs no copy. */
export interface View {
  readonly buffer: Buffer;
  /** The first number. */
  readonly offset: number;
  /** An axis of the value each. */
  readonly dims: readonly Dim[];
}

/** All of a buffer, in order. */
export function whole(buffer: Buffer, shape: readonly number[]): View {
  return { buffer, offset: 0, dims: inOrder(shape) };
}

/** Axes of numbers that lie in order. */
export function inOrder(shape: readonly number[]): Dim[] {
  const dims: Dim[] = [];
  let stride = 1;
  for (const size of [...shape].reverse()) {
    dims.unshift({ size, stride });
    stride *= size;
  }
  return dims;
}

export function countOf(dims: readonly Dim[]): number {
  return dims.reduce((product, { size }) => product * size, 1);
}

/** Whether the numbers lie in order, without gaps. */
export function isInOrder({ dims }: View): boolean {
  let stride = 1;
  for (let axis = dims.length - 1; axis >= 0; axis--) {
    if (dims[axis].size !== 1 && dims[axis].stride !== stride) return false;
    stride *= dims[axis].size;
  }
  return true;
}

/** A view with its axes cut and joined to other sizes; undefined where strides don't allow it. */
export function reshaped(view: View, shape: readonly number[]): View | undefined {
  const merged = joined([view.dims])[0];
  const dims: Dim[] = [];
  let [axis, left] = [merged.length - 1, merged.at(-1)?.size ?? 1];
  let stride = merged.at(-1)?.stride ?? 1;
  for (const size of [...shape].reverse()) {
    if (size === 1) {
      dims.unshift({ size, stride: 0 });
      continue;
    }
    if (left === 1 && axis > 0) {
      axis--;
      left = merged[axis].size;
      stride = merged[axis].stride;
    }
    if (left % size !== 0) return undefined;
    dims.unshift({ size, stride });
    left /= size;
    stride *= size;
  }
  return { ...view, dims };
}

/** The strides of a value that is broadcast to a shape. */
export function broadcast(view: View, shape: readonly number[]): View {
  const lead = shape.length - view.dims.length;
  const dims = shape.map((size, axis) => {
    const own = axis < lead ? undefined : view.dims[axis - lead];
    return { size, stride: own && own.size !== 1 ? own.stride : 0 };
  });
  return { ...view, dims };
}

/**
 * Several lists of axes of the same sizes, with axes joined that all of them walk through as one; axes of size 1 are
 * left out.
 */
export function joined(lists: readonly (readonly Dim[])[]): Dim[][] {
  const result: Dim[][] = lists.map(() => []);
  const rank = lists[0].length;
  for (let axis = 0; axis < rank; axis++) {
    if (lists[0][axis].size === 1) continue;
    const continues =
      result[0].length > 0 &&
      lists.every((dims, i) => result[i].at(-1)!.stride === dims[axis].stride * dims[axis].size);
    lists.forEach((dims, i) => {
      const { size, stride } = dims[axis];
      if (!continues) result[i].push({ size, stride });
      else result[i][result[i].length - 1] = { size: result[i].at(-1)!.size * size, stride };
    });
  }
  return result;
}

/**
 * Axes cut so that their sizes, multiplied from the last, meet all of the given products; undefined where an axis can't
 * be cut there.
 *
 * @param cuts  increasing, each a divisor of the next
 */
export function refined(dims: readonly Dim[], cuts: readonly number[]): Dim[] | undefined {
  const result: Dim[] = [];
  let inner = 1;
  for (const { size, stride } of [...dims].reverse()) {
    const outer = inner * size;
    let [from, step] = [inner, stride];
    for (const cut of [...cuts.filter((one) => one > inner && one < outer), outer]) {
      if (cut % from !== 0) return undefined;
      result.unshift({ size: cut / from, stride: step });
      step *= cut / from;
      from = cut;
    }
    inner = outer;
  }
  return result.filter(({ size }) => size !== 1);
}

/** Part of a view: along one axis, `size` entries from `start` on. */
export function cut(view: View, axis: number, start: number, size: number): View {
  const dims = view.dims.map((dim, i): Dim => (i === axis ? { ...dim, size } : dim));
  return { ...view, offset: view.offset + start * view.dims[axis].stride, dims };
}
