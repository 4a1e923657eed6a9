import type { ActorCritic, RecordedRows } from '@coplay/models';
import {
  categoricalEntropy,
  logProbOf,
  type Optimiser,
  type StepFunction,
  type TensorRecord,
  tf,
  valueAndGradients,
} from '@coplay/tensor';
import { clippedSurrogate, policyDiagnostics, valueLoss, weightedMean } from './losses';
import type { ResolvedPpoOptions } from './options';

/** The parts of PPO's options that are built into the update. */
export type StepOptions = Pick<ResolvedPpoOptions, 'valueWeight' | 'valueClip' | 'huberDelta'>;

/**
 * One gradient step of PPO on a minibatch of B rows (B sequences of L steps where the network is recurrent; then every
 * per-row array is [B, L]).
 *
 * Inputs: `actor/NAME` and, where the critic sees more, `critic/NAME` [B, ...]; `mask` [B, K]; `actions` int32;
 * `logProbs`, `values`, `advantages`, `returns`, `weights` [B]; scalars `learningRate`, `entropyWeight`, `clip`; recurrent
 * also `isFirst` [B, L], `actorState`, `criticState` [B, stateSize]. Where rows teach only one of the two, `actorWeights` and
 * `criticWeights` [B] multiply `weights`.
 *
 * loss = surrogate - entropyWeight x entropy + valueWeight x value loss; one optimiser for actor and critic together.
 */
export function ppoStep(
  net: ActorCritic,
  optimiser: Optimiser,
  options: StepOptions,
): StepFunction<'params' | 'slots'> {
  return (state, inputs) => {
    const { loss, gradients, metrics } = valueAndGradients(
      (params) => ppoLoss(net, params, inputs, options),
      state.params,
    );
    const learningRate = inputs['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, learningRate);
    return { state: { params, slots }, outputs: { loss, gradientNorm, ...metrics } };
  };
}

/** Inputs of {@link ppoUpdate}. */
export type UpdateInputs = {
  readonly each: TensorRecord;
  readonly shared: { readonly table: TensorRecord; readonly scalars: TensorRecord };
};

/**
 * One step of an update: gathers its minibatch out of the table of all rows, then {@link ppoStep}.
 *
 * Inputs of each step: `places` int32 [P] in the table, `weights` and `advantages` [P] (or [P, L]); shared: `table/NAME`
 * [R, ...], the rows; `scalars/NAME` [].
 */
export function ppoUpdate(step: StepFunction<'params' | 'slots'>): StepFunction<'params' | 'slots', UpdateInputs> {
  return (state, { each, shared }, statics) => {
    const rows = mapRecord(shared.table, (column) => tf.gather(column, each['places'] as tf.Tensor1D));
    const { weights, advantages } = each as Record<'weights' | 'advantages', tf.Tensor>;
    return step(state, { ...rows, ...shared.scalars, weights, advantages }, statics);
  };
}

function mapRecord(record: TensorRecord, change: (tensor: tf.Tensor) => tf.Tensor): TensorRecord {
  return Object.fromEntries(Object.entries(record).map(([name, tensor]) => [name, change(tensor)]));
}

function ppoLoss(net: ActorCritic, params: TensorRecord, inputs: TensorRecord, options: StepOptions) {
  const flat = (name: string) => tf.reshape(inputs[name], [-1]) as tf.Tensor1D;
  const weights = flat('weights');
  const mask = tf.reshape(inputs['mask'], [-1, net.actions]);
  const clip = inputs['clip'] as tf.Scalar;
  const weightsOf = (name: string) => (inputs[name] ? tf.mul<tf.Tensor1D>(weights, flat(name)) : weights);

  const logits = net.policy(params, actorRows(inputs), mask);
  const policy = {
    logProbs: logProbOf(logits, flat('actions')) as tf.Tensor1D,
    oldLogProbs: flat('logProbs'),
    advantages: flat('advantages'),
    weights: weightsOf('actorWeights'),
  };
  const surrogate = clippedSurrogate(policy, clip);
  const entropy = weightedMean(categoricalEntropy(logits, mask) as tf.Tensor1D, policy.weights);

  const { values } = net.value(params, criticRows(inputs));
  const critic = valueLoss(
    { values, oldValues: flat('values'), returns: flat('returns'), weights: weightsOf('criticWeights') },
    {
      clip: options.valueClip,
      huberDelta: options.huberDelta,
    },
  );

  const bonus = tf.mul(inputs['entropyWeight'], entropy);
  const loss = tf.add(tf.sub(surrogate, bonus), tf.mul(options.valueWeight, critic)) as tf.Scalar;
  return { loss, metrics: { surrogate, entropy, critic, ...policyDiagnostics(policy, clip) } };
}

/** The actor's part of a batch. */
export function actorRows(inputs: TensorRecord): RecordedRows {
  return { inputs: named(inputs, 'actor/'), ...memory(inputs, 'actorState') };
}

/** The critic's part of a batch: the actor's inputs, unless it has its own. */
export function criticRows(inputs: TensorRecord): RecordedRows {
  const own = named(inputs, 'critic/');
  const seen = Object.keys(own).length > 0 ? own : named(inputs, 'actor/');
  return { inputs: seen, ...memory(inputs, 'criticState') };
}

function named(inputs: TensorRecord, prefix: string): TensorRecord {
  const found: TensorRecord = {};
  for (const name in inputs) if (name.startsWith(prefix)) found[name.slice(prefix.length)] = inputs[name];
  return found;
}

function memory(inputs: TensorRecord, name: string): Pick<RecordedRows, 'isFirst' | 'state'> {
  if (!inputs[name]) return {};
  return { isFirst: inputs['isFirst'] as tf.Tensor2D, state: inputs[name] as tf.Tensor2D };
}
