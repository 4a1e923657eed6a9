import { fail } from '@coplay/core';
import { checkNumber } from '@coplay/core/checks';
import * as tf from '@tensorflow/tfjs-core';
import { checkTensor } from '../check-tensor';
import { stopGradient } from '../gradients';
import { categoricalKl } from './categorical';

/** The two halves of DreamerV3's loss of latent dynamics, [...] each. */
export interface LatentLosses {
  /** max(free, KL(sg(posterior) || prior)): teaches the prior. */
  readonly dynamics: tf.Tensor;
  /** max(free, KL(posterior || sg(prior))): teaches the posterior. */
  readonly representation: tf.Tensor;
}

/**
 * Divergences between vectors of categoricals, with free nats (Hafner et al. 2023, arXiv v2, eq. 3): S latents are
 * summed first, and only then held at `freeNats`, row by row; below it no gradient flows.
 *
 * @param posterior [..., S, C] log-probabilities
 * @param prior     [..., S, C] log-probabilities
 * @param freeNats  0 or more; DreamerV3 has 1
 */
export function latentLosses(posterior: tf.Tensor, prior: tf.Tensor, freeNats: number): LatentLosses {
  checkTensor('latentLosses', 'posterior', posterior);
  checkTensor('latentLosses', 'prior', prior);
  checkNumber('latentLosses', 'freeNats', freeNats, { min: 0 });
  if (posterior.rank < 2 || !tf.util.arraysEqual(posterior.shape, prior.shape)) {
    fail('latentLosses', `both [..., S, C]`, `[${posterior.shape}] and [${prior.shape}]`, 'Give log-probabilities.');
  }
  const held = (p: tf.Tensor, q: tf.Tensor) => tf.maximum(tf.sum(categoricalKl(p, q), -1), freeNats);
  return {
    dynamics: held(stopGradient(posterior), prior),
    representation: held(posterior, stopGradient(prior)),
  };
}
