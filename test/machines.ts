import { type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { type BackendName, compile, type TensorRecord, useBackend } from '@coplay/tensor';

/** What runs a function: tfjs operation by operation on a backend, or a graph. */
export interface Machine {
  readonly label: string;
  readonly backend: BackendName;
  readonly executor: 'eager' | 'onnx';
}

/** Every backend that loads here, and ONNX Runtime where it loads. */
export async function loadableMachines(): Promise<Machine[]> {
  const machines: Machine[] = [];
  for (const backend of ['cpu', 'wasm', 'tensorflow'] as const) {
    try {
      await useBackend(backend);
      machines.push({ label: `eager ${backend}`, backend, executor: 'eager' });
    } catch {
      // tfjs-node isn't installed, which is fine.
    }
  }
  const onnx = await import('onnxruntime-node').catch(() => undefined);
  return onnx ? [...machines, { label: 'onnx', backend: 'cpu', executor: 'onnx' }] : machines;
}

/** Runs a function of tensors on a machine. Names in `inputs` may hold slashes, as those of parameters do. */
export async function onMachine(
  { backend, executor }: Machine,
  f: (params: TensorRecord, inputs: TensorRecord) => TensorRecord,
  params: NamedArrays,
  inputs: NamedArrays = {},
): Promise<Record<string, NDArray>> {
  await useBackend(backend);
  const compiled = compile(
    (_, given: { params: TensorRecord; inputs: TensorRecord }) => ({ outputs: f(given.params, given.inputs) }),
    {
      name: 'example',
      executor,
      threads: 1,
    },
  );
  try {
    return (await compiled({ params, inputs })) as Record<string, NDArray>;
  } finally {
    compiled.dispose();
  }
}

/** An array of float32 numbers. */
export function floats(values: readonly number[], shape: readonly number[] = [values.length]): NDArray {
  return ndarray(Float32Array.from(values), [...shape]);
}

/** Fixed numbers without a pattern: 0.3 sin(1.7 k + 0.9 index), as the golden file's parameters are. */
export function wave(shape: readonly number[], index = 0, offset = 0): NDArray {
  const size = shape.reduce((a, b) => a * b, 1);
  return ndarray(
    Float32Array.from({ length: size }, (_, k) => 0.3 * Math.sin(1.7 * k + 0.9 * index) + offset),
    [...shape],
  );
}

/** Where numbers differ: relative to each expected number, or absolute where it's 0. */
export function differences(got: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-4): string[] {
  if (got.length !== expected.length) return [`${got.length} numbers instead of ${expected.length}`];
  return Array.from(got).flatMap((value, i) => {
    const scale = expected[i] === 0 ? 1 : Math.abs(expected[i]);
    return Math.abs(value - expected[i]) <= tolerance * scale
      ? []
      : [`number ${i}: ${value} instead of ${expected[i]}`];
  });
}
