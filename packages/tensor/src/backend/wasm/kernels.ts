import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';

/** A kernel's arguments: inputs by name, attributes, and the backend that holds the data. */
export interface KernelArguments {
  readonly inputs: Readonly<Record<string, tf.TensorInfo>>;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly backend: BackendWasm;
}

/** A kernel of the wasm backend. The result owns one reference to its data. */
export type WasmKernel = (given: KernelArguments) => tf.TensorInfo | tf.TensorInfo[];

/** Runs a kernel of the backend by name. */
export type Run = (
  kernelName: string,
  inputs: KernelArguments['inputs'],
  attrs?: KernelArguments['attrs'],
) => tf.TensorInfo;

/** The kernel that is registered now, to be called by the one that replaces it. */
export function registeredKernel(kernelName: string): WasmKernel {
  return tf.getKernel(kernelName, 'wasm')!.kernelFunc as unknown as WasmKernel;
}

/** Registers a kernel, in place of the one of that name if there is one. */
export function replaceKernel(kernelName: string, kernel: WasmKernel): void {
  if (tf.getKernel(kernelName, 'wasm')) tf.unregisterKernel(kernelName, 'wasm');
  tf.registerKernel({ kernelName, backendName: 'wasm', kernelFunc: kernel as unknown as tf.KernelFunc });
}

/**
 * A kernel made of others: `body` runs them one after the other; values that it doesn't return are freed at the end,
 * and so are other values that it passed to `own`.
 */
export function compose(
  backend: BackendWasm,
  body: (run: Run, own: (info: tf.TensorInfo) => tf.TensorInfo) => tf.TensorInfo,
): tf.TensorInfo {
  const made: tf.TensorInfo[] = [];
  const run: Run = (kernelName, inputs, attrs = {}) => {
    return own(registeredKernel(kernelName)({ inputs, attrs, backend }) as tf.TensorInfo);
  };
  const own = (info: tf.TensorInfo): tf.TensorInfo => {
    made.push(info);
    return info;
  };
  const result = body(run, own);
  for (const info of made) if (info !== result) backend.disposeData(info.dataId);
  return result;
}

/** A number as a float32 scalar, to be disposed of by the caller. */
export function scalar(backend: BackendWasm, value: number): tf.TensorInfo {
  return backend.makeOutput([], 'float32', undefined, Float32Array.of(value));
}

/** The same data under another shape; owns a reference of its own. */
export function reshaped(backend: BackendWasm, { dataId, dtype }: tf.TensorInfo, shape: number[]): tf.TensorInfo {
  backend.incRef(dataId);
  return { dataId, dtype, shape };
}
