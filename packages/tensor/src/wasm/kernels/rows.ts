import type { Code, Local } from '../assembler';
import type { Step } from '../steps';
import type { View } from '../views';
import { exp, log } from './functions';
import { combineLanes, keepLanes } from './reductions';

/** Up to as many vectors of a row are written out one after another. */
const UNROLLED = 8;

/** Calls `body` for each vector of a row, with the address pushed by `at`. */
function overRow(
  code: Code,
  size: number,
  body: (at: (pointer: Local) => void, offset: number, lanes: number) => void,
) {
  const vectors = Math.floor(size / 4);
  if (vectors <= UNROLLED) {
    for (let i = 0; i < vectors; i++) code.scope(() => body((pointer) => code.get(pointer), 16 * i, 4));
  } else {
    code.repeat(16 * vectors, 16, (i) => {
      const at = (pointer: Local): void => {
        code.get(pointer);
        code.get(i);
        code.op('i32.add');
      };
      body(at, 0, 4);
    });
  }
  if (size % 4 > 0) code.scope(() => body((pointer) => code.get(pointer), 16 * vectors, size % 4));
}

/** Combines a row's vectors, and their lanes; leaves the result in a local, in each lane. */
function combined(
  code: Code,
  size: number,
  combine: 'f32x4.add' | 'f32x4.max',
  push: (at: (pointer: Local) => void, offset: number) => void,
): Local {
  const start = (): void => code.splat(combine === 'f32x4.add' ? 0 : -Infinity);
  start();
  const all = code.keep('v128');
  overRow(code, size, (at, offset, lanes) => {
    push(at, offset);
    if (lanes < 4) keepLanes(code, lanes, start);
    code.get(all);
    code.op(combine);
    code.set(all);
  });
  combineLanes(code, combine, all);
  return code.keep('v128');
}

/** Softmax over the last axis, or its logarithm; both views in order. */
export function softmaxStep(from: View, to: View, isLog: boolean): Step {
  const size = from.dims.at(-1)?.size ?? 1;
  const rows = from.dims.slice(0, -1).reduce((product, dim) => product * dim.size, 1);
  return {
    key: `${isLog ? 'log' : ''}softmax ${rows} ${size}`,
    reads: [from],
    writes: [to],
    emit(code, [x, y]) {
      code.repeat(rows, 1, () => {
        const load = (at: (pointer: Local) => void, pointer: Local, offset: number): void => {
          at(pointer);
          code.memory('v128.load', offset);
        };
        const largest = combined(code, size, 'f32x4.max', (at, offset) => load(at, x, offset));
        const sum = combined(code, size, 'f32x4.add', (at, offset) => {
          load(at, x, offset);
          code.get(largest);
          code.op('f32x4.sub');
          const difference = code.keep('v128');
          exp(code, difference);
          const power = code.keep('v128');
          at(y);
          code.get(isLog ? difference : power);
          code.memory('v128.store', offset);
          code.get(power);
        });
        if (isLog) log(code, sum);
        else {
          code.splat(1);
          code.get(sum);
          code.op('f32x4.div');
        }
        const scale = code.keep('v128');
        overRow(code, size, (at, offset) => {
          at(y);
          load(at, y, offset);
          code.get(scale);
          code.op(isLog ? 'f32x4.sub' : 'f32x4.mul');
          code.memory('v128.store', offset);
        });
        code.advance(x, 4 * size);
        code.advance(y, 4 * size);
      });
    },
  };
}

/** y = x scale inverse, with inverse = 1 / sqrt(mean(x^2) + epsilon) of each row. */
export function rmsNormStep(x: View, scale: View, y: View, inverse: View | undefined, epsilon: number): Step {
  const size = x.dims.at(-1)!.size;
  const rows = x.dims.slice(0, -1).reduce((product, dim) => product * dim.size, 1);
  return {
    key: `rms norm ${rows} ${size} ${epsilon} ${inverse !== undefined}`,
    reads: [x, scale],
    writes: inverse ? [y, inverse] : [y],
    emit(code, [from, factors, to, inverses]) {
      code.repeat(rows, 1, () => {
        const load = (at: (pointer: Local) => void, pointer: Local, offset: number): void => {
          at(pointer);
          code.memory('v128.load', offset);
        };
        const sum = combined(code, size, 'f32x4.add', (at, offset) => {
          load(at, from, offset);
          const entry = code.keep('v128');
          code.get(entry);
          code.get(entry);
          code.op('f32x4.mul');
        });
        code.splat(1);
        code.get(sum);
        code.splat(size);
        code.op('f32x4.div');
        code.splat(epsilon);
        code.op('f32x4.add');
        code.op('f32x4.sqrt');
        code.op('f32x4.div');
        const factor = code.keep('v128');
        if (inverse) {
          code.get(inverses);
          code.get(factor);
          code.storeLane('v128.store32_lane', 0, 0);
          code.advance(inverses, 4);
        }
        overRow(code, size, (at, offset) => {
          at(to);
          load(at, from, offset);
          code.get(factor);
          code.op('f32x4.mul');
          load(at, factors, offset);
          code.op('f32x4.mul');
          code.memory('v128.store', offset);
        });
        code.advance(from, 4 * size);
        code.advance(to, 4 * size);
      });
    },
  };
}
