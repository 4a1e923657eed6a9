import { encodeSequence, type RssmSequence } from '@coplay/models';
import {
  type LossResult,
  type StateOf,
  type StepFunction,
  stopGradient,
  type TensorRecord,
  tf,
  valueAndGradients,
} from '@coplay/tensor';
import { type BehaviourTerms, behaviourTerms, type CriticMemory } from './behaviour';
import { batchOf, classesOf, type DreamerParts, startOf, stateOf } from './data';
import { byGroup, type DreamerGroup, stepBehaviour, stepWorld } from './groups';
import { lastStates } from './last-states';
import { replayValueTerms } from './replay-value';
import { worldModelTerms } from './world-model';

type State = StateOf<DreamerGroup>;

/** Posterior states of a batch, without gradients. */
export interface Posterior {
  readonly states: Pick<RssmSequence, 'deter' | 'stoch'>;
  /** [B T, F] */
  readonly features: tf.Tensor2D;
}

/** All losses of DreamerV3 on a batch, added up; what else the joint update needs is among the metrics. */
export function jointLoss(parts: DreamerParts, state: State, params: TensorRecord, inputs: TensorRecord): LossResult {
  const model = worldModelTerms(parts, params, inputs);
  const starts = lastStates(model.states, parts.options.starts);
  const behaviour = behaviourTerms(parts, params, memoryOf(state), starts, inputs);
  const replay = replayValueTerms(parts, params, state.slow, model.features, behaviour.startReturns, inputs);
  const loss = tf.addN([model.loss, behaviour.loss, ...(replay ? [replay.loss] : [])]) as tf.Scalar;
  const metrics = { ...model.metrics, ...behaviour.metrics, ...replay?.metrics, 'opt/loss': loss };
  return { loss, metrics: { ...metrics, ...latentsOf(model.states), ...named(behaviour.range) } };
}

/** DreamerV3's own update: one loss, one backward pass; imagination uses the parameters that the step begins with. */
export function jointStep(parts: DreamerParts): StepFunction<DreamerGroup> {
  return (state, inputs) => {
    const all = { ...state.world, ...state.behaviour };
    const { gradients, metrics } = valueAndGradients((params) => jointLoss(parts, state, params, inputs), all);
    const { outputs, range } = unnamed(metrics);
    const split = byGroup(gradients);
    const rate = inputs['learningRate'] as tf.Scalar;
    const world = stepWorld(parts, state, split.world, rate);
    const behaviour = stepBehaviour(parts, state, split.behaviour, range, rate);
    const norms = tf.stack([world.gradientNorm, behaviour.gradientNorm]);
    return {
      state: { ...world.next, ...behaviour.next },
      outputs: { ...outputs, 'opt/grad_norm': tf.sqrt(tf.sum(tf.square(norms))) },
    };
  };
}

/** An update of the world model alone; the posterior states that it met are returned without gradients. */
function worldModelStep(parts: DreamerParts) {
  return (state: StateOf<'world' | 'worldSlots'>, inputs: TensorRecord) => {
    const { gradients, metrics } = valueAndGradients((params) => {
      const { loss, states, features, metrics } = worldModelTerms(parts, params, inputs);
      const { deter, stoch } = states;
      return { loss, metrics: { ...metrics, 'opt/loss_world': loss, deter, stoch, features } };
    }, state.world);
    const { deter, stoch, features, ...outputs } = metrics;
    const { next, gradientNorm } = stepWorld(parts, state, gradients, inputs['learningRate'] as tf.Scalar);
    const posterior = { states: { deter, stoch }, features } as unknown as Posterior;
    return { next, posterior, outputs: { ...outputs, 'opt/grad_norm_world': gradientNorm } };
  };
}

/**
 * An update of actor and critic from posterior states; with the states of a batch the critic also learns from its
 * rewards. The world model stays as it is.
 */
function behaviourStep(parts: DreamerParts) {
  return (state: State, inputs: TensorRecord, { states, features }: Posterior) => {
    const { gradients, metrics: kept } = valueAndGradients((behaviour) => {
      const params = { ...state.world, ...behaviour };
      const starts = lastStates(states, Math.min(parts.options.starts, states.deter.shape[1]));
      const terms = behaviourTerms(parts, params, memoryOf(state), starts, inputs);
      const isReplay = inputs['isFirst'] !== undefined;
      const replay = isReplay
        ? replayValueTerms(parts, params, state.slow, features, terms.startReturns, inputs)
        : undefined;
      const loss = replay ? (tf.add(terms.loss, replay.loss) as tf.Scalar) : terms.loss;
      return {
        loss,
        metrics: { ...terms.metrics, ...replay?.metrics, 'opt/loss_behaviour': loss, ...named(terms.range) },
      };
    }, state.behaviour);
    const { outputs, range } = unnamed(kept);
    const { next, gradientNorm } = stepBehaviour(parts, state, gradients, range, inputs['learningRate'] as tf.Scalar);
    return { next, outputs: { ...outputs, 'opt/grad_norm_behaviour': gradientNorm } };
  };
}

/** The posterior states of a batch under the present world model, as starts of imagination. */
function encodeBatch(parts: DreamerParts, world: TensorRecord, inputs: TensorRecord): Posterior {
  const noise = inputs['noise/posterior'] as tf.Tensor3D;
  return encodeSequence(parts.nets, world, batchOf(parts, inputs), startOf(parts, inputs), noise);
}

/**
 * World model first, then, in the same graph, actor and critic from its posterior states and with its new parameters.
 */
export function coupledStep(parts: DreamerParts): StepFunction<DreamerGroup> {
  const world = worldModelStep(parts);
  const behaviour = behaviourStep(parts);
  return (state, inputs) => {
    const model = world(state, inputs);
    const learned = behaviour({ ...state, ...model.next }, inputs, model.posterior);
    const outputs = { ...model.outputs, ...learned.outputs, ...latentsOf(model.posterior.states) };
    return { state: { ...model.next, ...learned.next }, outputs };
  };
}

/** {@link worldModelStep} to be compiled. */
export function separateWorldStep(parts: DreamerParts): StepFunction<'world' | 'worldSlots'> {
  const step = worldModelStep(parts);
  return (state, inputs) => {
    const { next, posterior, outputs } = step(state, inputs);
    return { state: next, outputs: { ...outputs, ...latentsOf(posterior.states) } };
  };
}

/**
 * {@link behaviourStep} to be compiled: from given states, `fromDeter` [B, T, D] and `fromStoch` [B, T, S], or from a
 * batch that is encoded here.
 */
export function separateBehaviourStep(parts: DreamerParts): StepFunction<DreamerGroup> {
  const step = behaviourStep(parts);
  return (state, inputs) => {
    const posterior = inputs['fromDeter'] ? givenStates(parts, inputs) : encodeBatch(parts, state.world, inputs);
    const { next, outputs } = step(state, inputs, posterior);
    return { state: next, outputs };
  };
}

function givenStates({ nets }: DreamerParts, inputs: TensorRecord): Posterior {
  const states = stateOf(nets, inputs['fromDeter'], inputs['fromStoch']) as unknown as Posterior['states'];
  return { states, features: nets.rssm.features(states) };
}

function memoryOf(state: State): CriticMemory {
  return { slow: state.slow, range: state.range as unknown as CriticMemory['range'] };
}

/** Posterior states as outputs: `deter` [B, T, D], and `stoch` [B, T, S] as classes. */
function latentsOf({ deter, stoch }: Posterior['states']): TensorRecord {
  return { deter: stopGradient(deter), stoch: classesOf(stopGradient(stoch)) };
}

const RANGE = 'range/';

/** The range of returns among metrics, on its way out of the gradient's tape. */
function named({ low, high }: BehaviourTerms['range']): TensorRecord {
  return { [`${RANGE}low`]: low, [`${RANGE}high`]: high };
}

function unnamed(metrics: TensorRecord) {
  const { [`${RANGE}low`]: low, [`${RANGE}high`]: high, ...outputs } = metrics;
  return { outputs, range: { low, high } as BehaviourTerms['range'] };
}
