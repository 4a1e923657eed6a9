import * as tf from '@tensorflow/tfjs-core';
import { mendGradients } from './gradients';

/** What makes TensorFlow.js 4.22 complete on any backend; runs once when the package is imported. */
export function mendTensorflow(): void {
  mendGradients();
  defineChainedMethods();
}

/**
 * Methods that tfjs-core and tfjs-layers call on tensors without registering them (orthogonal initialisers, GRU, ...).
 */
const CHAINED_METHODS = [
  'broadcastTo',
  'cast',
  'div',
  'expandDims',
  'flatten',
  'gather',
  'greaterEqual',
  'logicalAnd',
  'mean',
  'minimum',
  'mul',
  'pad',
  'reshape',
  'sign',
  'slice',
  'split',
  'square',
  'squeeze',
  'stridedSlice',
  'sub',
  'sum',
  'transpose',
] as const;

function defineChainedMethods(): void {
  const operations = tf as unknown as Record<string, (...operands: unknown[]) => unknown>;
  const prototype = tf.Tensor.prototype as unknown as Record<string, unknown>;
  for (const name of CHAINED_METHODS) {
    if (prototype[name] !== undefined) continue;
    const operation = name === 'flatten' ? (x: unknown) => tf.reshape(x as tf.Tensor, [-1]) : operations[name]!;
    prototype[name] = function (this: tf.Tensor, ...operands: unknown[]): unknown {
      return operation(this, ...operands);
    };
  }
}
