import type { Code, Local } from '../assembler';
import type { Step } from '../steps';
import { type Dim, joined, type View } from '../views';
import { walk, wordOf } from './copies';
import { storeLanes } from './products';

/** How numbers become one. */
export type Reduction = 'Sum' | 'Mean' | 'Max' | 'Min' | 'Prod' | 'SumSquare';

/** Sums of many numbers have several parts, each of which waits for nothing. */
const PARTS = 4;

/** The combination of two vectors, and the number that changes nothing. */
interface Rule {
  readonly combine: Parameters<Code['op']>[0];
  readonly start: (code: Code) => void;
}

const FLOAT: Record<Reduction, Rule> = {
  Sum: { combine: 'f32x4.add', start: (code) => code.splat(0) },
  Mean: { combine: 'f32x4.add', start: (code) => code.splat(0) },
  SumSquare: { combine: 'f32x4.add', start: (code) => code.splat(0) },
  Max: { combine: 'f32x4.max', start: (code) => code.splat(-Infinity) },
  Min: { combine: 'f32x4.min', start: (code) => code.splat(Infinity) },
  Prod: { combine: 'f32x4.mul', start: (code) => code.splat(1) },
};

const INTEGER: Partial<Record<Reduction, Rule>> = {
  Sum: { combine: 'i32x4.add', start: (code) => code.splatInt(0) },
  Max: { combine: 'i32x4.max_s', start: (code) => code.splatInt(-(2 ** 31)) },
  Min: { combine: 'i32x4.min_s', start: (code) => code.splatInt(2 ** 31 - 1) },
  Prod: { combine: 'i32x4.mul', start: (code) => code.splatInt(1) },
};

/** Whether there's code for a reduction of whole numbers. */
export function reducesIntegers(reduction: Reduction): boolean {
  return reduction in INTEGER;
}

/** Whether the numbers can be read as they lie: neighbours along the last axis must be neighbours in memory. */
export function isReducible({ dims }: View): boolean {
  const last = dims.filter(({ size }) => size > 1).at(-1);
  return last === undefined || last.stride === 1;
}

/**
 * Reduces some axes.
 *
 * @param to in order, without those axes or with sizes 1 there
 */
export function reduceStep(
  reduction: Reduction,
  from: View,
  axes: readonly number[],
  to: View,
  isInteger: boolean,
): Step {
  const pick = (isReduced: boolean) =>
    joined([from.dims.filter(({ size }, axis) => size > 1 && axes.includes(axis) === isReduced)])[0];
  const [kept, gone] = [pick(false), pick(true)];
  const last = from.dims.findLastIndex(({ size }) => size > 1);
  const isAlongRow = last < 0 || axes.includes(last);
  const count = gone.reduce((product, { size }) => product * size, 1);
  const spec: Spec = { reduction, rule: isInteger ? INTEGER[reduction]! : FLOAT[reduction], isInteger, count };
  return {
    key: `reduce ${reduction} ${isInteger} ${isAlongRow} ${wordOf(kept)} over ${wordOf(gone)}`,
    reads: [from],
    writes: [to],
    emit: (code, [read, write]) => {
      if (isAlongRow) alongRows(code, spec, kept, gone, read, write);
      else acrossRows(code, spec, kept, gone, read, write);
    },
  };
}

interface Spec {
  readonly reduction: Reduction;
  readonly rule: Rule;
  readonly isInteger: boolean;
  /** Numbers that become one. */
  readonly count: number;
}

/** Strides of numbers in order, for each axis that is kept. */
function written(kept: readonly Dim[]): Dim[] {
  let stride = 1;
  return [...kept]
    .reverse()
    .map(({ size }) => {
      const dim = { size, stride };
      stride *= size;
      return dim;
    })
    .reverse();
}

/** Each result from numbers that are neighbours: vectors are combined, and their lanes at the end. */
function alongRows(code: Code, spec: Spec, kept: readonly Dim[], gone: readonly Dim[], from: Local, to: Local): void {
  const { rule } = spec;
  const size = gone.at(-1)?.size ?? 1;
  const vectors = Math.floor(size / 4);
  const parts = vectors >= 2 * PARTS ? PARTS : 1;
  walk(code, [kept, written(kept)], [from, to], kept.length, () => {
    code.scope(() => {
      const sums = Array.from({ length: parts }, () => {
        rule.start(code);
        return code.keep('v128');
      });
      code.get(from);
      const row = code.keep('i32');
      walk(code, [gone], [row], Math.max(0, gone.length - 1), () => {
        const add = (sum: Local, offset: number, index?: Local): void => {
          code.get(row);
          if (index) {
            code.get(index);
            code.op('i32.add');
          }
          code.memory('v128.load', offset);
          combine(code, spec, sum);
        };
        const full = Math.floor(vectors / parts);
        if (full > 2) {
          code.repeat(16 * parts * full, 16 * parts, (i) => {
            for (const [part, sum] of sums.entries()) add(sum, 16 * part, i);
          });
        } else for (let i = 0; i < full * parts; i++) add(sums[i % parts], 16 * i);
        for (let i = full * parts; i < vectors; i++) add(sums[0], 16 * i);
        const lanes = size % 4;
        if (lanes === 0) return;
        code.get(row);
        code.memory('v128.load', 16 * vectors);
        keepLanes(code, lanes, rule.start);
        combine(code, spec, sums[0]);
      });
      for (const sum of sums.slice(1)) {
        code.get(sums[0]);
        code.get(sum);
        code.op(rule.combine);
        code.set(sums[0]);
      }
      combineLanes(code, rule.combine, sums[0]);
      finish(code, spec);
      const result = code.keep('v128');
      storeLanes(code, to, 0, result, 1);
    });
  });
}

/** Rows of results from rows of numbers: each vector of a row is combined with those of the other rows. */
function acrossRows(code: Code, spec: Spec, kept: readonly Dim[], gone: readonly Dim[], from: Local, to: Local): void {
  const { size } = kept.at(-1)!;
  const vectors = Math.ceil(size / 4);
  const block = (count: number, source: Local, target: Local): void =>
    code.scope(() => {
      const sums = Array.from({ length: count }, () => {
        spec.rule.start(code);
        return code.keep('v128');
      });
      code.get(source);
      const row = code.keep('i32');
      walk(code, [gone], [row], gone.length, () => {
        sums.forEach((sum, i) => {
          code.get(row);
          code.memory('v128.load', 16 * i);
          combine(code, spec, sum);
        });
      });
      sums.forEach((sum, i) => {
        code.get(sum);
        finish(code, spec);
        code.set(sum);
        code.get(target);
        code.get(sum);
        code.memory('v128.store', 16 * i);
      });
    });
  walk(code, [kept, written(kept)], [from, to], kept.length - 1, () => {
    code.scope(() => {
      const [source, target] = [from, to].map((pointer) => {
        code.get(pointer);
        return code.keep('i32');
      });
      const full = Math.floor(vectors / PARTS);
      const all = (count: number): void => {
        block(count, source, target);
        for (const pointer of [source, target]) code.advance(pointer, 16 * count);
      };
      if (full > 1) code.repeat(full, 1, () => all(PARTS));
      else if (full === 1) all(PARTS);
      if (vectors % PARTS > 0) all(vectors % PARTS);
    });
  });
}

/** Combines the vector on the stack with a result so far. */
function combine(code: Code, { reduction, rule }: Spec, sum: Local): void {
  if (reduction === 'SumSquare') {
    const x = code.keep('v128');
    code.get(x);
    code.get(x);
    code.multiplyAdd(() => code.get(sum));
  } else {
    code.get(sum);
    code.op(rule.combine);
  }
  code.set(sum);
}

function finish(code: Code, { reduction, count }: Spec): void {
  if (reduction !== 'Mean') return;
  code.splat(count);
  code.op('f32x4.div');
}

/** The vector on the stack with other numbers behind its first lanes. */
export function keepLanes(code: Code, lanes: number, others: (code: Code) => void): void {
  others(code);
  code.lanes(-1, lanes > 1 ? -1 : 0, lanes > 2 ? -1 : 0, lanes > 3 ? -1 : 0);
  code.op('v128.bitselect');
}

/** Leaves all lanes of a vector combined, in each lane. */
export function combineLanes(code: Code, combine: Parameters<Code['op']>[0], x: Local): void {
  code.scope(() => {
    const swapped = (vector: Local, order: readonly [number, number, number, number]): void => {
      code.get(vector);
      code.get(vector);
      code.get(vector);
      code.shuffle(...order);
      code.op(combine);
    };
    swapped(x, [2, 3, 0, 1]);
    const pairs = code.keep('v128');
    swapped(pairs, [1, 0, 3, 2]);
  });
}
