import { type AgentId, checkOptions, fail, type Game } from '@coplay/core';
import type { InputOptions, TorsoBuilder } from '@coplay/models';
import type { SearchOptions } from '@coplay/planning';
import type { ExecutorChoice } from '@coplay/tensor';
import { z } from 'zod';
import { type MoaOptions, moaSchema } from '../moa';
import { type Annealed, annealed, annealedUnit, unit } from '../training/annealed';
import { type InterOM, interOMSchema } from '../training/goal-beliefs';
import { optionNames, unchecked } from '../training/option-names';
import { type WorldModelOptions, worldModelNames } from '../world-model';

/** Options of `createSearch` that an agent gives itself. */
const OWN_SEARCH_OPTIONS = ['game', 'simulator', 'gamma', 'cacheAnswers', 'networkInputs', 'truncation'] as const;

/** How an agent of {@link hopAgent} searches: those options of `createSearch` that aren't given by the agent itself. */
export type HopSearchOptions = Omit<SearchOptions, (typeof OWN_SEARCH_OPTIONS)[number]>;

const searchFields: Readonly<Record<keyof HopSearchOptions, typeof unchecked>> = {
  simulations: unchecked,
  trees: unchecked,
  exploration: unchecked,
  unvisited: unchecked,
  policy: unchecked,
  rationality: unchecked,
  temperature: unchecked,
  rootNoise: unchecked,
  coPlayerSampling: unchecked,
  capacity: unchecked,
};
const searchNames = optionNames(Object.keys(searchFields), 'options of createSearch');

/**
 * Refuses options of a planner's search that the agent's own would replace, and unknown ones. Values are checked by
 * `resolveSearch`.
 *
 * @param others  names of options that are given with them, for the list in the message
 */
export function checkSearchOptions(where: string, search: object, others: readonly string[] = []): void {
  const own = OWN_SEARCH_OPTIONS.find((name) => (search as Partial<SearchOptions>)[name] !== undefined);
  if (own !== undefined) fail(where, 'options of a search', own, "Leave it out of the search: it is the agent's own.");
  const known = Object.entries(search).filter(([name]) => !OWN_SEARCH_OPTIONS.includes(name as never));
  checkOptions(where, searchNames, Object.fromEntries(known), others);
}

/**
 * Ranked reward (R2; Laterre et al. 2018): a return counts +1 above a percentile of the latest ones, -1 below it, by
 * chance when equal.
 */
export interface RankedRewardOptions {
  /** Returns that are kept, at least 1. Default 1000 */
  readonly window?: number;
  /** In (0, 100). Default 75 */
  readonly percentile?: number;
}

/** HOP's own numbers. */
export interface HopNumbers {
  /** Discount per step, of the search and of targets, in [0, 1]. Default 0.95 */
  readonly gamma?: number;
  /**
   * The value's target: the discounted `return` of the real episode; `final`, an episode's whole reward discounted from
   * its end (the paper's code; the same where all is paid at the end, except that a time limit isn't bootstrapped); or
   * `n-step`, `steps` rewards and then the search's value. Default `return`
   */
  readonly valueTarget?: 'return' | 'final' | 'n-step';
  /** n of `n-step`, at least 1. Default 5 */
  readonly steps?: number;
  /** Whether a time limit is bootstrapped or treated as the end, in search and targets. Default `bootstrap` */
  readonly truncation?: 'bootstrap' | 'terminal';
  /** For games that pay at an episode's end; makes the value target `final`. Default false */
  readonly rankedReward?: RankedRewardOptions | false;
  /** Weight of the value's squared error, at least 0. Default 1 */
  readonly valueWeight?: number;
  /** Step size of Adam, at least 0. Default 5e-4 */
  readonly learningRate?: Annealed;
  /** Bound of the gradient's norm; false for none. Default 5 */
  readonly clipNorm?: number | false;
  /** Rows of a minibatch, at least 1; drawn from all that is held, with replacement. Default 256 */
  readonly minibatchSize?: number;
  /** Minibatches of an update, at least 1. Default 8 */
  readonly minibatches?: number;
  /** Steps of finished episodes that are held, at least 1; the oldest make room. Default 20,000 */
  readonly capacity?: number;
  /** Steps held that learning waits for, at least 1. Default 256 */
  readonly minRows?: number;
}

/** Options of {@link hopAgent}. */
export interface HopOptions {
  /**
   * The rules that it will play by. Agents see the whole state (`game.grid` or `game.observesState`), or the
   * `simulator` is a model of an agent's own view.
   */
  readonly game: Game;
  /** One of `game.agents`. */
  readonly id: AgentId;
  /**
   * The body below the heads of policy and value: `mlp()`, `conv()`, `layersModel()`. The paper's is
   * `conv({ dense: 512 })`. Default `mlp()`
   */
  readonly network?: TorsoBuilder;
  /** Inputs of the network in addition to the game's observation. Default: nothing */
  readonly inputs?: Omit<InputOptions, 'extras' | 'centred'>;
  /**
   * Whether images are moved so that the agent is in the middle (`centredEncoder`). Default: where the game allows it
   */
  readonly centred?: boolean;
  /** The tree search in training. `planner` makes players with another budget. Default: 5 trees of 200 simulations */
  readonly search?: HopSearchOptions;
  /**
   * The search's simulator: the rules of the `game`, or a learned world model, given by options of `createWorldModel`.
   * With `observationsWorldModel({ view: 'own' })`, the models of co-players and the beliefs read what the agent itself
   * sees. Default `game`
   */
  readonly simulator?: 'game' | Omit<WorldModelOptions, 'game' | 'executor'>;
  /**
   * Accuracy of the world model, in [0, 1], that the search waits for; until then the agent acts by its policy. Default
   * 0.9, and 0.8 for models of observations
   */
  readonly minAccuracy?: number;
  /**
   * Whether the models of co-players are conditioned on goals, recognised in `hindsight`, or on `none`: direct-OM.
   * Default `hindsight` where the game names goals
   */
  readonly goals?: 'hindsight' | 'none';
  /**
   * The memory of the goals that a co-player showed in earlier episodes (inter-OM): it gives the prior of the belief
   * about the co-player. `true`: the memory for such goals, `goalMemory`, or `countMemory` where goals have a `noGoal`;
   * `false`: each episode begins with equally likely goals; a function: makes a memory of your own (`GoalMemory`),
   * called once for each co-player of each agent. Default true
   */
  readonly interOM?: InterOM;
  /**
   * Whether games that are played at once share the memory of a co-player (`shared`), or each has its own (`perGame`):
   * for co-players that differ from game to game, such as `partners` of `selfPlay`. Default `shared`
   */
  readonly memories?: 'shared' | 'perGame';
  /** Whether Bayes' rule updates beliefs from the co-players' actions within an episode. Default true */
  readonly intraOM?: boolean;
  /**
   * Whether policy and value read the agent's beliefs about its co-players (not in the paper). A search holds them as
   * they are at its root. Train among partners that pursue their goals in any case (`partners` of `selfPlay`): among
   * its like, an agent learns not to wait for co-players that it doesn't expect. Default false
   */
  readonly beliefInputs?: boolean;
  /**
   * Probability, in [0, 1], that a training search ignores beliefs and draws goals uniformly from the open ones
   * (exploration; not in the paper, where it is 0). Default 1 to 0
   */
  readonly uniformGoals?: Annealed;
  /**
   * The models of co-players: options of `createMoa`. Default: `share`, `attempts`, and `centred` where the game allows
   * it. Its `goalDiscount` is also that of the agent's beliefs, where goals have no `noGoal`
   */
  readonly moa?: Omit<MoaOptions, 'game' | 'id' | 'executor' | 'goals' | 'recurrent' | 'store'>;
  /** The algorithm's own numbers. */
  readonly hop?: HopNumbers;
  /**
   * `auto` takes the fastest executor; `onnx` insists on compiled graphs, `eager` runs operation by operation. Default
   * `auto`
   */
  readonly executor?: ExecutorChoice;
}

/** Options of {@link sharedHopAgents}. */
export type SharedHopOptions = Omit<HopOptions, 'id'> & {
  /**
   * Agents that share policy, value and world model; each has its own beliefs and models of its co-players. Default:
   * all agents of the game
   */
  readonly ids?: readonly AgentId[];
};

const positive = z.number().positive();

const rankedSchema = z.strictObject({
  window: z.int().min(1).default(1000),
  percentile: z.number().gt(0).lt(100).default(75),
});

const hopSchema = z.strictObject({
  gamma: unit.default(0.95),
  valueTarget: z.enum(['return', 'final', 'n-step']).default('return'),
  steps: z.int().min(1).default(5),
  truncation: z.enum(['bootstrap', 'terminal']).default('bootstrap'),
  rankedReward: z.union([z.literal(false), rankedSchema]).default(false),
  valueWeight: z.number().min(0).default(1),
  learningRate: annealed(z.number().min(0)).default(5e-4),
  clipNorm: z.union([positive, z.literal(false)]).default(5),
  minibatchSize: z.int().min(1).default(256),
  minibatches: z.int().min(1).default(8),
  capacity: z.int().min(1).default(20_000),
  minRows: z.int().min(1).default(256),
});

/** {@link HopNumbers} with the defaults filled in. */
export type ResolvedHopNumbers = z.infer<typeof hopSchema>;

/** Checks HOP's numbers and fills in the defaults. */
export function resolveHopNumbers(where: string, options: HopNumbers = {}): ResolvedHopNumbers {
  return checkOptions(`${where}: hop`, hopSchema, options);
}

const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (what: string) => z.custom<object>(isRecord, { error: what });

const OF_WORLD_MODEL = 'options of createWorldModel, such as { model: observationsWorldModel() }';

/** Names and kinds of the options around HOP's numbers, before their owners check their own. */
export const hopOptionsSchema = z.strictObject({
  game: z.unknown(),
  network: z
    .custom<TorsoBuilder>((value) => typeof value === 'function', {
      error: 'a network: mlp(), conv(), or layersModel()',
    })
    .optional(),
  inputs: record("the network's inputs").default({}),
  centred: z.boolean().optional(),
  search: searchNames.default({}),
  simulator: z.union([z.literal('game'), optionNames(worldModelNames, OF_WORLD_MODEL)]).default('game'),
  minAccuracy: unit.optional(),
  goals: z.enum(['hindsight', 'none']).optional(),
  interOM: interOMSchema.default(true),
  memories: z.enum(['shared', 'perGame']).default('shared'),
  intraOM: z.boolean().default(true),
  beliefInputs: z.boolean().default(false),
  uniformGoals: annealedUnit.default({ from: 1, to: 0 }),
  moa: optionNames(moaSchema, 'options of createMoa', ['goals', 'executor']).default({}),
  hop: optionNames(hopSchema, "HOP's numbers").optional(),
  executor: z.enum(['auto', 'onnx', 'wasm', 'eager']).default('auto'),
});
