import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';
import { checkNormal, normalEntropy, normalLogProb } from './bounded-normal';

/** A normal distribution for each dimension of an action, whose samples u become tanh(u). */
export interface SquashedNormal {
  /** [..., w] of u */
  readonly mean: tf.Tensor;
  /** [..., w] of u, above 0 */
  readonly stddev: tf.Tensor;
}

/**
 * Log-density of tanh(u), summed over dimensions: log N(u) - log(1 - tanh(u)^2) (Haarnoja et al. 2018, appendix C).
 *
 * @param u [..., w] before tanh, so that no precision is lost near -1 and 1
 * @returns [...]
 */
export function squashedLogProb(normal: SquashedNormal, u: tf.Tensor): tf.Tensor {
  checkNormal('squashedLogProb', normal);
  checkTensor('squashedLogProb', 'u', u);
  return tf.sub(normalLogProb(normal, u), tf.sum(logSlope(u), -1));
}

/** log(1 - tanh(u)^2) = 2 (log 2 - u - softplus(-2u)) */
function logSlope(u: tf.Tensor): tf.Tensor {
  return tf.mul(tf.sub(tf.sub(Math.LN2, u), tf.softplus(tf.mul(u, -2))), 2);
}

/**
 * Nodes and weights of the Gauss-Hermite quadrature of a standard normal distribution with 20 nodes: x above 0, of
 * which -x is a node too (numpy.polynomial.hermite_e.hermegauss, weights divided by sqrt(2 pi)).
 */
const NODES = [
  0.3469641570813559, 1.042945348802751, 1.7452473208141268, 2.458663611172368, 3.1890148165533896, 3.9439673506573163,
  4.734581334046055, 5.578738805893201, 6.510590157013654, 7.619048541679758,
];
const WEIGHTS = [
  0.2607930634495548, 0.16173933398400003, 0.06150637206397696, 0.013997837447100996, 0.0018301031310804924,
  0.00012882627996192942, 4.4021210902308646e-6, 6.127490259982928e-8, 2.4820623623151797e-10, 1.2578006724379264e-13,
];

/**
 * Entropy in nats of tanh(u), summed over dimensions: the entropy of u plus the mean of log(1 - tanh(u)^2), which has
 * no closed form. It's computed by Gauss-Hermite quadrature with 20 nodes: within 0.002 of the integral for standard
 * deviations of u up to 2.
 *
 * @returns [...]
 */
export function squashedEntropy(normal: SquashedNormal): tf.Tensor {
  const { mean, stddev } = checkNormal('squashedEntropy', normal);
  const entropy = normalEntropy(normal);
  const nodes = tf.tensor1d([...NODES, ...NODES.map((x) => -x)]);
  const weights = tf.tensor1d([...WEIGHTS, ...WEIGHTS]);
  const u = tf.add(tf.expandDims(mean, -1), tf.mul(tf.expandDims(stddev, -1), nodes)); // [..., w, 20]
  return tf.add(entropy, tf.sum(tf.sum(tf.mul(logSlope(u), weights), -1), -1));
}
