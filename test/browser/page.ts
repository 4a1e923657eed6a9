/** The script of the test's page: it offers {@link Page} to the test. */

import { CoplayError } from '@coplay/core';
import { tf, useBackend, useOnnxWeb } from '@coplay/tensor';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import * as ort from 'onnxruntime-web/wasm';
import { refusedOf, unknownOperator } from './operators';
import { kernels, sharedState, train } from './work';

/** The functions of the page that the test calls. */
export const page = {
  kernels,
  sharedState,
  train,
  /** Operators that onnxruntime-web refuses, and why. */
  refused: () => refusedOf(ort),
  /** The same for an operator that doesn't exist. */
  refusedUnknown: () => refusedOf(ort, unknownOperator),
  isIsolated: () => (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated,
  /** Compiled functions run on onnxruntime-web from here on. */
  async useOnnx(options: Parameters<typeof useOnnxWeb>[1]): Promise<string> {
    try {
      return (await useOnnxWeb(ort, options)).reason;
    } catch (error) {
      if (error instanceof CoplayError) return error.message;
      throw error;
    }
  },
  /** Eager tensors live on tfjs's WebAssembly from here on. */
  async useEagerWasm(): Promise<string> {
    setWasmPaths('/tfjs/');
    await useBackend('wasm');
    return tf.getBackend();
  },
};

Object.assign(globalThis, { page });
