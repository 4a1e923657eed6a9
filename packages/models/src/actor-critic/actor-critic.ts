import {
  type ActionSpace,
  checkOptions,
  checkShapes,
  fail,
  type Generator,
  type NamedArrays,
  ndarray,
} from '@coplay/core';
import { choicesOf, isBox, maskSizeOf, widthOf } from '@coplay/core/arrays';
import { checkGenerator, checkRecord, functions } from '@coplay/core/checks';
import { checkTensor, type TensorRecord, tf } from '@coplay/tensor';
import { maskedLogProbs } from '@coplay/tensor/distributions';
import { z } from 'zod';
import type { InputShapes } from '../inputs';
import { shapesSchema } from '../inputs/input-encoder';
import { denseLayer, prefixed, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { checkInputs } from '../torso/flatten';
import { type Body, feedforward } from './body';
import type { RecordedRows } from './recorded-rows';
import { recurrent } from './recurrent';

/** Options of an actor-critic. */
export interface ActorCriticOptions {
  /** The actor's inputs. */
  readonly inputs: InputShapes;
  /** The critic's inputs, where it sees more than the actor. Default: the same */
  readonly criticInputs?: InputShapes;
  /** K, the number of discrete actions; or the agent's space: a box, or several choices */
  readonly actions: ActionSpace;
  /**
   * The standard deviation of a new policy over a box, above 0. Default 1
   */
  readonly initialStd?: number;
  /** The actor's network, between inputs and head. */
  readonly network: TorsoBuilder;
  /** The critic's network. Default: a second one like the actor's */
  readonly criticNetwork?: TorsoBuilder;
  /** Units of a GRU between torso and head, for actor and critic each; 0 for none. Default 0 */
  readonly recurrent?: number;
}

/**
 * A policy and a value function with separate parameters, named `actor/...` and `critic/...`. Feedforward where
 * `stateSize` is 0; else inputs are sequences `[B, T, ...]` and a state `[B, stateSize]` goes in.
 */
export interface ActorCritic {
  /** Units of the recurrent state of the actor, and of the critic; 0 for feedforward networks. */
  readonly stateSize: number;
  /** K, the size of the mask: the number of discrete actions, or of options in all choices; 0 for a box */
  readonly actions: number;
  /**
   * P, the numbers that describe a policy: K log-probabilities, those of several choices one after the other; for a box
   * of w values w means and w logarithms of standard deviations
   */
  readonly policySize: number;
  init(generator: Generator): NamedArrays;
  /**
   * One step of the policy, for acting.
   *
   * @param inputs [B, ...] for each input
   * @param mask   [B, K] 1 where legal; undefined for a box
   * @param state  [B, stateSize]; it's already zero where an episode begins
   * @returns the policy [B, P] (log-probabilities are very low where illegal) and the next state
   */
  act(params: TensorRecord, inputs: TensorRecord, mask: tf.Tensor2D | undefined, state?: tf.Tensor2D): PolicyStep;
  /**
   * The policy over recorded rows, for learning. `[N, ...]` or, recurrent, `[B, T, ...]` with N = B T.
   *
   * @returns [N, P]
   */
  policy(params: TensorRecord, rows: RecordedRows, mask: tf.Tensor | undefined): tf.Tensor2D;
  /** The value of recorded rows [N], and the states after each step [B, T, stateSize] where recurrent. */
  value(params: TensorRecord, rows: RecordedRows): { values: tf.Tensor1D; states?: tf.Tensor3D };
}

/** What {@link ActorCritic.act} returns. */
export interface PolicyStep {
  readonly policy: tf.Tensor2D;
  readonly state?: tf.Tensor2D;
}

/** Gains of the heads' orthogonal initial kernels: an almost uniform policy at the start (Andrychowicz et al. 2021). */
const POLICY_GAIN = 0.01;
const VALUE_GAIN = 1;

const schema = z.strictObject({
  inputs: shapesSchema,
  criticInputs: shapesSchema.optional(),
  actions: z.union([z.int().min(1), z.looseObject({ kind: z.enum(['box', 'multi-discrete']) })]),
  initialStd: z.number().positive().optional(),
  network: functions(),
  criticNetwork: functions().optional(),
  recurrent: z.int().min(0).optional(),
});

/** Builds an actor-critic out of a torso, an optional GRU and a linear head, twice. */
export function actorCritic(options: ActorCriticOptions): ActorCritic {
  checkOptions('actorCritic', schema, options);
  const { inputs, criticInputs = inputs, network, criticNetwork = network, recurrent: units = 0 } = options;
  const { actions: space, initialStd = 1 } = options;
  const actions = maskSizeOf(space);
  const actor = makeBody(network, inputs, units);
  const critic = makeBody(criticNetwork, criticInputs, units);
  const outputSize = isBox(space) ? widthOf(space) : actions;
  const policyHead = denseLayer({ inputSize: actor.outputSize, outputSize, gain: POLICY_GAIN });
  const valueHead = denseLayer({ inputSize: critic.outputSize, outputSize: 1, gain: VALUE_GAIN });

  /** [B, P] */
  const policyOf = (params: TensorRecord, features: tf.Tensor2D, mask: tf.Tensor | undefined): tf.Tensor2D => {
    const outputs = policyHead.apply(within('actor/head', params), features) as tf.Tensor2D;
    return isBox(space) ? withLogStd(outputs, params['actor/logStd']) : choiceLogProbs(outputs, mask, choicesOf(space));
  };

  return {
    stateSize: units,
    actions,
    policySize: isBox(space) ? 2 * outputSize : actions,
    init: (generator) => {
      checkGenerator('actorCritic.init', generator);
      return {
        ...prefixed('actor/body', actor.init(generator.fork())),
        ...prefixed('actor/head', policyHead.init(generator.fork())),
        ...(isBox(space) && { 'actor/logStd': ndarray(new Float32Array(outputSize).fill(Math.log(initialStd))) }),
        ...prefixed('critic/body', critic.init(generator.fork())),
        ...prefixed('critic/head', valueHead.init(generator.fork())),
      };
    },
    act: (params, seen, mask, state) => {
      const where = 'actorCritic.act';
      checkRecord(where, 'params', params);
      checkInputs(where, inputs, seen);
      if (!isBox(space)) checkShapes(where, { mask: mask as tf.Tensor2D }, `B ${actions}`);
      if (units > 0) checkShapes(where, { state: state as tf.Tensor2D }, `B ${units}`);
      const { features, next } = actor.step(within('actor/body', params), seen, state);
      const policy = policyOf(params, features, mask);
      return next ? { policy, state: next } : { policy };
    },
    policy: (params, rows, mask) => {
      checkRows('actorCritic.policy', params, inputs, rows, units);
      if (!isBox(space)) checkTensor('actorCritic.policy', 'mask', mask);
      const { features } = actor.unroll(within('actor/body', params), rows);
      return policyOf(params, features, mask && tf.reshape(mask, [-1, actions]));
    },
    value: (params, rows) => {
      checkRows('actorCritic.value', params, criticInputs, rows, units);
      const { features, states } = critic.unroll(within('critic/body', params), rows);
      const values = tf.squeeze(valueHead.apply(within('critic/head', params), features), [1]) as tf.Tensor1D;
      return states ? { values, states } : { values };
    },
  };
}

/** [B, w] means and [w] logarithms of standard deviations, the same in every state, as [B, 2w]. */
function withLogStd(means: tf.Tensor2D, logStd: tf.Tensor): tf.Tensor2D {
  return tf.concat([means, tf.add(tf.zerosLike(means), logStd)], 1) as tf.Tensor2D;
}

/** [B, K] log-probabilities of each choice, one after the other. */
export function choiceLogProbs(
  logits: tf.Tensor2D,
  mask: tf.Tensor | undefined,
  counts: readonly number[],
): tf.Tensor2D {
  const legal = mask as tf.Tensor2D;
  if (counts.length === 1) return maskedLogProbs(logits, legal) as tf.Tensor2D;
  let start = 0;
  const each = counts.map((count) => {
    const part = (x: tf.Tensor2D) => tf.slice(x, [0, start], [x.shape[0], count]);
    const logProbs = maskedLogProbs(part(logits), part(legal)) as tf.Tensor2D;
    start += count;
    return logProbs;
  });
  return tf.concat(each, 1) as tf.Tensor2D;
}

/** Refuses parameters that aren't a record, and rows that lack an input of the network. */
function checkRows(where: string, params: TensorRecord, shapes: InputShapes, rows: RecordedRows, units: number): void {
  checkRecord(where, 'params', params);
  checkRecord(where, 'rows', rows);
  checkInputs(where, shapes, rows.inputs);
  if (units === 0) return;
  const { isFirst, state } = rows;
  if (!isFirst || !state) {
    const remedy = 'Give sequences with the state they start from.';
    fail(where, 'isFirst and state for a recurrent network', 'none', remedy);
  }
  checkShapes(where, { isFirst }, 'B T');
  checkShapes(where, { state }, `B ${units}`);
}

function makeBody(network: TorsoBuilder, inputs: InputShapes, units: number): Body {
  const torso = network(inputs);
  return units === 0 ? feedforward(torso) : recurrent(torso, inputs, units);
}
