import { checkShapes } from '@coplay/core';
import { stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import {
  boundedNormal,
  normalEntropy,
  normalLogProb,
  normalSample,
  oneHotSample,
  unimixLog,
} from '@coplay/tensor/distributions';
import type { ParamSpecs } from '../layers';
import { dreamerHead, type HeadOptions } from './heads';

/** An action space: one of K actions, or numbers in [-1, 1]. */
export type DreamerActions =
  | { readonly kind: 'discrete'; readonly count: number }
  | { readonly kind: 'continuous'; readonly size: number };

/** An actor's distribution for N rows: `logProbs` [N, K], or `mean` and `stddev` [N, A]. */
export type ActorDistribution =
  | { readonly kind: 'discrete'; readonly logProbs: tf.Tensor2D }
  | { readonly kind: 'continuous'; readonly mean: tf.Tensor2D; readonly stddev: tf.Tensor2D };

/** DreamerV3's actor. Actions are codes [N, A]: one-hot, or numbers. */
export interface DreamerActor {
  readonly actions: DreamerActions;
  /** A: K of discrete actions, dimensions of continuous ones */
  readonly actionSize: number;
  /** What `sample` needs for each row: one uniform number, or A standard normal ones. */
  readonly noise: { readonly kind: 'uniform' | 'normal'; readonly size: number };
  readonly specs: ParamSpecs;
  /** @param features [N, F] */
  distribution(params: TensorRecord, features: tf.Tensor2D): ActorDistribution;
  /**
   * No gradient flows through a sample.
   *
   * @param noise [N, noise.size]
   * @returns [N, A]
   */
  sample(distribution: ActorDistribution, noise: tf.Tensor2D): tf.Tensor2D;
  /** @returns [N] of action codes [N, A], which get no gradient */
  logProb(distribution: ActorDistribution, actions: tf.Tensor2D): tf.Tensor1D;
  /** @returns [N] nats */
  entropy(distribution: ActorDistribution): tf.Tensor1D;
}

/** A policy begins almost uniform. */
const START = 0.01;

/** Options of {@link dreamerActor}. */
export interface ActorOptions extends Omit<HeadOptions, 'outputs' | 'scale'> {
  /** Its action space */
  readonly actions: DreamerActions;
  /**
   * Share of the uniform distribution in a discrete policy, in [0, 1). Default 0, as in DreamerV3's code; its paper
   * says 0.01
   */
  readonly unimix?: number;
}

/** Builds an actor: categorical over discrete actions, {@link boundedNormal} over continuous ones. */
export function dreamerActor({ actions, unimix: share = 0, ...options }: ActorOptions): DreamerActor {
  const isDiscrete = actions.kind === 'discrete';
  const size = isDiscrete ? actions.count : actions.size;
  const head = dreamerHead({ ...options, outputs: isDiscrete ? size : 2 * size, scale: START });
  return {
    actions,
    actionSize: size,
    noise: isDiscrete ? { kind: 'uniform', size: 1 } : { kind: 'normal', size },
    specs: head.specs,
    distribution: (params, features) => {
      const outputs = head.logits(params, features);
      if (isDiscrete) return { kind: 'discrete', logProbs: unimixLog(outputs, share) as tf.Tensor2D };
      const [mean, stddev] = tf.split(outputs, 2, 1);
      return { kind: 'continuous', ...boundedNormal(mean, stddev) } as ActorDistribution;
    },
    sample: (distribution, noise) => {
      checkShapes('dreamerActor.sample', { noise }, `${rowsOf(distribution)} ${isDiscrete ? 1 : size}`);
      if (distribution.kind === 'continuous') return stopGradient(normalSample(distribution, noise)) as tf.Tensor2D;
      return oneHotSample(tf.exp(distribution.logProbs), tf.reshape(noise, [-1])) as tf.Tensor2D;
    },
    logProb: (distribution, taken) => {
      checkShapes('dreamerActor.logProb', { actions: taken }, `${rowsOf(distribution)} ${size}`);
      const codes = stopGradient(taken);
      if (distribution.kind === 'continuous') return normalLogProb(distribution, codes) as tf.Tensor1D;
      return tf.sum(tf.mul(distribution.logProbs, codes), -1) as tf.Tensor1D;
    },
    entropy: (distribution) => {
      if (distribution.kind === 'continuous') return normalEntropy(distribution) as tf.Tensor1D;
      return tf.neg(tf.sum(tf.mul(tf.exp(distribution.logProbs), distribution.logProbs), -1)) as tf.Tensor1D;
    },
  };
}

/** N */
function rowsOf(distribution: ActorDistribution): number {
  return (distribution.kind === 'discrete' ? distribution.logProbs : distribution.mean).shape[0];
}
