import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';

/**
 * The same values, through which no gradient flows: what led to them isn't differentiated at all.
 * (tfjs has no such operation. The copy made here shares the data and is never written onto the gradient tape.)
 */
export function stopGradient<T extends tf.Tensor>(x: T): T {
  checkTensor('stopGradient', 'x', x);
  const engine = tf.engine();
  const identity = tf.getKernel('Identity', engine.backendName)!;
  const copy = identity.kernelFunc({ inputs: { x }, backend: engine.backend }) as tf.TensorInfo;
  return engine.makeTensorFromTensorInfo(copy) as T;
}
