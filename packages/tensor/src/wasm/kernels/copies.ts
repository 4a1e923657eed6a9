import type { ValueType } from '../../graph';
import type { Code, Local } from '../assembler';
import type { Step } from '../steps';
import { type Dim, joined, type View } from '../views';

/** Bytes from which the engine's own copy is faster than a loop. */
const LONG = 1024;

/** Copies numbers between views of the same sizes, in any order. */
export function copyStep(from: View, to: View): Step {
  const [source, target] = joined([from.dims, to.dims]);
  return {
    key: `copy ${wordOf(source)} to ${wordOf(target)}`,
    reads: [from],
    writes: [to],
    emit: (code, [read, write]) => copyNumbers(code, source, target, read, write),
  };
}

export function wordOf(dims: readonly Dim[]): string {
  return dims.map(({ size, stride }) => `${size}/${stride}`).join(' ');
}

/** Loops over all axes but the last; pointers move. */
function copyNumbers(code: Code, source: readonly Dim[], target: readonly Dim[], from: Local, to: Local): void {
  walk(code, [source, target], [from, to], Math.max(0, source.length - 1), () => {
    const last = source.length - 1;
    if (last < 0) copyRun(code, { size: 1, stride: 1 }, { size: 1, stride: 1 }, from, to);
    else copyRun(code, source[last], target[last], from, to);
  });
}

/**
 * Runs `body` for each combination of the first `depth` axes, with pointers at the place. The pointers end up behind
 * the last place; they are parameters or locals that nothing else needs.
 */
export function walk(
  code: Code,
  lists: readonly (readonly Dim[])[],
  pointers: readonly Local[],
  depth: number,
  body: () => void,
): void {
  const level = (axis: number): void => {
    if (axis === depth) {
      body();
      return;
    }
    const { size } = lists[0][axis];
    code.repeat(size, 1, () => {
      level(axis + 1);
      lists.forEach((dims, i) => {
        const inner = axis + 1 < depth ? dims[axis + 1].size * dims[axis + 1].stride : 0;
        code.advance(pointers[i], 4 * (dims[axis].stride - inner));
      });
    });
  };
  level(0);
}

function copyRun(code: Code, source: Dim, target: Dim, from: Local, to: Local): void {
  const { size } = source;
  if (source.stride === 1 && target.stride === 1) copyInOrder(code, size, from, to);
  else copyOneByOne(code, source, target, from, to);
}

export function copyInOrder(code: Code, size: number, from: Local, to: Local): void {
  if (4 * size >= LONG) {
    code.get(to);
    code.get(from);
    code.i32(4 * size);
    code.memoryCopy();
    return;
  }
  const vectors = Math.floor(size / 4);
  const copy = (offset: number, index?: Local): void => {
    for (const pointer of [to, from]) {
      code.get(pointer);
      if (index) {
        code.get(index);
        code.op('i32.add');
      }
    }
    code.memory('v128.load', offset);
    code.memory('v128.store', offset);
  };
  if (vectors > 4) code.repeat(16 * vectors, 16, (i) => copy(0, i));
  else for (let i = 0; i < vectors; i++) copy(16 * i);
  for (let i = 4 * vectors; i < size; i++) {
    code.get(to);
    code.get(from);
    code.memory('i32.load', 4 * i);
    code.memory('i32.store', 4 * i);
  }
}

function copyOneByOne(code: Code, source: Dim, target: Dim, from: Local, to: Local): void {
  if (source.size === 1) {
    code.get(to);
    code.get(from);
    code.memory('i32.load');
    code.memory('i32.store');
    return;
  }
  code.scope(() => {
    const [read, write] = [from, to].map((pointer) => {
      code.get(pointer);
      return code.keep('i32');
    });
    code.repeat(source.size, 1, () => {
      code.get(write);
      code.get(read);
      code.memory('i32.load');
      code.memory('i32.store');
      code.advance(read, 4 * source.stride);
      code.advance(write, 4 * target.stride);
    });
  });
}

/** Sets numbers in order to the same bits, from 0 on; padding behind them may be set too. */
export function fillStep(view: View, bits: number): Step {
  const { size } = view.buffer;
  return {
    key: `fill ${size} with ${bits}`,
    reads: [],
    writes: [view],
    emit(code, [to]) {
      if (bits === 0) {
        code.get(to);
        code.i32(0);
        code.i32(4 * size);
        code.memoryFill();
        return;
      }
      code.repeat(4 * size, 16, (i) => {
        code.get(to);
        code.get(i);
        code.op('i32.add');
        code.splatInt(bits);
        code.memory('v128.store');
      });
    },
  };
}

/** A number as it lies in memory. */
export function bitsOf(number: number, dtype: ValueType): number {
  if (dtype === 'float32') return new Int32Array(Float32Array.of(number).buffer)[0];
  return dtype === 'bool' ? -number : number;
}
