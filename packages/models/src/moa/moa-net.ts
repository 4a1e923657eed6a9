import {
  type ActionSpace,
  type BoxSpace,
  checkOptions,
  checkShapes,
  fail,
  type Generator,
  type NamedArrays,
} from '@coplay/core';
import { choicesOf, isBox, maskSizeOf, widthOf } from '@coplay/core/arrays';
import { checkGenerator, checkRecord, functions } from '@coplay/core/checks';
import { checkTensor, type TensorRecord, tf } from '@coplay/tensor';
import { z } from 'zod';
import { choiceLogProbs } from '../actor-critic/actor-critic';
import { type Body, feedforward } from '../actor-critic/body';
import { recurrent } from '../actor-critic/recurrent';
import type { InputShapes } from '../inputs';
import { shapesSchema } from '../inputs/input-encoder';
import { denseLayer, prefixed, within } from '../layers';
import { conv, type TorsoBuilder } from '../torso';
import { checkInputs } from '../torso/flatten';
import { goalCode, goalCodeSize } from './goal-code';

/** Options of a model of another agent. */
export interface MoaNetOptions {
  /** Its inputs from the other agent's own view: images by name, and `vector`. */
  readonly inputs: InputShapes;
  /** K, the number of discrete actions; or the other agent's space: a box, or several choices */
  readonly actions: ActionSpace;
  /** G, the goals that predictions depend on; 0 for a plain model. Default 0 */
  readonly goals?: number;
  /** Whether "unknown" is a goal of its own, so that one network predicts with and without a goal. Default false */
  readonly unknownGoal?: boolean;
  /**
   * The network between inputs and logits. Default `conv({ filters: [16, 32, 32], dense: 512 })` (Huang et al. 2024)
   */
  readonly network?: TorsoBuilder;
  /** Units of a GRU over the other agent's episode; 0 for a model that sees the present step only. Default 0 */
  readonly recurrent?: number;
}

/** Inputs of many rows, for learning: [N, ...], or sequences [B, T, ...] of a recurrent model. */
export interface MoaInputs {
  /** For each of the inputs. */
  readonly inputs: TensorRecord;
  /** [N] or [B, T] int32, in -1..G-1 (-1: unknown); only of goal-conditioned models */
  readonly goals?: tf.Tensor;
  /** [N, K] or [B, T, K] 1 where legal; none for a box */
  readonly mask?: tf.Tensor;
  /** [B, T] 1 in the first step of an episode; only of recurrent models, whose state is zero there */
  readonly isFirst?: tf.Tensor2D;
}

/** What {@link MoaNet.step} returns. */
export interface MoaStep {
  /** [B, P] */
  readonly policy: tf.Tensor2D;
  /** [B, stateSize]; only of recurrent models */
  readonly state?: tf.Tensor2D;
}

/**
 * A model of another agent (MOA): pi(action | its view, its goal), pure functions over parameters `body/...` and
 * `head/...`. Direct (of the present step) where `stateSize` is 0, else recurrent over the other agent's episode.
 */
export interface MoaNet {
  /** Units of the recurrent state; 0 for a direct model. */
  readonly stateSize: number;
  /** K, the size of the mask: the number of discrete actions, or of options in all choices; 0 for a box */
  readonly actions: number;
  /**
   * P, the numbers of a prediction: K log-probabilities, those of several choices one after the other, very low where
   * illegal; for a box the means of its w values, then the logarithms of their standard deviations
   */
  readonly policySize: number;
  /** G; 0 for a plain model. */
  readonly goals: number;
  init(generator: Generator): NamedArrays;
  /**
   * One step.
   *
   * @param inputs [B, ...] for each input
   * @param mask   [B, K] 1 where legal; undefined for a box
   * @param goals  [B] int32 in -1..G-1; only of goal-conditioned models
   * @param state  [B, stateSize]; it's already zero where an episode begins
   */
  step(
    params: TensorRecord,
    inputs: TensorRecord,
    mask: tf.Tensor2D | undefined,
    goals?: tf.Tensor1D,
    state?: tf.Tensor2D,
  ): MoaStep;
  /**
   * Recorded rows, for learning; of a recurrent model every sequence starts from a zero state.
   *
   * @returns [N, P]
   */
  predict(params: TensorRecord, rows: MoaInputs): tf.Tensor2D;
}

/** Gain of the head's orthogonal initial kernel: predictions begin almost uniform over the legal actions. */
const HEAD_GAIN = 0.01;

const schema = z.strictObject({
  inputs: shapesSchema,
  actions: z.union([z.int().min(1), z.looseObject({ kind: z.enum(['box', 'multi-discrete']) })]),
  goals: z.int().min(0).optional(),
  unknownGoal: z.boolean().optional(),
  network: functions().optional(),
  recurrent: z.int().min(0).optional(),
});

/**
 * Builds a model of another agent out of a torso, an optional GRU and a linear head; the goal's code is appended to the
 * vector.
 */
export function moaNet(options: MoaNetOptions): MoaNet {
  checkOptions('moaNet', schema, options);
  const { inputs, actions: space, goals = 0, unknownGoal = false, recurrent: units = 0 } = options;
  const { network = conv({ filters: [16, 32, 32], dense: 512 }) } = options;
  const codeSize = goalCodeSize(goals, unknownGoal);
  const shapes = codeSize === 0 ? inputs : { ...inputs, vector: [(inputs['vector']?.[0] ?? 0) + codeSize] };
  const torso = network(shapes);
  const body: Body = units === 0 ? feedforward(torso) : recurrent(torso, shapes, units);
  const actions = maskSizeOf(space);
  const policySize = isBox(space) ? 2 * widthOf(space) : actions;
  const head = denseLayer({ inputSize: body.outputSize, outputSize: policySize, gain: HEAD_GAIN });
  const withGoals = (given: TensorRecord, goal: tf.Tensor | undefined): TensorRecord => {
    if (codeSize === 0) return given;
    const code = goalCode(goal as tf.Tensor, goals, unknownGoal);
    const vector = given['vector'];
    return { ...given, vector: vector ? tf.concat([vector, code], -1) : code };
  };
  const checkGoals = (where: string, goal: tf.Tensor | undefined): void => {
    if (codeSize === 0) return;
    if (!goal) fail(where, 'goals for a goal-conditioned model', 'none', 'Give one for each row, -1 where unknown.');
    checkTensor(where, 'goals', goal);
  };
  /** [B, P] */
  const policyOf = (params: TensorRecord, features: tf.Tensor2D, mask: tf.Tensor | undefined): tf.Tensor2D => {
    const outputs = head.apply(within('head', params), features) as tf.Tensor2D;
    return isBox(space) ? normalOf(outputs, space) : choiceLogProbs(outputs, mask, choicesOf(space));
  };
  return {
    stateSize: units,
    actions,
    policySize,
    goals,
    init: (generator) => {
      checkGenerator('moaNet.init', generator);
      return {
        ...prefixed('body', body.init(generator.fork())),
        ...prefixed('head', head.init(generator.fork())),
      };
    },
    step: (params, given, mask, goal, state) => {
      const where = 'moaNet.step';
      checkRecord(where, 'params', params);
      checkInputs(where, inputs, given);
      if (!isBox(space)) checkShapes(where, { mask: mask as tf.Tensor2D }, `B ${actions}`);
      checkGoals(where, goal);
      if (units > 0) checkShapes(where, { state: state as tf.Tensor2D }, `B ${units}`);
      const { features, next } = body.step(within('body', params), withGoals(given, goal), state);
      const policy = policyOf(params, features, mask);
      return next ? { policy, state: next } : { policy };
    },
    predict: (params, rows) => {
      const where = 'moaNet.predict';
      checkRecord(where, 'params', params);
      checkRecord(where, 'rows', rows);
      checkInputs(where, inputs, rows.inputs);
      if (!isBox(space)) checkTensor(where, 'mask', rows.mask);
      checkGoals(where, rows.goals);
      if (units > 0) checkShapes(where, { isFirst: rows.isFirst as tf.Tensor2D }, 'B T');
      const given = withGoals(rows.inputs, rows.goals);
      const memory = rows.isFirst
        ? { isFirst: rows.isFirst, state: tf.zeros([rows.isFirst.shape[0], units]) as tf.Tensor2D }
        : {};
      const { features } = body.unroll(within('body', params), { inputs: given, ...memory });
      return policyOf(params, features, rows.mask && tf.reshape(rows.mask, [-1, actions]));
    },
  };
}

/** Logarithms of standard deviations in units of half the box: a prediction is neither certain nor without meaning. */
const [LEAST_LOG_STD, MOST_LOG_STD] = [-5, 2];

/**
 * A normal distribution for each value, all independent, out of outputs [N, 2w] in units of the box: 0 is its middle
 * and 1 its upper bound. Of values without two bounds 0 is 0 and 1 is 1.
 *
 * @returns [N, 2w] means and logarithms of standard deviations, in units of actions
 */
function normalOf(outputs: tf.Tensor2D, { low, high }: BoxSpace): tf.Tensor2D {
  const w = low.length;
  const isBounded = low.map((value, i) => Number.isFinite(value) && Number.isFinite(high[i]));
  const middles = low.map((value, i) => (isBounded[i] ? (value + high[i]) / 2 : 0));
  const halves = low.map((value, i) => (isBounded[i] ? (high[i] - value) / 2 : 1));
  const [rows] = outputs.shape;
  const means = tf.add(tf.mul(tf.slice(outputs, [0, 0], [rows, w]), tf.tensor1d(halves)), tf.tensor1d(middles));
  const logStds = tf.clipByValue(tf.slice(outputs, [0, w], [rows, w]), LEAST_LOG_STD, MOST_LOG_STD);
  return tf.concat([means, tf.add(logStds, tf.tensor1d(halves.map(Math.log)))], 1) as tf.Tensor2D;
}
