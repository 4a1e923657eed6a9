import { type ActionSpaces, type AgentId, checkOptions, fail, show } from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import type { StepFunction, TensorRecord, TensorTree } from '@coplay/tensor';
import * as onnx from '@coplay/tensor/onnx';
import { z } from 'zod';
import type { PpoAgent } from '../ppo';
import { type PolicyFunction, policyFunction } from './policy-function';

/** Options of {@link exportOnnx} for an agent. */
export interface PolicyExportOptions {
  /** The seat that it plays in, whose view the policy takes. Default: the agent's own */
  readonly id?: AgentId;
  /**
   * Whether the critic's value is an output too; not for a central critic, whose inputs an agent doesn't have. Default
   * false
   */
  readonly value?: boolean;
  /** Further text by key, for readers of the file. */
  readonly metadata?: Readonly<Record<string, string>>;
}

const schema = z.strictObject({
  id: z.string().optional(),
  value: z.boolean().default(false),
  metadata: z.record(z.string(), z.string()).default({}),
});

/**
 * Writes the policy of an agent, with its parameters of the moment, as a standard ONNX file; or a function, as
 * `exportOnnx` of `@coplay/tensor/onnx` does.
 *
 * An agent's file takes the agent's inputs as the game writes them: the fields of the observation by name, `mask` and,
 * where the agent reads or has them, `previousActions` and `state`; any number of rows. Encoding is part of the graph.
 * Out come `logProbs` [batch, K] and, recurrent, `nextState`. For a box there is no mask, and out come `means`, `stds`
 * and `likeliest` [batch, w], the action in the middle of the distribution. Names of actions, the game and its options
 * are in the file's metadata.
 *
 * @param file  path of the file; an older one is replaced, at once or not at all
 * @throws CoplayError for an agent without parameters yet, unknown options, or if the file can't be written
 */
export function exportOnnx(
  agent: PpoAgent<ActionSpaces>,
  file: string,
  options?: PolicyExportOptions,
): Promise<onnx.OnnxFile>;
export function exportOnnx<
  Key extends string = never,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, file: string, options: onnx.OnnxOptions<Key>): Promise<onnx.OnnxFile>;
export async function exportOnnx(
  what: PpoAgent<ActionSpaces> | StepFunction,
  file: string,
  options: PolicyExportOptions | onnx.OnnxOptions = {},
): Promise<onnx.OnnxFile> {
  if (typeof what === 'function') return onnx.exportOnnx(what, file, options as onnx.OnnxOptions);
  checkText('exportOnnx', 'file', file);
  const policy = await policyOf('exportOnnx', what, options as PolicyExportOptions);
  return onnx.exportOnnx(policy.fn, file, policy.options);
}

/** The bytes of the file that {@link exportOnnx} would write, for browsers, or to be kept elsewhere. */
export function toOnnx(agent: PpoAgent<ActionSpaces>, options?: PolicyExportOptions): Promise<Uint8Array>;
export function toOnnx<
  Key extends string = never,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, options: onnx.OnnxOptions<Key>): Promise<Uint8Array>;
export async function toOnnx(
  what: PpoAgent<ActionSpaces> | StepFunction,
  options: PolicyExportOptions | onnx.OnnxOptions = {},
): Promise<Uint8Array> {
  if (typeof what === 'function') return onnx.toOnnx(what, options as onnx.OnnxOptions);
  const policy = await policyOf('toOnnx', what, options as PolicyExportOptions);
  return onnx.toOnnx(policy.fn, policy.options);
}

async function policyOf(
  where: string,
  agent: PpoAgent<ActionSpaces>,
  given: PolicyExportOptions,
): Promise<PolicyFunction> {
  const learner = agent?.learner;
  if (learner?.setup?.net === undefined) {
    fail(
      where,
      'an agent of ppoAgent() or sharedPpoAgents(), or a function',
      agent?.name === undefined ? show(agent) : `${agent.id}, ${agent.name}`,
      'Give an agent that learns by PPO: of others there is no file.',
    );
  }
  const { id = agent.id, value, metadata } = checkOptions(where, schema, given);
  const { game, critic } = learner.setup;
  const seat = game.agents.indexOf(id);
  if (seat < 0) {
    const ids = `an id of ${game.name}: ${game.agents.join(', ')}`;
    fail(`${where}: option id`, ids, show(id), 'Take it from game.agents.');
  }
  if (value && critic === 'joint') {
    const remedy = 'Leave value out: acting needs no critic.';
    fail(`${where}: option value`, "a critic that reads the agent's own view", 'a joint one', remedy);
  }
  const { fn, options } = await policyFunction(learner, seat, value);
  return { fn, options: { ...options, metadata: { ...options.metadata, ...metadata } } };
}
