// One copy of TensorFlow.js for everything: all packages import `tf` from here. Loading tfjs-layers registers the
// gradients of all operations, which tfjs-core alone doesn't do in Node.
import '@tensorflow/tfjs-layers';
import { mendTensorflow } from './mend';

export * as tf from '@tensorflow/tfjs-core';

mendTensorflow();
