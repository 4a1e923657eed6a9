import { elements, type Node, type Value } from '../../graph';
import { axisOf, integerOf } from '../../passes/patterns';
import type { Code, Local } from '../assembler';
import type { Lowering } from '../lowering';
import { type Step, Unsupported } from '../steps';
import type { View } from '../views';
import { copyInOrder, copyStep } from './copies';

/**
 * Leaves on the stack the place that an index in memory points to: negative ones count from the end. A place beyond the
 * `size` entries ends the call with an error.
 */
function pushPlace(code: Code, pointer: Local, offset: number, size: number): void {
  code.get(pointer);
  code.memory('i32.load', offset);
  const index = code.keep('i32');
  code.get(index);
  code.i32(size);
  code.op('i32.add');
  code.get(index);
  code.get(index);
  code.i32(0);
  code.op('i32.lt_s');
  code.op('select');
  code.tee(index);
  code.i32(size);
  code.op('i32.ge_u');
  code.when(() => code.op('unreachable'));
  code.get(index);
}

/** pointer + the number on the stack, `bytes` each. */
function atPlace(code: Code, pointer: Local, bytes: number): Local {
  code.i32(bytes);
  code.op('i32.mul');
  code.get(pointer);
  code.op('i32.add');
  return code.keep('i32');
}

/** Sizes before, at and behind an axis. */
function around(shape: readonly number[], axis: number) {
  const product = (sizes: readonly number[]) => sizes.reduce((all, size) => all * size, 1);
  return { outer: product(shape.slice(0, axis)), size: shape[axis], inner: product(shape.slice(axis + 1)) };
}

/** Slices of x along an axis, by indices. */
export function addGather(node: Node, lowering: Lowering): void {
  const [x, indices] = node.inputs as [Value, Value];
  const axis = integerOf(node, 'axis', 0);
  const { outer, size, inner } = around(x.shape, axis < 0 ? axis + x.shape.length : axis);
  const count = elements(indices);
  lowering.add({
    key: `gather ${outer} ${size} ${inner} ${count}`,
    reads: [lowering.packed(x), lowering.packed(indices)],
    writes: [lowering.room(node.outputs[0])],
    emit(code, [from, places, to]) {
      code.repeat(outer, 1, () => {
        code.repeat(4 * count, 4, (i) => {
          code.get(places);
          code.get(i);
          code.op('i32.add');
          const place = code.keep('i32');
          pushPlace(code, place, 0, size);
          copyInOrder(code, inner, atPlace(code, from, 4 * inner), to);
          code.advance(to, 4 * inner);
        });
        code.advance(from, 4 * size * inner);
      });
    },
  });
}

/** Slices of x by indices of its first axes, behind axes that go together. */
export function addGatherNd(node: Node, lowering: Lowering): void {
  const [x, indices] = node.inputs as [Value, Value];
  const shared = integerOf(node, 'batch_dims', 0);
  const depth = indices.shape.at(-1)!;
  const sizes = x.shape.slice(shared, shared + depth);
  const product = (all: readonly number[]) => all.reduce((found, size) => found * size, 1);
  const inner = product(x.shape.slice(shared + depth));
  const batch = product(x.shape.slice(0, shared));
  const count = product(indices.shape.slice(shared, -1));
  lowering.add({
    key: `gather nd ${batch} ${sizes} ${inner} ${count}`,
    reads: [lowering.packed(x), lowering.packed(indices)],
    writes: [lowering.room(node.outputs[0])],
    emit(code, [from, places, to]) {
      code.repeat(batch, 1, () => {
        code.repeat(count, 1, () => {
          copyInOrder(code, inner, atPlace(code, pushPlaces(code, places, sizes, from), 4 * inner), to);
          code.advance(places, 4 * depth);
          code.advance(to, 4 * inner);
        });
        code.advance(from, 4 * product(sizes) * inner);
      });
    },
  });
}

/** Leaves on the stack the place of a tuple of indices in axes of these sizes. Returns `pointer`. */
function pushPlaces(code: Code, places: Local, sizes: readonly number[], pointer: Local): Local {
  code.i32(0);
  sizes.forEach((size, i) => {
    code.i32(size);
    code.op('i32.mul');
    pushPlace(code, places, 4 * i, size);
    code.op('i32.add');
  });
  return pointer;
}

/** Numbers of x whose place along an axis is looked up; the other axes are those of the result. */
export function addGatherElements(node: Node, lowering: Lowering): void {
  const [x, indices] = node.inputs as [Value, Value];
  const axis = axisOf(node);
  const { outer, size, inner } = around(x.shape, axis);
  const count = sameButOn(axis, x, indices, node);
  lowering.add({
    key: `gather elements ${outer} ${size} ${inner} ${count}`,
    reads: [lowering.packed(x), lowering.packed(indices)],
    writes: [lowering.room(node.outputs[0])],
    emit(code, [from, places, to]) {
      eachElement(code, { outer, size, inner, count }, places, from, (place) => {
        code.get(to);
        code.get(place);
        code.memory('i32.load');
        code.memory('i32.store');
        code.advance(to, 4);
      });
    },
  });
}

function sameButOn(axis: number, x: Value, indices: Value, node: Node): number {
  const isSame = indices.shape.every((size, i) => i === axis || size === x.shape[i]);
  if (!isSame) throw new Unsupported(`${node.op} of parts of rows`);
  return indices.shape[axis];
}

interface Around {
  readonly outer: number;
  readonly size: number;
  readonly inner: number;
  /** Indices along the axis. */
  readonly count: number;
}

/** Calls `body` with the address in `target` that each index points to; moves both pointers. */
function eachElement(
  code: Code,
  { outer, size, inner, count }: Around,
  places: Local,
  target: Local,
  body: (place: Local) => void,
): void {
  code.repeat(outer, 1, () => {
    code.repeat(count, 1, () => {
      code.repeat(4 * inner, 4, (i) => {
        pushPlace(code, places, 0, size);
        const row = atPlace(code, target, 4 * inner);
        code.get(row);
        code.get(i);
        code.op('i32.add');
        code.set(row);
        body(row);
        code.advance(places, 4);
      });
    });
    code.advance(target, 4 * size * inner);
  });
}

/** A copy of x in which numbers are replaced, or added to. */
export function addScatterElements(node: Node, lowering: Lowering): void {
  const [x, indices, updates] = node.inputs as [Value, Value, Value];
  const axis = axisOf(node);
  const { outer, size, inner } = around(x.shape, axis);
  const count = sameButOn(axis, x, indices, node);
  const add = addition(node, x);
  const out = lowering.room(node.outputs[0]);
  lowering.add(copyStep(lowering.view(x), out));
  lowering.add({
    key: `scatter elements ${outer} ${size} ${inner} ${count} ${add}`,
    reads: [lowering.packed(indices), lowering.packed(updates)],
    writes: [out],
    emit(code, [places, from, to]) {
      eachElement(code, { outer, size, inner, count }, places, to, (place) => {
        code.get(place);
        put(code, add, place, from, 0);
        code.advance(from, 4);
      });
    },
  });
}

/** A copy of x in which slices are replaced, or added to. */
export function addScatterNd(node: Node, lowering: Lowering): void {
  const [x, indices, updates] = node.inputs as [Value, Value, Value];
  const depth = indices.shape.at(-1)!;
  const sizes = x.shape.slice(0, depth);
  const inner = x.shape.slice(depth).reduce((product, size) => product * size, 1);
  const count = elements(indices) / depth;
  const add = addition(node, x);
  const out = lowering.room(node.outputs[0]);
  lowering.add(copyStep(lowering.view(x), out));
  lowering.add({
    key: `scatter nd ${sizes} ${inner} ${count} ${add}`,
    reads: [lowering.packed(indices), lowering.packed(updates)],
    writes: [out],
    emit(code, [places, from, to]) {
      code.repeat(count, 1, () => {
        const place = atPlace(code, pushPlaces(code, places, sizes, to), 4 * inner);
        code.repeat(inner, 1, () => {
          code.get(place);
          put(code, add, place, from, 0);
          code.advance(place, 4);
          code.advance(from, 4);
        });
        code.advance(places, 4 * depth);
      });
    },
  });
}

/** How numbers are put in place: over the old one, or added to it. */
type Addition = 'none' | 'f32' | 'i32';

function addition(node: Node, { dtype }: Value): Addition {
  const reduction = node.attributes['reduction'] ?? 'none';
  if (reduction === 'none') return 'none';
  if (reduction !== 'add') throw new Unsupported(`${node.op} with ${JSON.stringify(reduction)}`);
  return dtype === 'float32' ? 'f32' : 'i32';
}

/** Stores the number at `from` at the address on the stack, which is that of `place`. */
function put(code: Code, add: Addition, place: Local, from: Local, offset: number): void {
  const type = add === 'none' ? 'i32' : add;
  code.get(from);
  code.memory(`${type}.load`, offset);
  if (add !== 'none') {
    code.get(place);
    code.memory(`${type}.load`, offset);
    code.op(`${type}.add`);
  }
  code.memory(`${type}.store`, offset);
}

/** Where the largest (or smallest) number along an axis is: the first of equals. NaN is never larger. */
export function addArgMax(node: Node, lowering: Lowering): void {
  const x = node.inputs[0]!;
  const axis = integerOf(node, 'axis', 0);
  const { outer, size, inner } = around(x.shape, axis < 0 ? axis + x.shape.length : axis);
  const type = x.dtype === 'float32' ? 'f32' : 'i32';
  const compare = node.op === 'ArgMax' ? 'gt' : 'lt';
  const instruction = type === 'f32' ? (`f32.${compare}` as const) : (`i32.${compare}_s` as const);
  lowering.add({
    key: `${node.op} ${type} ${outer} ${size} ${inner}`,
    reads: [lowering.packed(x)],
    writes: [lowering.room(node.outputs[0])],
    emit(code, [from, to]) {
      code.repeat(outer, 1, () => {
        code.repeat(inner, 1, () => {
          code.get(from);
          const row = code.keep('i32');
          code.get(row);
          code.memory(`${type}.load`);
          const best = code.keep(type);
          code.i32(0);
          const place = code.keep('i32');
          code.repeat(size, 1, (i) => {
            code.get(row);
            code.memory(`${type}.load`);
            const entry = code.keep(type);
            code.get(entry);
            code.get(best);
            code.op(instruction);
            code.when(() => {
              code.get(entry);
              code.set(best);
              code.get(i);
              code.set(place);
            });
            code.advance(row, 4 * inner);
          });
          code.get(to);
          code.get(place);
          code.memory('i32.store');
          code.advance(to, 4);
          code.advance(from, 4);
        });
        code.advance(from, 4 * (size - 1) * inner);
      });
    },
  });
}

/** Running sums along an axis. */
export function addCumSum(node: Node, lowering: Lowering): void {
  const [x, given] = node.inputs as [Value, Value];
  const axis = given.constant?.[0];
  if (axis === undefined) throw new Unsupported('CumSum along an axis that depends on numbers');
  const { outer, size, inner } = around(x.shape, axis < 0 ? axis + x.shape.length : axis);
  const [isExclusive, isReverse] = ['exclusive', 'reverse'].map((name) => integerOf(node, name, 0) === 1);
  const type = x.dtype === 'float32' ? 'f32' : 'i32';
  const first = isReverse ? 4 * (size - 1) * inner : 0;
  const step: Step = {
    key: `cumsum ${type} ${outer} ${size} ${inner} ${isExclusive} ${isReverse}`,
    reads: [lowering.packed(x)],
    writes: [lowering.room(node.outputs[0])],
    emit(code, [from, to]) {
      code.repeat(outer, 1, () => {
        code.repeat(inner, 1, () => {
          const [read, write] = [from, to].map((pointer) => {
            code.get(pointer);
            code.i32(first);
            code.op('i32.add');
            return code.keep('i32');
          });
          if (type === 'f32') code.f32(0);
          else code.i32(0);
          const sum = code.keep(type);
          const store = (): void => {
            code.get(write);
            code.get(sum);
            code.memory(`${type}.store`);
          };
          code.repeat(size, 1, () => {
            if (isExclusive) store();
            code.get(sum);
            code.get(read);
            code.memory(`${type}.load`);
            code.op(`${type}.add`);
            code.set(sum);
            if (!isExclusive) store();
            for (const pointer of [read, write]) code.advance(pointer, (isReverse ? -4 : 4) * inner);
          });
          for (const pointer of [from, to]) code.advance(pointer, 4);
        });
        for (const pointer of [from, to]) code.advance(pointer, 4 * (size - 1) * inner);
      });
    },
  };
  lowering.add(step);
}

/** The k largest numbers of each row, the largest first, and their places; of equals the first. */
export function addTopK(node: Node, lowering: Lowering): void {
  const x = node.inputs[0]!;
  const [values, places] = node.outputs;
  const size = x.shape.at(-1)!;
  const k = values.shape.at(-1)!;
  const rows = elements(x) / size;
  const isFloat = x.dtype === 'float32';
  const type = isFloat ? 'f32' : 'i32';
  const push = (code: Code, number: number): void => {
    if (isFloat) code.f32(number);
    else code.i32(Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, number)));
  };
  const found: View[] = [lowering.room(values), places ? lowering.room(places) : lowering.scratch([rows, k], 'int32')];
  lowering.add({
    key: `topk ${type} ${rows} ${size} ${k}`,
    reads: [lowering.packed(x)],
    writes: found,
    emit(code, [from, to, toPlaces]) {
      code.repeat(rows, 1, () => {
        // The entry that was found last: the next one is smaller, or equal and behind it.
        push(code, Infinity);
        const last = code.keep(type);
        code.i32(-1);
        const lastPlace = code.keep('i32');
        code.repeat(k, 1, () => {
          const best = code.local(type);
          const place = code.local('i32');
          push(code, -Infinity);
          code.set(best);
          code.i32(-1);
          code.set(place);
          code.repeat(size, 1, (i) => {
            code.get(from);
            code.get(i);
            code.i32(2);
            code.op('i32.shl');
            code.op('i32.add');
            code.memory(`${type}.load`);
            const entry = code.keep(type);
            const both = (first: () => void, second: () => void, op: 'i32.and' | 'i32.or'): void => {
              first();
              second();
              code.op(op);
            };
            const compare = (a: Local, b: Local, op: Parameters<Code['op']>[0]): void => {
              code.get(a);
              code.get(b);
              code.op(op);
            };
            const isNext = (): void =>
              both(
                () => compare(entry, last, isFloat ? 'f32.lt' : 'i32.lt_s'),
                () =>
                  both(
                    () => compare(entry, last, `${type}.eq`),
                    () => compare(i, lastPlace, 'i32.gt_s'),
                    'i32.and',
                  ),
                'i32.or',
              );
            const isBetter = (): void =>
              both(
                () => compare(entry, best, isFloat ? 'f32.gt' : 'i32.gt_s'),
                () => {
                  code.get(place);
                  code.i32(0);
                  code.op('i32.lt_s');
                },
                'i32.or',
              );
            both(isNext, isBetter, 'i32.and');
            code.when(() => {
              code.get(entry);
              code.set(best);
              code.get(i);
              code.set(place);
            });
          });
          code.get(to);
          code.get(best);
          code.memory(`${type}.store`);
          code.get(toPlaces);
          code.get(place);
          code.memory('i32.store');
          code.get(best);
          code.set(last);
          code.get(place);
          code.set(lastPlace);
          code.advance(to, 4);
          code.advance(toPlaces, 4);
        });
        code.advance(from, 4 * size);
      });
    },
  });
}
