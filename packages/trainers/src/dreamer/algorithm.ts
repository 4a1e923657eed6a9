/*
 * DreamerV3 (Hafner et al. 2023, arXiv v2), top to bottom: the losses of a batch, the optimisers, an update of each
 * schedule, acting, and the network that compiles them. `data.ts` says what a batch is. Shapes: B sequences of T steps,
 * N start states of imagination, H imagined steps, D numbers of h, S latents of z, F features of a state.
 */
import { type NamedArrays, ndarray } from '@coplay/core';
import { encodeSequence, type RssmInputs, type RssmSequence } from '@coplay/models/dreamer';
import {
  type Compiled,
  compile,
  type LossResult,
  laProp,
  mergeRows,
  type Optimiser,
  type StateOf,
  type StepFunction,
  stopGradient,
  type TensorRecord,
  tf,
  valueAndGradients,
} from '@coplay/tensor';
import { Network } from '../training/network';
import { type BehaviourLoss, behaviourLoss, type CriticMemory, replayValueLoss } from './behaviour';
import {
  batchOf,
  classesOf,
  type DreamerParts,
  noiseOf,
  observationsOf,
  previousCodes,
  startingCoPlayers,
  startOf,
  stateOf,
} from './data';
import { imagineSequence, lastStates } from './imagination';
import { hasLegalHead } from './legal';
import { openLoopForward } from './open-loop';
import type { DreamerSetup } from './setup';
import { worldModelLoss } from './world-model';

/**
 * The groups of variables of a Dreamer. World model and actor-critic have an optimiser each in every schedule: LaProp
 * and adaptive clipping treat arrays apart, so that two of them that step together are one.
 */
export type DreamerGroup = 'world' | 'worldSlots' | 'behaviour' | 'behaviourSlots' | 'slow' | 'range';

type State = StateOf<DreamerGroup>;

/** Posterior states of a batch. */
interface Posterior {
  readonly states: Pick<RssmSequence, 'deter' | 'stoch'>;
  /** [B T, F] */
  readonly features: tf.Tensor2D;
}

/** All losses of a batch, added up: of the world model, of actor and critic in imagination, of the critic on replay. */
export function jointLoss(parts: DreamerParts, state: State, params: TensorRecord, inputs: TensorRecord): LossResult {
  const model = worldModelLoss(parts, params, inputs);
  const behaviour = imaginedLoss(parts, state, params, model, inputs);
  const loss = tf.addN([model.loss, ...behaviour.losses]) as tf.Scalar;
  const metrics = { ...model.metrics, ...behaviour.metrics, 'opt/loss': loss };
  return { loss, metrics: { ...metrics, ...latentsOf(model.states), ...named(behaviour.range) } };
}

/**
 * The losses of actor and critic on trajectories imagined from the last posterior states of each sequence, and, where
 * the inputs are a batch, of the critic on its recorded rewards.
 */
function imaginedLoss(
  parts: DreamerParts,
  state: State,
  params: TensorRecord,
  { states, features }: Posterior,
  inputs: TensorRecord,
) {
  const { nets, options } = parts;
  const starts = lastStates(states, Math.min(options.starts, states.deter.shape[1])); // [N, ...]
  const imagined = imagineSequence(nets, params, starts, noiseOf(inputs), startingCoPlayers(parts, inputs));
  const memory = { slow: state.slow, range: state.range as unknown as CriticMemory['range'] };
  const behaviour = behaviourLoss(parts, params, memory, imagined, inputs['entropyScale'] as tf.Scalar);
  const replay = inputs['isFirst']
    ? replayValueLoss(parts, params, state.slow, features, behaviour.startReturns, inputs)
    : undefined;
  return {
    losses: replay ? [behaviour.loss, replay.loss] : [behaviour.loss],
    range: behaviour.range,
    metrics: { ...behaviour.metrics, ...replay?.metrics },
  };
}

/** LaProp with adaptive clipping. */
export function dreamerOptimiser({ options }: Pick<DreamerParts, 'options'>): Optimiser {
  return laProp({ adaptiveClip: options.adaptiveClip });
}

/** The world model's next parameters. */
function nextWorld(
  parts: DreamerParts,
  { world, worldSlots }: StateOf<'world' | 'worldSlots'>,
  gradients: TensorRecord,
  inputs: TensorRecord,
) {
  const rate = inputs['learningRate'] as tf.Scalar;
  const { params, slots, gradientNorm } = dreamerOptimiser(parts).update(gradients, worldSlots, world, rate);
  return { next: { world: params, worldSlots: slots }, gradientNorm };
}

/**
 * The next parameters of actor and critic, of the slow critic, which follows the critic, and the new range of returns.
 */
function nextBehaviour(
  parts: DreamerParts,
  { behaviour, behaviourSlots, slow }: State,
  gradients: TensorRecord,
  range: BehaviourLoss['range'],
  inputs: TensorRecord,
) {
  const rate = inputs['learningRate'] as tf.Scalar;
  const { params, slots, gradientNorm } = dreamerOptimiser(parts).update(gradients, behaviourSlots, behaviour, rate);
  const followed = follow(slow, criticOf(params), parts.options.slowRate);
  return { next: { behaviour: params, behaviourSlots: slots, slow: followed, range: { ...range } }, gradientNorm };
}

/** (1 - rate) slow + rate critic */
function follow(slow: TensorRecord, critic: TensorRecord, rate: number): TensorRecord {
  const moved = Object.entries(slow).map(([name, x]) => {
    return [name, tf.add(tf.mul(x, 1 - rate), tf.mul(critic[name], rate))];
  });
  return Object.fromEntries(moved) as TensorRecord;
}

/** Parameters, or their gradients, by group: those of actor and critic, and all others. */
export function byGroup<T>(params: Readonly<Record<string, T>>): Record<'world' | 'behaviour', Record<string, T>> {
  const groups: Record<'world' | 'behaviour', Record<string, T>> = { world: {}, behaviour: {} };
  for (const [name, value] of Object.entries(params)) {
    const isBehaviour = name.startsWith('pol/') || name.startsWith('val/');
    groups[isBehaviour ? 'behaviour' : 'world'][name] = value;
  }
  return groups;
}

/** The slow critic's names of the critic's parameters. */
export function criticOf<T>(behaviour: Readonly<Record<string, T>>): Record<string, T> {
  const entries = Object.entries(behaviour).filter(([name]) => name.startsWith('val/'));
  return Object.fromEntries(entries.map(([name, value]) => [name.slice('val/'.length), value]));
}

/** `joint`: one loss, one backward pass, as in DreamerV3's code; imagination uses the parameters before the update. */
function jointUpdate(parts: DreamerParts): StepFunction<DreamerGroup> {
  return (state, inputs) => {
    const all = { ...state.world, ...state.behaviour };
    const { gradients, metrics } = valueAndGradients((params) => jointLoss(parts, state, params, inputs), all);
    const { outputs, range } = unnamed(metrics);
    const split = byGroup(gradients);
    const world = nextWorld(parts, state, split.world, inputs);
    const behaviour = nextBehaviour(parts, state, split.behaviour, range, inputs);
    const norms = tf.stack([world.gradientNorm, behaviour.gradientNorm]); // [2]
    return {
      state: { ...world.next, ...behaviour.next },
      outputs: { ...outputs, 'opt/grad_norm': tf.sqrt(tf.sum(tf.square(norms))) },
    };
  };
}

/** An update of the world model alone; the posterior states that it met are returned without gradients. */
function updateWorld(parts: DreamerParts, state: StateOf<'world' | 'worldSlots'>, inputs: TensorRecord) {
  const { gradients, metrics: kept } = valueAndGradients((params) => {
    const { loss, states, features, metrics } = worldModelLoss(parts, params, inputs);
    const { deter, stoch } = states;
    return { loss, metrics: { ...metrics, 'opt/loss_world': loss, deter, stoch, features } };
  }, state.world);
  const { deter, stoch, features, ...outputs } = kept;
  const { next, gradientNorm } = nextWorld(parts, state, gradients, inputs);
  const posterior = { states: { deter, stoch }, features } as unknown as Posterior;
  return { next, posterior, outputs: { ...outputs, 'opt/grad_norm_world': gradientNorm } };
}

/** An update of actor and critic from posterior states. The world model stays as it is. */
function updateBehaviour(parts: DreamerParts, state: State, inputs: TensorRecord, posterior: Posterior) {
  const { gradients, metrics: kept } = valueAndGradients((behaviour) => {
    const params = { ...state.world, ...behaviour };
    const { losses, metrics, range } = imaginedLoss(parts, state, params, posterior, inputs);
    const loss = losses.reduce((sum, other) => tf.add(sum, other));
    return { loss, metrics: { ...metrics, 'opt/loss_behaviour': loss, ...named(range) } };
  }, state.behaviour);
  const { outputs, range } = unnamed(kept);
  const { next, gradientNorm } = nextBehaviour(parts, state, gradients, range, inputs);
  return { next, outputs: { ...outputs, 'opt/grad_norm_behaviour': gradientNorm } };
}

/**
 * `coupled`: the world model first, then, in the same graph, actor and critic from its posterior states and with its
 * new parameters.
 */
function coupledUpdate(parts: DreamerParts): StepFunction<DreamerGroup> {
  return (state, inputs) => {
    const model = updateWorld(parts, state, inputs);
    const learned = updateBehaviour(parts, { ...state, ...model.next }, inputs, model.posterior);
    const outputs = { ...model.outputs, ...learned.outputs, ...latentsOf(model.posterior.states) };
    return { state: { ...model.next, ...learned.next }, outputs };
  };
}

/** `separate`: the world model's half. */
function worldUpdate(parts: DreamerParts): StepFunction<'world' | 'worldSlots'> {
  return (state, inputs) => {
    const { next, posterior, outputs } = updateWorld(parts, state, inputs);
    return { state: next, outputs: { ...outputs, ...latentsOf(posterior.states) } };
  };
}

/**
 * `separate`: the half of actor and critic, from given states, `fromDeter` [B, T, D] and `fromStoch` [B, T, S], or from
 * a batch that is encoded here.
 */
function behaviourUpdate(parts: DreamerParts): StepFunction<DreamerGroup> {
  const { nets } = parts;
  return (state, inputs) => {
    const posterior = (): Posterior => {
      if (!inputs['fromDeter']) {
        const noise = inputs['noise/posterior'] as tf.Tensor3D; // [B, T, S]
        return encodeSequence(nets, state.world, batchOf(parts, inputs), startOf(parts, inputs), noise);
      }
      const states = stateOf(nets, inputs['fromDeter'], inputs['fromStoch']) as unknown as Posterior['states'];
      return { states, features: nets.rssm.features(states) };
    };
    const { next, outputs } = updateBehaviour(parts, state, inputs, posterior());
    return { state: next, outputs };
  };
}

/** Posterior states as outputs: `deter` [B, T, D], and `stoch` [B, T, S] as classes. */
function latentsOf({ deter, stoch }: Posterior['states']): TensorRecord {
  return { deter: stopGradient(deter), stoch: classesOf(stopGradient(stoch)) };
}

/** The range of returns among metrics, on its way out of the gradient's tape. */
function named({ low, high }: BehaviourLoss['range']): TensorRecord {
  return { 'range/low': low, 'range/high': high };
}

function unnamed(metrics: TensorRecord) {
  const { 'range/low': low, 'range/high': high, ...outputs } = metrics;
  return { outputs, range: { low, high } as BehaviourLoss['range'] };
}

/**
 * Acting as a function of tensors. Inputs: `obs/NAME` [B, ...], `previousActions` as in a batch (and `coPlayerActions`
 * [B, M] where co-players are modelled), `isFirst` [B], `mask` [B, options] but for boxes, `deter` [B, D], `stoch` [B,
 * S] int32 classes, `noise` [B, S]. Outputs: `logProbs` [B, options] over the legal actions, of a box `mean` and
 * `stddev` [B, values], and the next `deter` and `stoch`.
 */
function actForward({ nets }: Pick<DreamerParts, 'nets'>): StepFunction<'world' | 'behaviour'> {
  const actor = hasLegalHead(nets) ? nets.unmasked : nets.actor;
  return (state, inputs) => {
    const { enc, dyn } = nets.parts(state.world);
    const { pol } = nets.parts(state.behaviour);
    const rows = inputs['isFirst'].shape[0];
    const step: RssmInputs = {
      tokens: tf.expandDims(nets.encoder.apply(enc, observationsOf(nets, inputs)), 1) as tf.Tensor3D, // [B, 1, E]
      actions: tf.expandDims(previousCodes(nets, inputs), 1) as tf.Tensor3D, // [B, 1, A]
      isFirst: tf.reshape(inputs['isFirst'], [rows, 1]) as tf.Tensor2D,
    };
    const start = stateOf(nets, inputs['deter'], inputs['stoch']);
    const next = nets.rssm.observe(dyn, start, step, tf.expandDims(inputs['noise'], 1) as tf.Tensor3D);
    const free = actor.distribution(pol, nets.rssm.features(next));
    const { kind: _, ...policy } = inputs['mask'] ? actor.masked(free, inputs['mask'] as tf.Tensor2D) : free;
    return {
      outputs: {
        ...policy,
        deter: tf.reshape(next.deter, [rows, nets.sizes.deter]),
        stoch: tf.reshape(classesOf(next.stoch), [rows, nets.sizes.stoch]),
      },
    };
  };
}

/**
 * The functions of tensors that Dreamer runs. Each is compiled when it first runs, so that only the functions of the
 * schedule are compiled.
 */
export interface DreamerFunctions {
  readonly act: Compiled;
  readonly joint: Compiled;
  readonly coupled: Compiled;
  readonly world: Compiled;
  readonly behaviour: Compiled;
  /** See `openLoopForward`; changes nothing */
  readonly openLoop: Compiled;
}

/** Parameters by group, and the functions over them. Acting and training see the same weights. */
export type DreamerNetwork = Network<DreamerGroup, DreamerFunctions>;

/** A network without parameters as yet. Fresh ones: the slow critic begins as the critic, the range of returns at 0. */
export function dreamerNetwork(
  setup: Pick<DreamerSetup, 'nets' | 'options' | 'executor'>,
  name: string,
): DreamerNetwork {
  const { executor } = setup;
  const acceptState = (outputs: NamedArrays) => nonFinite(outputs) === undefined;
  const common = { executor, acceptState, memory: 'arena' } as const; // reuses large arrays
  return new Network({
    name: `DreamerV3 (${name})`,
    init: (generator) => {
      const { world, behaviour } = byGroup(setup.nets.init(generator));
      const optimiser = dreamerOptimiser(setup);
      const zero = () => ndarray(new Float32Array(1), []);
      return {
        world,
        worldSlots: optimiser.init(world),
        behaviour,
        behaviourSlots: optimiser.init(behaviour),
        slow: criticOf(behaviour),
        range: { low: zero(), high: zero() },
      };
    },
    slots: ['worldSlots', 'behaviourSlots'],
    functions: (groups) => {
      const { world, worldSlots, behaviour } = groups;
      return {
        act: mergeRows(compile(actForward(setup), { name: 'dreamer/act', state: { world, behaviour }, executor })),
        joint: compile(jointUpdate(setup), { name: 'dreamer/joint', state: groups, ...common }),
        coupled: compile(coupledUpdate(setup), { name: 'dreamer/coupled', state: groups, ...common }),
        world: compile(worldUpdate(setup), { name: 'dreamer/world', state: { world, worldSlots }, ...common }),
        behaviour: compile(behaviourUpdate(setup), { name: 'dreamer/behaviour', state: groups, ...common }),
        openLoop: compile(openLoopForward(setup), { name: 'dreamer/open_loop', state: { world }, executor }),
      };
    },
  });
}

/** The first loss or gradient norm that isn't finite. */
export function nonFinite(outputs: NamedArrays): string | undefined {
  return Object.keys(outputs).find((name) => name.startsWith('opt/') && !Number.isFinite(outputs[name].data[0]));
}
