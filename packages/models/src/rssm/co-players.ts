import { checkShapes, fail } from '@coplay/core';
import { checkTensor, stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { oneHotSample } from '@coplay/tensor/distributions';
import type { ParamSpecs } from '../layers';
import { dreamerHead, type HeadOptions } from './heads';
import { oneHotCode } from './observations';

/** What co-players do in an imagined step. */
export interface CoPlayerStep {
  /** [N, M K] codes of their actions; zeros for co-players that have left */
  readonly codes: tf.Tensor2D;
  /** [N, M] 1 for co-players that acted; a co-player that has left never returns */
  readonly active: tf.Tensor2D;
}

/** What co-players did along recorded sequences. */
export interface RecordedCoPlayers {
  /** [B, T, M] int32, the actions that led to each observation: index t was taken after observation t - 1; -1: none */
  readonly actions: tf.Tensor3D;
  /** [B, T, M] 1 for co-players that act after observation t */
  readonly active: tf.Tensor3D;
  /** [B, T] 1 in the first step of an episode */
  readonly isFirst: tf.Tensor2D;
}

/**
 * A model of M co-players with K actions each, who stand in cyclic order of seats after one's own: from one's own state
 * the actions that they are about to take, or that they have left (index K). Given the state they are independent of
 * each other and of one's own action.
 */
export interface CoPlayerModel {
  /** M */
  readonly count: number;
  /** K of each */
  readonly actions: number;
  readonly specs: ParamSpecs;
  /** [N, F] to log-probabilities [N, M, K + 1] */
  logProbs(params: TensorRecord, features: tf.Tensor2D): tf.Tensor3D;
  /** Actions [..., M] int32, -1 for none, to one-hot codes side by side [..., M K]. */
  code(actions: tf.Tensor): tf.Tensor;
  /**
   * Draws their actions. No gradient flows through it.
   *
   * @param logProbs [N, M, K + 1]
   * @param active   [N, M] 0 for co-players that left before
   * @param noise    [N, M] uniform in [0, 1)
   */
  sample(logProbs: tf.Tensor3D, active: tf.Tensor2D, noise: tf.Tensor2D): CoPlayerStep;
  /**
   * Cross entropy of their next actions, a mean over the steps of co-players that were present, and over the first step
   * in which each was absent. What comes after the end of a sequence or an episode isn't known and doesn't count.
   *
   * @param logProbs [B, T, M, K + 1]
   * @returns [] nats; 0 where nothing counts
   */
  loss(logProbs: tf.Tensor, recorded: RecordedCoPlayers): tf.Scalar;
}

/** Like an actor's, it begins almost uniform. */
const START = 0.01;

/** Builds a model of `count` co-players with `actions` actions each. */
export function coPlayerModel(
  options: Omit<HeadOptions, 'outputs' | 'scale'> & Pick<CoPlayerModel, 'count' | 'actions'>,
): CoPlayerModel {
  const { count: M, actions: K, ...sizes } = options;
  const head = dreamerHead({ ...sizes, outputs: M * (K + 1), scale: START });
  return {
    count: M,
    actions: K,
    specs: head.specs,
    logProbs: (params, features) => tf.logSoftmax(tf.reshape(head.logits(params, features), [-1, M, K + 1])),
    code: (actions) => {
      checkTensor('coPlayerModel.code', 'actions', actions);
      const { shape } = actions;
      if (shape.at(-1) !== M) {
        const remedy = 'Give one action for each co-player, without the agent itself.';
        fail('coPlayerModel.code: actions', `the shape [..., ${M}]`, `[${shape.join(', ')}]`, remedy);
      }
      return tf.reshape(oneHotCode(actions, K), [...shape.slice(0, -1), M * K]);
    },
    sample: (logProbs, before, noise) => {
      checkShapes('coPlayerModel.sample', { logProbs }, `N ${M} ${K + 1}`);
      const [N] = logProbs.shape;
      checkShapes('coPlayerModel.sample', { active: before, noise }, `${N} ${M}`);
      const drawn = tf.mul(oneHotSample(tf.exp(logProbs), noise), tf.expandDims(before, 2)); // [N, M, K + 1]
      const acted = tf.slice(drawn, 0, [-1, M, K]); // [N, M, K]
      return {
        codes: tf.reshape(acted, [-1, M * K]) as tf.Tensor2D,
        active: tf.sum(acted, -1) as tf.Tensor2D,
      };
    },
    loss: (logProbs, recorded) => {
      const [B, T] = recorded.isFirst.shape;
      checkShapes('coPlayerModel.loss', { logProbs }, `${B} ${T} ${M} ${K + 1}`);
      const { target, counts } = nextActions(recorded, M, K);
      const entropies = tf.neg(tf.sum(tf.mul(logProbs, oneHotCode(target, K + 1)), -1)); // [B, T, M]
      return tf.div(tf.sum(tf.mul(entropies, counts)), tf.maximum(tf.sum(counts), 1)) as tf.Scalar;
    },
  };
}

/** What comes next at each step, [B, T, M]: an action, or K for having left; and which of it is known. */
function nextActions({ actions, active, isFirst }: RecordedCoPlayers, M: number, K: number) {
  checkShapes('coPlayerModel.loss', { actions, active }, `${isFirst.shape.join(' ')} ${M}`);
  const [B, T] = isFirst.shape;
  const goesOn = tf.expandDims(tf.sub(1, later(isFirst, 1)), 2); // [B, T, 1]
  const acts = tf.mul(active, goesOn); // [B, T, M]
  const wasThere = tf.concat([tf.zeros([B, 1, M]), tf.slice(active, 0, [B, T - 1, M])], 1); // [B, T, M]
  const leaves = tf.mul(tf.mul(wasThere, tf.expandDims(tf.sub(1, isFirst), 2)), tf.sub(1, active));
  const next = tf.cast(later(actions, -1), 'float32');
  const target = tf.add(tf.mul(next, active), tf.mul(tf.sub(1, active), K)); // [B, T, M]
  return { target: stopGradient(target), counts: stopGradient(tf.add(acts, leaves)) };
}

/** [B, T, ...] moved up by a step, the last one filled. */
function later(x: tf.Tensor, fill: number): tf.Tensor {
  const [B, T, ...rest] = x.shape;
  const first = [0, 1, ...rest.map(() => 0)];
  return tf.concat([tf.slice(x, first, [B, T - 1, ...rest]), tf.fill([B, 1, ...rest], fill, x.dtype as 'int32')], 1);
}
