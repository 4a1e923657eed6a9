import { type ActionSpace, type AnyGame, createValueNorm, type ObservationField, type SavedState } from '@coplay/core';
import { actionLayout, choicesOf, highOf, isBox } from '@coplay/core/arrays';
import type { InputOptions } from '@coplay/models';
import { type StepFunction, type TensorRecord, tf, variables } from '@coplay/tensor';
import type { OnnxInput, OnnxOptions } from '@coplay/tensor/onnx';
import type { PpoLearner } from '../ppo';
import { encodeTensors, type SeenTensors } from './encode';

/** An agent's policy as a function that can be exported, with all that the file says about it. */
export interface PolicyFunction {
  readonly fn: StepFunction<'params'>;
  readonly options: OnnxOptions<'params'>;
}

/** Names of inputs that aren't fields of the observation. */
const OWN_NAMES = [
  'mask',
  'previousActions',
  'state',
  'criticState',
  'logProbs',
  'means',
  'stds',
  'likeliest',
  'nextState',
  'value',
  'nextCriticState',
];

/** A field whose name is one of ours is called `observation/NAME`. */
function nameOf(field: string): string {
  return OWN_NAMES.includes(field) ? `observation/${field}` : field;
}

/**
 * The policy of a PPO learner from an agent's observation to log-probabilities (of a box to means, standard deviations
 * and the likeliest action), encoding included.
 *
 * @param seat      whose view it is
 * @param withValue whether the critic's value comes out too, in the unit of returns
 */
export async function policyFunction(learner: PpoLearner, seat: number, withValue: boolean): Promise<PolicyFunction> {
  const { game, inputs, net, distribution, config } = learner.setup;
  const space = actionLayout(game).spaces[seat];
  const params = variables(await learner.parameters());
  const scale = withValue ? await valueScale(learner) : undefined;
  const fields = inputs.fields ?? Object.keys(game.observation);
  const fn: StepFunction<'params'> = (state, given) => {
    const mask = given['mask'] as tf.Tensor2D | undefined;
    const seen: SeenTensors = {
      rows: Object.values(given)[0].shape[0] as number,
      fields: Object.fromEntries(fields.map((field) => [field, given[nameOf(field)]])),
      ...(mask && { mask }),
      ...(inputs.previousActions && { previousActions: given['previousActions'] }),
    };
    const encoded = encodeTensors(game, inputs, seat, seen);
    const { policy, state: next } = net.act(state.params, encoded, mask, given['state'] as tf.Tensor2D | undefined);
    const answer = distribution.outputs(policy);
    const outputs: TensorRecord = next ? { ...answer, nextState: next } : answer;
    return {
      outputs: scale ? { ...outputs, ...criticOutputs(learner, state.params, encoded, given, scale) } : outputs,
    };
  };
  const options: OnnxOptions<'params'> = {
    name: 'policy',
    state: { params },
    inputs: inputsOf(game, seat, inputs, fields, net.stateSize, withValue),
    outputs: outputsOf(space, net.stateSize > 0, withValue),
    description: `The policy of ${game.agents[seat]} in ${game.name}: from its observation to ${isBox(space) ? 'a distribution over' : 'log-probabilities of'} its actions.`,
    metadata: {
      'coplay.game': game.name,
      'coplay.game.options': JSON.stringify(game.options),
      'coplay.agent': game.agents[seat],
      'coplay.agents': JSON.stringify(game.agents),
      'coplay.actions': JSON.stringify(game.actionNames),
      ...(typeof space !== 'number' && { 'coplay.space': JSON.stringify(space) }),
      'coplay.config': JSON.stringify(config),
      'coplay.updates': String(learner.updates),
    },
  };
  return { fn, options };
}

interface Scale {
  readonly mean: number;
  readonly deviation: number;
}

/** What turns the critic's numbers into returns. */
async function valueScale(learner: PpoLearner): Promise<Scale> {
  const unit = learner.rewardDeviation;
  if (!learner.setup.options.normaliseValues) return { mean: 0, deviation: unit };
  const norm = createValueNorm();
  norm.restore((await learner.state())['valueNorm'] as SavedState);
  return { mean: unit * norm.mean, deviation: unit * Math.sqrt(norm.variance) };
}

/** The critic's value [B] of the observation, and its next state where it's recurrent. */
function criticOutputs(
  { setup: { net } }: PpoLearner,
  params: TensorRecord,
  encoded: TensorRecord,
  given: TensorRecord,
  { mean, deviation }: Scale,
): TensorRecord {
  const state = given['criticState'] as tf.Tensor2D | undefined;
  const memory = state ? { state, isFirst: tf.zeros([state.shape[0], 1]) as tf.Tensor2D } : {};
  const { values, states } = net.value(params, { inputs: encoded, ...memory });
  const value = deviation === 1 && mean === 0 ? values : tf.add(tf.mul(values, deviation), mean);
  return states ? { value, nextCriticState: tf.reshape(states, [-1, net.stateSize]) } : { value };
}

function inputsOf(
  game: AnyGame,
  seat: number,
  { previousActions }: InputOptions,
  fields: readonly string[],
  stateSize: number,
  withValue: boolean,
): Record<string, OnnxInput> {
  const given: Record<string, OnnxInput> = {};
  for (const field of fields) given[nameOf(field)] = fieldInput(field, game.observation[field]);
  const { spaces, dtype, width } = actionLayout(game);
  const K = choicesOf(spaces[seat]).reduce((sum, count) => sum + count, 0);
  if (K > 0) given['mask'] = { shape: ['batch', K], dtype: 'uint8', meaning: '1 where an action is legal, else 0' };
  if (previousActions) {
    const none = dtype === 'int32' ? '-1' : 'NaN';
    const meaning = `the previous action of each agent, in the order of coplay.agents; ${none} in the first step and for agents that left`;
    const values = typeof game.actions === 'number' ? [] : [width];
    given['previousActions'] = { shape: ['batch', game.agents.length, ...values], dtype, meaning };
  }
  if (stateSize > 0) {
    const meaning = 'nextState of the step before; zeros where an episode begins';
    given['state'] = { shape: ['batch', stateSize], meaning };
    if (withValue) given['criticState'] = { shape: ['batch', stateSize], meaning: meaning.replace('S', 'CriticS') };
  }
  return given;
}

/** A field as the game writes it. Kinds of numbers that the file can't take come as float32. */
function fieldInput(name: string, field: ObservationField): OnnxInput {
  const { shape, dtype, channels, kind } = field;
  const type = dtype === 'uint8' || dtype === 'int32' ? dtype : 'float32';
  const range = kind === 'image' ? ` from 0 to ${highOf(field)}` : '';
  const what = kind ? `, of kind ${kind}${range}` : '';
  const last = channels ? `; the last axis is ${channels.join(', ')}` : '';
  return { shape: ['batch', ...shape], dtype: type, meaning: `the observation's field ${name}${what}${last}` };
}

function boxOutputs(): Record<string, string> {
  return {
    means: 'means of the samples, before they are clipped or squashed',
    stds: 'standard deviations of the samples',
    likeliest: 'the middle of the distribution as an action: clipped or squashed to the bounds',
  };
}

function several(space: ActionSpace): string {
  return typeof space === 'number' ? '' : '; those of each choice one after the other, in the order of coplay.space';
}

function outputsOf(space: ActionSpace, isRecurrent: boolean, withValue: boolean): Record<string, string> {
  const logProbs =
    'natural logarithms of the probabilities of actions, in the order of coplay.actions; about -1e9 where illegal';
  const outputs: Record<string, string> = isBox(space) ? boxOutputs() : { logProbs: `${logProbs}${several(space)}` };
  if (isRecurrent) outputs['nextState'] = 'to be fed as state in the next step';
  if (withValue) outputs['value'] = "the critic's estimate of the discounted return";
  if (withValue && isRecurrent) outputs['nextCriticState'] = 'to be fed as criticState in the next step';
  return outputs;
}
