import { checkShapes, fail } from '@coplay/core';
import { checkTensor, stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import {
  boundedNormal,
  maskedLogProbs,
  normalEntropy,
  normalLogProb,
  normalSample,
  oneHotSample,
  unimixLog,
} from '@coplay/tensor/distributions';
import type { ParamSpecs } from '../layers';
import { dreamerHead, type HeadOptions } from './heads';
import { oneHotCode } from './observations';

/** An action space: one of K actions, several such choices at once, or numbers in [-1, 1]. */
export type DreamerActions =
  | { readonly kind: 'discrete'; readonly count: number }
  | { readonly kind: 'multi-discrete'; readonly counts: readonly number[] }
  | { readonly kind: 'continuous'; readonly size: number };

/**
 * An actor's distribution for N rows: `logProbs` [N, K], those of several choices one after the other, or `mean` and
 * `stddev` [N, A].
 */
export type ActorDistribution =
  | { readonly kind: 'discrete'; readonly logProbs: tf.Tensor2D }
  | { readonly kind: 'continuous'; readonly mean: tf.Tensor2D; readonly stddev: tf.Tensor2D };

type Choices = Extract<ActorDistribution, { kind: 'discrete' }>;
type Normal = Extract<ActorDistribution, { kind: 'continuous' }>;
type Continuous = Extract<DreamerActions, { kind: 'continuous' }>;

/** DreamerV3's actor. Actions are codes [N, A]: one-hot, several one-hots side by side, or numbers. */
export interface DreamerActor {
  readonly actions: DreamerActions;
  /** A: K of discrete actions, the sum over several choices, dimensions of continuous ones */
  readonly actionSize: number;
  /** What `sample` needs for each row: a uniform number for each choice, or A standard normal ones. */
  readonly noise: { readonly kind: 'uniform' | 'normal'; readonly size: number };
  /** The least and the greatest entropy of a policy, nats */
  readonly entropyRange: readonly [low: number, high: number];
  readonly specs: ParamSpecs;
  /**
   * Codes [..., A] of actions: discrete ones [...] int32, several choices [..., choices] int32, -1 for none;
   * continuous ones [..., A] are their own code, 0 for none.
   */
  code(actions: tf.Tensor): tf.Tensor;
  /** @param features [N, F] */
  distribution(params: TensorRecord, features: tf.Tensor2D): ActorDistribution;
  /**
   * The distribution over the options whose mask is 1; a uniform one over a choice of which none is. A continuous one
   * stays as it is.
   *
   * @param mask [N, A]
   */
  masked(distribution: ActorDistribution, mask: tf.Tensor2D): ActorDistribution;
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

/** Builds an actor: a product of categoricals over choices, {@link boundedNormal} over continuous actions. */
export function dreamerActor({ actions, unimix: share = 0, ...options }: ActorOptions): DreamerActor {
  if (actions.kind === 'continuous') return continuousActor(actions, options);
  const counts = choicesOf(actions);
  const size = actionSizeOf(actions);
  const head = dreamerHead({ ...options, outputs: size, scale: START });
  return {
    actions,
    actionSize: size,
    noise: { kind: 'uniform', size: counts.length },
    entropyRange: [0, counts.reduce((sum, count) => sum + Math.log(count), 0)],
    specs: head.specs,
    code: (taken) => {
      checkTensor('dreamerActor.code', 'actions', taken);
      if (actions.kind === 'discrete') return oneHotCode(taken, size);
      const lead = taken.shape.slice(0, -1);
      if (taken.shape.at(-1) !== counts.length) {
        fail(
          'dreamerActor.code: actions',
          `the shape [..., ${counts.length}]`,
          `[${taken.shape}]`,
          'Give all choices.',
        );
      }
      const each = tf.split(taken, counts.length, -1); // of [..., 1]
      return tf.concat(
        each.map((option, i) => oneHotCode(tf.reshape(option, lead), counts[i])),
        -1,
      );
    },
    distribution: (params, features) => {
      const each = ofChoices(head.logits(params, features), actions).map((logits) => unimixLog(logits, share));
      return { kind: 'discrete', logProbs: joined(each) };
    },
    masked: (distribution, mask) => {
      const parts = ofChoices(mask, actions);
      const each = ofChoices((distribution as Choices).logProbs, actions).map((own, i) =>
        maskedLogProbs(own, parts[i]),
      );
      return { kind: 'discrete', logProbs: joined(each) };
    },
    sample: (distribution, noise) => {
      checkShapes('dreamerActor.sample', { noise }, `${rowsOf(distribution)} ${counts.length}`);
      const { logProbs } = distribution as Choices;
      const draws = tf.split(noise, counts.length, 1); // of [N, 1]
      const each = ofChoices(logProbs, actions);
      return joined(each.map((own, i) => oneHotSample(tf.exp(own), tf.reshape(draws[i], [-1]))));
    },
    // Sums over all options are the sums over choices of theirs.
    logProb: (distribution, taken) => {
      checkShapes('dreamerActor.logProb', { actions: taken }, `${rowsOf(distribution)} ${size}`);
      const { logProbs } = distribution as Choices;
      return tf.sum(tf.mul(logProbs, stopGradient(taken)), -1) as tf.Tensor1D;
    },
    entropy: (distribution) => {
      const { logProbs } = distribution as Choices;
      return tf.neg(tf.sum(tf.mul(tf.exp(logProbs), logProbs), -1)) as tf.Tensor1D;
    },
  };
}

function continuousActor(actions: Continuous, options: Omit<ActorOptions, 'actions' | 'unimix'>): DreamerActor {
  const { size } = actions;
  const head = dreamerHead({ ...options, outputs: 2 * size, scale: START });
  const entropyAt = (stddev: number) => size * (Math.log(stddev) + Math.log(2 * Math.PI * Math.E) / 2);
  return {
    actions,
    actionSize: size,
    noise: { kind: 'normal', size },
    entropyRange: [entropyAt(0.1), entropyAt(1)],
    specs: head.specs,
    code: (taken) => taken,
    distribution: (params, features) => {
      const [mean, stddev] = tf.split(head.logits(params, features), 2, 1);
      return { kind: 'continuous', ...boundedNormal(mean, stddev) } as ActorDistribution;
    },
    masked: (distribution) => distribution,
    sample: (distribution, noise) => {
      checkShapes('dreamerActor.sample', { noise }, `${rowsOf(distribution)} ${size}`);
      return stopGradient(normalSample(distribution as Normal, noise)) as tf.Tensor2D;
    },
    logProb: (distribution, taken) => {
      checkShapes('dreamerActor.logProb', { actions: taken }, `${rowsOf(distribution)} ${size}`);
      return normalLogProb(distribution as Normal, stopGradient(taken)) as tf.Tensor1D;
    },
    entropy: (distribution) => normalEntropy(distribution as Normal) as tf.Tensor1D,
  };
}

/** Options of each discrete choice; none of continuous actions. */
function choicesOf(actions: DreamerActions): readonly number[] {
  if (actions.kind === 'continuous') return [];
  return actions.kind === 'discrete' ? [actions.count] : actions.counts;
}

/** A, numbers of an action's code. */
export function actionSizeOf(actions: DreamerActions): number {
  if (actions.kind === 'continuous') return actions.size;
  return choicesOf(actions).reduce((sum, count) => sum + count, 0);
}

/** The part of each choice of numbers for all options, [N, K] to a list of [N, options]. */
function ofChoices(x: tf.Tensor2D, actions: DreamerActions): tf.Tensor2D[] {
  const counts = choicesOf(actions);
  return counts.length === 1 ? [x] : (tf.split(x, [...counts], 1) as tf.Tensor2D[]);
}

/** The opposite of {@link ofChoices}. */
function joined(parts: readonly tf.Tensor[]): tf.Tensor2D {
  return (parts.length === 1 ? parts[0] : tf.concat([...parts], 1)) as tf.Tensor2D;
}

/** N */
function rowsOf(distribution: ActorDistribution): number {
  return (distribution.kind === 'discrete' ? distribution.logProbs : distribution.mean).shape[0];
}
