import { type ActionSpace, type AgentId, type AnyGame, checkGame, checkOptions, fail } from '@coplay/core';
import { kindOf as fieldKind, isBox } from '@coplay/core/arrays';
import {
  type ActorCritic,
  actorCritic,
  type InputEncoder,
  type InputOptions,
  inputEncoder,
  jointEncoder,
  mlp,
  type TorsoBuilder,
  torsoBuilderId,
} from '@coplay/models';
import {
  adam,
  type Compiled,
  compile,
  compileScan,
  compileScanEach,
  compileTogether,
  type ExecutorChoice,
  mergeRows,
  type StepFunction,
  stackVariables,
  type Variables,
} from '@coplay/tensor';
import { z } from 'zod';
import { type ActionDistribution, actionDistribution } from '../training/action-distribution';
import type { Annealed } from '../training/annealed';
import { areFinite } from '../training/finite-steps';
import { checkFields, checkId, commonSpace, inputSchema } from '../training/inputs';
import { Network } from '../training/network';
import { optionNames, unchecked } from '../training/option-names';
import { actForward, ppoUpdate, tableUpdate, type UpdateInputs, valueForward } from './algorithm';
import { type NormalisedColumns, normalisedColumns, normalisedNet } from './normalisation';
import { type PpoOptions, ppoSchema, type ResolvedPpoOptions, type RewardChoice, resolvePpoOptions } from './options';

/** The parts of a PPO agent, in addition to the algorithm's hyperparameters. */
export interface PpoNetworkOptions {
  /**
   * The body of actor and critic, each with parameters of its own: `mlp()`, `conv()`, `layersModel()`. Default `mlp()`
   */
  readonly network?: TorsoBuilder;
  /** The critic's body, if it should differ. Default: the same kind */
  readonly criticNetwork?: TorsoBuilder;
  /** Units of a GRU in actor and critic; 0 for none. Default 0 */
  readonly recurrent?: number;
  /** Inputs of the networks in addition to the game's observation. Default: nothing */
  readonly inputs?: Omit<InputOptions, 'extras'>;
  /** `own` view, or the `joint` view of all agents (MAPPO's central critic). Default `own` */
  readonly critic?: 'own' | 'joint';
  /** Which rewards are learned from. Default `own` */
  readonly reward?: RewardChoice;
  /** How a policy over a box draws actions. Default: a Gaussian of standard deviation 1, clipped to the box */
  readonly continuous?: ContinuousOptions;
  /**
   * `auto` takes the fastest executor; `onnx` insists on compiled graphs, `eager` runs operation by operation. Default
   * `auto`
   */
  readonly executor?: ExecutorChoice;
}

/**
 * A policy over a box: a normal distribution for each value, whose mean depends on the observation, and whose standard
 * deviation is a parameter (as in CleanRL's ppo_continuous_action.py and in stable-baselines3).
 */
export interface ContinuousOptions {
  /**
   * Whether samples are squashed by tanh into the bounds of the box, which must have some. Otherwise they are clipped
   * to the bounds, and the policy learns from the samples themselves. Default false
   */
  readonly squash?: boolean;
  /** The standard deviation at the start, above 0: of actions, or of what is squashed. Default 1 */
  readonly initialStd?: number;
}

/** Distributions that the policy is also trained towards, in the rows that have one. */
export interface PolicyTarget {
  /** The extra [E, T, A, K] of real experience that has them; zeros in rows without one */
  readonly extra: string;
  /** Weight of the cross-entropy with them in the loss, at least 0 */
  readonly weight: Annealed;
}

/** Everything that's fixed before the first parameter is drawn. */
export interface PpoSetup {
  readonly game: AnyGame;
  readonly ids: readonly AgentId[];
  readonly options: ResolvedPpoOptions;
  readonly net: ActorCritic;
  /** Over the space of the agents. */
  readonly distribution: ActionDistribution;
  /** The actor's inputs, and whether the critic sees more than one agent's view. */
  readonly inputs: InputOptions;
  readonly critic: 'own' | 'joint';
  readonly actorEncoder: InputEncoder;
  readonly criticEncoder: InputEncoder;
  /** The inputs whose numbers are normalised; none without `normaliseObservations` */
  readonly normalised: NormalisedColumns;
  readonly reward: RewardChoice;
  readonly executor: ExecutorChoice;
  /** Given by algorithms that extend PPO. */
  readonly policyTarget?: PolicyTarget;
  /** Builders of the actor's and the critic's body. */
  readonly networks: Required<Pick<PpoNetworkOptions, 'network' | 'criticNetwork'>>;
  /** As JSON, for run directories and checkpoints. */
  readonly config: Readonly<Record<string, unknown>>;
}

const functionSchema = (what: string) =>
  z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', { error: what });
const builderSchema = functionSchema('a network: mlp(), conv(), or layersModel(() => yourModel)');
const networkSchema = z.strictObject({
  network: builderSchema.optional(),
  criticNetwork: builderSchema.optional(),
  recurrent: z.int().min(0).default(0),
  inputs: inputSchema.extend({ extras: z.record(z.string(), z.int().min(1)).optional() }).default({}),
  critic: z.enum(['own', 'joint']).default('own'),
  reward: z.union([z.enum(['own', 'prosocial']), functionSchema('a function of the experience')]).default('own'),
  continuous: z
    .strictObject({ squash: z.boolean().default(false), initialStd: z.number().positive().default(1) })
    .optional(),
  executor: z.enum(['auto', 'onnx', 'wasm', 'eager']).default('auto'),
});
const ownOptions = { game: unchecked, ppo: optionNames(ppoSchema, 'options of PPO') };

/**
 * Checks options and builds networks and encoders. Nothing here is random or touches a tensor.
 *
 * @param others  schemas of further options of the agent, whose names messages list
 * @param spaces  the actions that the algorithm takes. Default `discrete`
 */
export function ppoSetup(
  where: string,
  game: AnyGame,
  ids: readonly AgentId[],
  networks: Omit<PpoNetworkOptions, 'inputs'> & { readonly inputs?: InputOptions },
  ppo: PpoOptions,
  others: Readonly<Record<string, z.ZodType>> = {},
  spaces: 'discrete' | 'any' = 'discrete',
): PpoSetup {
  checkGame(`${where}: option game`, game, spaces, 'play');
  for (const id of ids) checkId(where, game, id);
  const allOptions = z.strictObject({ ...ownOptions, ...others, ...networkSchema.shape });
  const checked = checkOptions(where, allOptions, { game, ppo, ...networks }) as z.infer<typeof networkSchema>;
  const options = resolvePpoOptions(where, ppo);
  const inputs = checked.inputs as InputOptions;
  checkFields(where, game, inputs);
  const space = commonSpace(`${where}: option ids`, game, ids);
  const continuous = checked.continuous ?? { squash: false, initialStd: 1 };
  if (checked.continuous) checkContinuous(`${where}: option continuous`, game, space, continuous.squash);
  const network = networks.network ?? mlp();
  const criticNetwork = networks.criticNetwork ?? network;
  const actorEncoder = inputEncoder(game, inputs);
  if (Object.keys(actorEncoder.shapes).length === 0) {
    const remedy = 'Name fields of the observation.';
    fail(`${where}: option inputs`, 'something to read', 'no fields and nothing else', remedy);
  }
  const criticEncoder = checked.critic === 'joint' ? jointEncoder(actorEncoder, game.agents.length) : actorEncoder;
  const normalised = options.normaliseObservations ? normalisedColumns(actorEncoder, criticEncoder) : {};
  if (options.normaliseObservations) checkMeasured(`${where}: option ppo.normaliseObservations`, game, normalised);
  const plain = actorCritic({
    inputs: actorEncoder.shapes,
    criticInputs: criticEncoder.shapes,
    actions: space,
    initialStd: continuous.initialStd,
    network,
    criticNetwork,
    recurrent: checked.recurrent,
  });
  const net = options.normaliseObservations ? normalisedNet(plain, normalised, criticEncoder !== actorEncoder) : plain;
  const distribution = actionDistribution(space, continuous);
  const reward = networks.reward ?? 'own';
  const { normaliseObservations, normaliseRewards, ...rest } = options;
  const config = {
    algorithm: 'ppo',
    ...rest,
    // Named where they are on, so that runs from before there were such options go on.
    ...(normaliseObservations && { normaliseObservations }),
    ...(normaliseRewards && { normaliseRewards }),
    network: network.config,
    criticNetwork: criticNetwork.config,
    recurrent: checked.recurrent,
    inputs,
    critic: checked.critic,
    ...(isBox(space) && { continuous }),
    reward: typeof reward === 'string' ? reward : `function ${reward.name || 'anonymous'}`,
  };
  const { critic, executor } = checked;
  return {
    ...{
      game,
      ids,
      options,
      net,
      distribution,
      inputs,
      critic,
      actorEncoder,
      criticEncoder,
      normalised,
      reward,
      executor,
      config,
    },
    networks: { network, criticNetwork },
  };
}

/** Refuses options of a policy over a box for other actions, and squashing without bounds. */
function checkContinuous(where: string, game: AnyGame, space: ActionSpace, squash: boolean): void {
  if (!isBox(space)) fail(where, 'a game whose actions are a box', `${game.name}, whose are not`, 'Leave it out.');
  const isBounded = [...space.low, ...space.high].every(Number.isFinite);
  if (!squash || isBounded) return;
  const remedy = 'Leave squash out, or give the box a low and a high of finite numbers.';
  fail(`${where}.squash`, 'a box with bounds', `one without in ${game.name}`, remedy);
}

/** Refuses to normalise where there is nothing to normalise. */
function checkMeasured(where: string, game: AnyGame, columns: NormalisedColumns): void {
  if (Object.keys(columns).length > 0) return;
  const fields = Object.entries(game.observation).map(([name, field]) => `${name} of kind ${fieldKind(field)}`);
  const remedy = 'Leave it out: zeros and ones, and pictures, are of unit size already.';
  fail(where, 'a game with a field of the kind vector', `${fields.join(', ')} in ${game.name}`, remedy);
}

/** The compiled functions of PPO. */
export interface PpoFunctions {
  readonly act: Compiled;
  readonly value: Compiled;
  /** S gradient steps in a call. If the loss or gradient of one isn't finite, everything stays as it was. */
  readonly update: Compiled<UpdateInputs>;
}

/** Parameters and optimiser slots of a PPO learner, and the functions over them. */
export type PpoNetwork = Network<'params' | 'slots', PpoFunctions>;

/** A network without parameters as yet. */
export function ppoNetwork(setup: PpoSetup, name: string): PpoNetwork {
  return new Network({
    name: `PPO (${name})`,
    init: (generator) => {
      const params = setup.net.init(generator);
      return { params, slots: optimiserOf(setup).init(params) };
    },
    slots: ['slots'],
    functions: (state) => ownFunctions(setup, state),
  });
}

function optimiserOf({ options }: PpoSetup) {
  const clipping = options.clipNorm === false ? {} : { clipNorm: options.clipNorm };
  return adam({ epsilon: options.adamEpsilon, ...clipping });
}

function updateOf(setup: PpoSetup): StepFunction<'params' | 'slots', UpdateInputs> {
  return tableUpdate(ppoUpdate(setup, optimiserOf(setup), setup.options));
}

/**
 * Functions over one set of parameters. What several agents that share them ask in one turn is answered in one batch.
 */
function ownFunctions(setup: PpoSetup, state: Readonly<Record<'params' | 'slots', Variables>>): PpoFunctions {
  const { net, executor } = setup;
  const { params } = state;
  return {
    act: mergeRows(compile(actForward(net), { name: 'ppo/act', state: { params }, executor })),
    value: mergeRows(compile(valueForward(net), { name: 'ppo/value', state: { params }, executor })),
    update: compileScan(updateOf(setup), { name: 'ppo/update', state, executor, acceptState: areFinite }),
  };
}

/**
 * Gives networks of one kind functions that run in one graph: acting and valuing in one call, updates one after the
 * other.
 */
export function joinNetworks(setup: PpoSetup, networks: readonly PpoNetwork[]): void {
  const { net, executor } = setup;
  const params = stackVariables(networks.map(({ groups }) => groups.params));
  const acts = compileTogether(actForward(net), { name: 'ppo/act', state: { params }, executor });
  const values = compileTogether(valueForward(net), { name: 'ppo/value', state: { params }, executor });
  const updates = compileScanEach(updateOf(setup), {
    name: 'ppo/update',
    states: networks.map(({ groups }) => groups),
    executor,
    acceptState: areFinite,
  });
  networks.forEach((network, i) => {
    network.replace({ act: acts[i], value: values[i], update: updates[i] });
  });
}

/**
 * Setups with the same text have the same graphs, because the text has the numbers of the networks' builders. Undefined
 * for one whose operations run one by one.
 */
export function kindOf({ game, config, net, ids, networks, executor, policyTarget }: PpoSetup): string | undefined {
  if (executor === 'eager') return undefined;
  const builders = [networks.network, networks.criticNetwork].map(torsoBuilderId);
  const space = commonSpace('ppo: option ids', game, ids);
  return JSON.stringify([config, net.stateSize, space, ids.length, builders, policyTarget]);
}
