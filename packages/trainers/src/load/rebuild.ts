/*
 * From the description of a learner in config.json (`learner.config`) back to the options that make it. A description
 * holds all numbers, with defaults filled in, so a default that changes later changes nothing. What JSON can't hold has
 * a name there, by which the caller gives it: a network of one's own, a model of the world, a reward, a memory of
 * goals.
 */
import { type ActionSpaces, type AgentId, type AnyGame, fail, type Game } from '@coplay/core';
import {
  cellsWorldModel,
  conv,
  mlp,
  observationsWorldModel,
  planesWorldModel,
  type TorsoBuilder,
  type WorldModelBuilder,
} from '@coplay/models';
import { dreamerAgent, sharedDreamerAgents } from '../dreamer';
import { sharedHopAgents } from '../hop';
import { sharedHopPlusAgents } from '../hop-plus';
import { sharedPpoAgents } from '../ppo';
import { socialInfluenceAgent } from '../social-influence';
import type { LearningAgent } from '../training';

/** A learner's description, or a part of one. */
type Config = Readonly<Record<string, unknown>>;

/** Functions of one's own by the names that they have in config.json. */
export type OwnParts = Readonly<Record<string, (...args: never[]) => unknown>>;

/** What agents are made from. */
export interface Rebuild {
  /** For messages: `loadRun`. */
  readonly where: string;
  readonly game: AnyGame;
  /** Who shares the learner. */
  readonly ids: readonly AgentId[];
  readonly parts: OwnParts;
}

/** Makers by `learner.config.algorithm`. */
const ALGORITHMS: Readonly<Record<string, (build: Rebuild, config: Config) => LearningAgent[]>> = {
  ppo: (build, config) => {
    const { options, rest: ppo } = ppoOptions(build, config);
    return sharedPpoAgents<ActionSpaces>({ game: build.game, ids: build.ids, ...options, ppo }) as LearningAgent[];
  },
  'social-influence': (build, { influenceWeight, rewardWeight, moa, ...config }) => {
    const { options, rest: ppo } = ppoOptions(build, config);
    const { reward: _, ...networks } = options; // its own
    const weights = { influenceWeight, rewardWeight } as object;
    const { goals: __, recurrent: ___, previousActions: ____, ...models } = moaOptions(build, moa as Config);
    const make = (id: AgentId) => {
      return socialInfluenceAgent({ game: build.game as Game, id, ...networks, ...weights, ppo, moa: models });
    };
    return build.ids.map(make) as unknown as LearningAgent[];
  },
  hop: (build, { network, search, simulator, moa, inputs, interOM, ...config }) => {
    const { centred, intraOM, uniformGoals, minAccuracy, beliefInputs, memories, ...hop } = config;
    const { goals, recurrent: _, ...models } = moaOptions(build, moa as Config);
    return sharedHopAgents({
      ...{ game: build.game as Game, ids: build.ids, goals, moa: models, hop },
      network: networkOf(build, network),
      search: searchOptions(search as Config),
      simulator: simulator === 'game' ? simulator : worldModelOptions(build, simulator as Config),
      interOM: functionNamed(build, interOM) as boolean,
      ...withoutAbsent({
        executor: executorIn(simulator),
        inputs,
        centred,
        intraOM,
        uniformGoals,
        minAccuracy,
        beliefInputs,
        memories,
      }),
    }) as LearningAgent[];
  },
  'hop-plus': (build, { worldModel, imagined, moa, omg, goalPriors, treeSearch, ...config }) => {
    const { options, rest: ppo } = ppoOptions(build, config);
    return sharedHopPlusAgents({
      ...{ game: build.game as Game, ids: build.ids, ...options, ppo },
      ...withoutAbsent({ executor: executorIn(worldModel, omg), imagined, goalPriors }),
      worldModel: isConfig(worldModel) ? worldModelOptions(build, worldModel) : (worldModel as 'rules' | false),
      moa: isConfig(moa) ? moaOptions(build, moa) : false,
      omg: isConfig(omg) ? omgOptions(build, omg) : false,
      treeSearch: isConfig(treeSearch) ? treeSearchOptions(build, treeSearch) : false,
    }) as LearningAgent[];
  },
  dreamer: ({ where, parts, game, ids }, { sizes, encoderNetwork, decoderNetwork, trainRatio, ...config }) => {
    const own = { where, parts };
    const options = {
      ...{ game: game as Game, ...config, size: sizes as object },
      ...(config['updatesPerPhase'] === undefined && { trainRatio: trainRatio as number }), // one of the two
      ...(isConfig(encoderNetwork) && { encoderNetwork: networkOf(own, encoderNetwork) }),
      ...(isConfig(decoderNetwork) && { decoderNetwork: networkOf(own, decoderNetwork) }),
    };
    if (ids.length > 1) return sharedDreamerAgents({ ...options, ids }) as unknown as LearningAgent[];
    return [dreamerAgent({ ...options, id: ids[0] }) as unknown as LearningAgent];
  },
};

/** What runs the networks of a learner, as its parts have it; undefined where no part tells. */
function executorIn(...parts: readonly unknown[]): unknown {
  return parts.find(isConfig)?.['executor'];
}

/** Whether {@link rebuildAgents} knows an algorithm. */
export function isBundled(algorithm: unknown): algorithm is string {
  return typeof algorithm === 'string' && Object.hasOwn(ALGORITHMS, algorithm);
}

/**
 * Agents of this package from the description of their learner; they have no parameters yet. Agents of social influence
 * have a learner each.
 *
 * @throws CoplayError for a part that wasn't given, and for options that the game doesn't allow
 */
export function rebuildAgents(build: Rebuild, { algorithm, ids: _, ...config }: Config): LearningAgent[] {
  return ALGORITHMS[algorithm as string](build, config);
}

/** The options of `ppoAgent` in a description, and all its other fields: PPO's numbers. */
function ppoOptions(build: Rebuild, config: Config) {
  const { network, criticNetwork, recurrent, inputs, critic, continuous, reward, ...rest } = config;
  const { extras: _, ...seen } = inputs as Config; // extras are inputs that an algorithm around PPO gives
  const options = {
    network: networkOf(build, network),
    criticNetwork: networkOf(build, criticNetwork),
    ...{ recurrent: recurrent as number, critic: critic as 'own' | 'joint', inputs: seen },
    reward: functionNamed(build, reward) as 'own' | 'prosocial',
    ...(isConfig(continuous) && { continuous }),
  };
  return { options, rest };
}

function moaOptions(build: Rebuild, { game: _, network, ...config }: Config) {
  return { ...config, network: networkOf(build, network) } as Config & {
    readonly goals: 'hindsight' | 'none';
    readonly network: TorsoBuilder;
  };
}

function omgOptions(build: Rebuild, config: Config) {
  const { algorithm: _, id: __, executor: ___, encoderNetwork, decoderNetwork, inferenceNetwork, ...numbers } = config;
  const networks = Object.entries({ encoderNetwork, decoderNetwork, inferenceNetwork }).filter(([, one]) => one);
  return { ...numbers, ...Object.fromEntries(networks.map(([name, one]) => [name, networkOf(build, one)])) };
}

function worldModelOptions(build: Rebuild, { algorithm: _, executor: __, model, seat, ...numbers }: Config) {
  return { ...numbers, model: worldModelOf(build, model as Config), ...(seat !== 0 && { seat: seat as number }) };
}

/** Without the fields that the agent gives to its search itself. */
function searchOptions(search: Config) {
  const { gamma: _, truncation: __, networkInputs: ___, cacheAnswers: ____, ...options } = search;
  return options;
}

function treeSearchOptions(build: Rebuild, { search, interOM, ...options }: Config) {
  const { temperature: _, ...numbers } = searchOptions(search as Config);
  return {
    ...numbers,
    ...options,
    ...(interOM !== undefined && { interOM: functionNamed(build, interOM) as boolean }),
  };
}

function networkOf(build: Pick<Rebuild, 'where' | 'parts'>, config: unknown): TorsoBuilder {
  const { kind, name, ...options } = config as Config;
  const own = [name, kind].find((one): one is string => typeof one === 'string' && Object.hasOwn(build.parts, one));
  if (own !== undefined) return build.parts[own] as TorsoBuilder;
  if (kind === 'mlp') return mlp(options);
  if (kind === 'conv') return conv(options);
  return refusePart(build, 'a network', name ?? kind);
}

function worldModelOf(build: Rebuild, { kind, ...config }: Config): WorldModelBuilder {
  if (typeof kind === 'string' && Object.hasOwn(build.parts, kind)) return build.parts[kind] as WorldModelBuilder;
  const options = { ...config, ...(isConfig(config['network']) && { network: networkOf(build, config['network']) }) };
  if (kind === 'cells') return cellsWorldModel(options);
  if (kind === 'planes') return planesWorldModel(options);
  if (kind === 'observations') return observationsWorldModel(options);
  return refusePart(build, 'a model of the world', kind);
}

/** A function by its name, where the description has `function NAME`; other values stay as they are. */
function functionNamed(build: Rebuild, value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('function ')) return value;
  const name = value.slice('function '.length);
  return Object.hasOwn(build.parts, name) ? build.parts[name] : refusePart(build, 'a function', name);
}

function refusePart({ where, parts }: Pick<Rebuild, 'where' | 'parts'>, what: string, name: unknown): never {
  const known = Object.keys(parts).join(', ') || 'none';
  const remedy = `Give it by that name: { parts: { ${JSON.stringify(String(name))}: ... } }.`;
  fail(where, `${what} of the name ${String(name)}, which the run's config.json has`, `parts: ${known}`, remedy);
}

function isConfig(value: unknown): value is Config {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutAbsent(options: Config): Config {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
