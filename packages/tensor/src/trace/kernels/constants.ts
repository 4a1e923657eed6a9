import { util } from '@tensorflow/tfjs-core';
import { constant, type Value, type ValueType } from '../../graph';
import { ARRAYS } from '../backend';
import { kernel } from '../kernel';

/** Kernels whose result is known while tracing. */
export function registerConstants(): void {
  kernel('ZerosLike', ({ inputs: { x } }) => filled(x!.shape, 0, x!.dtype));
  kernel('OnesLike', ({ inputs: { x } }) => filled(x!.shape, 1, x!.dtype));
  kernel<{ shape: number[]; value: number; dtype?: ValueType }>('Fill', ({ attrs }) =>
    filled(attrs.shape, attrs.value, attrs.dtype ?? 'float32'),
  );
  kernel<{ start: number; stop: number; step: number; dtype?: 'float32' | 'int32' }>('Range', ({ attrs }) => {
    const { start, stop, step, dtype = 'float32' } = attrs;
    const values = range(start, stop, step);
    return constant(ARRAYS[dtype].from(values), [values.length], dtype);
  });
  kernel<{ start: number; stop: number; num: number }>('LinSpace', ({ attrs: { start, stop, num } }) => {
    const step = (stop - start) / (num - 1);
    return constant(
      Float32Array.from({ length: num }, (_, i) => (i === 0 ? start : start + i * step)),
      [num],
      'float32',
    );
  });
}

/** One number everywhere. */
export function filled(shape: readonly number[], value: number, dtype: ValueType): Value {
  const size = util.sizeFromShape([...shape]);
  return constant(new ARRAYS[dtype](size).fill(value), shape, dtype);
}

/** start, start + step, ... before stop. As in tfjs a step of 1 also counts down. */
function range(start: number, stop: number, step: number): number[] {
  const signed = stop < start && step === 1 ? -1 : step;
  const length = Math.max(0, Math.ceil((stop - start) / signed));
  return Array.from({ length }, (_, i) => start + i * signed);
}
