import { type AgentId, checkGame, checkOptions, fail, type Game, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { createMoa, type MoaLearner, moaDefaults, moaSchema } from '../moa';
import { createOmg, type OmgLearner, omgSchema } from '../omg';
import { type PpoLearner, type PpoSetup, ppoSchema, ppoSetup } from '../ppo';
import type { Learner } from '../training';
import { type Annealed, annealedUnit } from '../training/annealed';
import { refuseStore } from '../training/check-calls';
import { checkIds } from '../training/ids';
import { optionNames, unchecked } from '../training/option-names';
import { checkOwnGoals, ownViewMoa } from '../training/own-view';
import { checkModelOptions, createWorldModel, type WorldModelLearner, worldModelNames } from '../world-model';
import { checkGoalPriors, priorSizeOf } from './goal-priors';
import {
  GOAL_PRIORS,
  type HopPlusOptions,
  imaginedSchema,
  type ResolvedImagined,
  resolveImagined,
  SUBGOALS,
  type SubgoalOptions,
} from './options';
import {
  type ResolvedTreeSearch,
  resolveTreeSearch,
  SEARCH_POLICY,
  searchConfig,
  treeSearchNames,
} from './search-options';

/** One agent's models of its co-players: of their actions (MOA), and of their subgoals (OMG). */
export interface CoPlayerModels {
  readonly moa?: MoaLearner;
  readonly omg?: OmgLearner;
}

/** Everything that's fixed before the first parameter is drawn. */
export interface HopPlusSetup {
  readonly game: Game;
  readonly ids: readonly AgentId[];
  readonly ppo: PpoSetup;
  /** By seat. */
  readonly coPlayerModels: ReadonlyMap<number, CoPlayerModels>;
  readonly worldModel: WorldModelLearner | 'rules' | false;
  readonly imagined: ResolvedImagined | false;
  readonly treeSearch: ResolvedTreeSearch | false;
  /** Chance that the policy learns from a selected subgoal. */
  readonly epsilon: Annealed;
  /** (A - 1) G, the priors over co-players' goals that the policy reads; 0: it reads none */
  readonly priorSize: number;
  /** Discount per episode of the goals that co-players showed; undefined for the default. */
  readonly goalDiscount: number | undefined;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The parts of HOP+'s learner with which agents play, and imagine that they play. */
export interface HopPlusPlayers extends Learner {
  readonly setup: HopPlusSetup;
  /** The agents that learn here. */
  readonly ids: readonly AgentId[];
  readonly ppo: PpoLearner;
  /** The models that the agent in a seat has of its co-players; none in seats of other learners. */
  coPlayerModelsOf(seat: number): CoPlayerModels;
}

/**
 * The modules' defaults in HOP+: fewer steps in an update than when they are trained alone, since updates come every
 * few hundred steps and each row is used many times.
 */
const MODULE_DEFAULTS = {
  // Two who catch a stag together are seen a few times among thousands of steps, and imagination lives on them.
  worldModel: { stepsPerUpdate: 8, batchSize: 128, outcomeShare: 0.25 },
  omg: { vaeSteps: 16, inferenceSteps: 4 },
  // Imagination finds rewarding behaviour; the critic's values are learned from real experience in the end.
  ppo: { realRatio: { from: 0.5, to: 1 } },
};

/**
 * The accuracy that imagination waits for where a model predicts all observations: chance and what no agent sees keep
 * it from predicting every number of every agent.
 */
const OBSERVED_ACCURACY = 0.8;

const epsilonSchema = z.strictObject({ epsilon: annealedUnit.default(0) });

/** Checks options and makes the modules. Nothing here is random or touches a tensor. */
export function hopPlusSetup(
  where: string,
  ids: readonly AgentId[],
  options: Omit<HopPlusOptions, 'id'>,
): HopPlusSetup {
  checkModules(where, ids, options);
  const {
    game,
    ppo = {},
    worldModel = {},
    imagined = {},
    moa = {},
    omg = {},
    treeSearch = false,
    goalPriors = false,
    ...networks
  } = options;
  if (networks.recurrent) {
    const remedy = 'Leave recurrent out; the subgoals are inferred from the history.';
    fail(`${where}: option recurrent`, 'a feedforward policy', `${networks.recurrent} units`, remedy);
  }
  const { executor = 'auto' } = networks;
  checkIds(where, game, ids);
  checkArgument(where, 'options.executor', z.enum(['auto', 'onnx', 'wasm', 'eager']), executor);
  const model =
    typeof worldModel === 'object'
      ? createWorldModel({ ...MODULE_DEFAULTS.worldModel, ...worldModel, game, executor })
      : worldModel;
  const ownView = typeof model === 'object' ? model.model.ownView : undefined;
  const { epsilon, ...subgoals } = omg === false ? { epsilon: 0 } : splitEpsilon(where, omg);
  if (moa !== false) refuseStore(`${where}: option moa`, moa);
  refuseStore(`${where}: option omg`, subgoals);
  const coPlayerModels = new Map<number, CoPlayerModels>();
  for (const id of ids) {
    coPlayerModels.set(game.agents.indexOf(id), {
      ...(moa !== false && {
        moa: createMoa({ ...moaDefaults(game), ...(ownView && ownViewMoa(game)), ...moa, game, id, executor }),
      }),
      ...(omg !== false && { omg: createOmg({ ...MODULE_DEFAULTS.omg, ...subgoals, game, id, executor }) }),
    });
  }
  const first = coPlayerModels.get(game.agents.indexOf(ids[0]));
  const size = first?.omg?.subgoalSize ?? 0;
  if (goalPriors) checkGoalPriors(where, game);
  const priorSize = goalPriors ? priorSizeOf(game) : 0;
  const ppoOptions = imagined === false ? ppo : { ...MODULE_DEFAULTS.ppo, ...ppo };
  const setup = ppoSetup(
    where,
    game,
    ids,
    { ...networks, inputs: inputsWith(networks.inputs, size, priorSize) },
    ppoOptions,
  );
  if (goalPriors && setup.critic === 'joint') {
    const remedy =
      "Leave one of the two out: a joint critic would read other agents' priors, which not all of them have.";
    fail(`${where}: option critic`, "'own' with goalPriors", "'joint'", remedy);
  }
  const minAccuracy = typeof model === 'object' && model.model.data === 'observations' ? OBSERVED_ACCURACY : undefined;
  const imagination: HopPlusSetup['imagined'] =
    imagined === false ? false : resolveImagined(where, { ...(minAccuracy && { minAccuracy }), ...imagined });
  if (imagination) checkImagination(where, model);
  if (ownView && (imagination || treeSearch)) checkOwnView(where, game, setup, first?.moa);
  if (ownView && first?.moa && first.moa.goals > 0) {
    checkOwnGoals(`${where}: option moa`, game, "Give moa: { goals: 'none' }.");
  }
  const config = {
    ...setup.config,
    algorithm: 'hop-plus',
    worldModel: typeof model === 'object' ? model.config : model,
    imagined: imagination,
    moa: first?.moa?.config ?? false,
    omg: first?.omg ? { ...first.omg.config, epsilon } : false,
    ...(goalPriors && { goalPriors }),
  };
  const goalDiscount = first?.moa?.config['goalDiscount'] as number | undefined;
  const parts = {
    ...{ game, ids, ppo: setup, coPlayerModels, worldModel: model, imagined: imagination, epsilon },
    ...{ priorSize, goalDiscount },
  };
  if (!treeSearch) return { ...parts, treeSearch, config };
  const search = resolveTreeSearch(where, treeSearch, {
    ...{ game, ppo: setup, moa: first?.moa, worldModel: model },
    imaginedAccuracy: imagination ? imagination.minAccuracy : minAccuracy,
  });
  return {
    ...parts,
    ppo: { ...setup, policyTarget: { extra: SEARCH_POLICY, weight: search.target } },
    treeSearch: search,
    config: { ...config, treeSearch: searchConfig(search) },
  };
}

const withOff = (names: z.ZodType) => z.union([z.literal(false), names]).optional();
const worldModelSchema = optionNames(
  worldModelNames,
  'options of createWorldModel, such as { model: observationsWorldModel() }',
);
const omgNames = optionNames(
  [...Object.keys(omgSchema.shape), 'epsilon'],
  'options of createOmg ({} for the defaults)',
  ['executor'],
);
const optionsSchema = z.strictObject({
  game: z.unknown(),
  ppo: optionNames(ppoSchema, 'options of PPO').optional(),
  worldModel: z.union([z.literal('rules'), z.literal(false), worldModelSchema]).optional(),
  imagined: withOff(optionNames(imaginedSchema, 'how to imagine ({} for the defaults)')),
  moa: withOff(optionNames(moaSchema, 'options of createMoa ({} for the defaults)', ['executor'])),
  omg: withOff(omgNames),
  treeSearch: withOff(optionNames(treeSearchNames, 'options of the search ({} for the defaults)')),
  goalPriors: z.boolean().optional(),
  network: unchecked,
  criticNetwork: unchecked,
  recurrent: unchecked,
  inputs: unchecked,
  critic: unchecked,
  reward: unchecked,
  executor: unchecked,
});

/** Names and kinds of all options, before the modules check their own. */
function checkModules(where: string, ids: readonly AgentId[], options: Omit<HopPlusOptions, 'id'>): void {
  checkModelOptions(`${where}: option worldModel`, options.worldModel);
  checkOptions(where, optionsSchema, options);
  checkGame(`${where}: option game`, options.game);
  checkIds(where, options.game, ids);
}

function splitEpsilon(where: string, { epsilon, ...subgoals }: SubgoalOptions) {
  return { ...subgoals, ...checkOptions(`${where}: omg`, epsilonSchema, epsilon === undefined ? {} : { epsilon }) };
}

/**
 * The policy sees the previous actions of all agents in addition to the inputs that the user chose. Where it reads
 * them,
 * it also sees the subgoals of all co-players, and the priors over their goals.
 */
function inputsWith(inputs: HopPlusOptions['inputs'], subgoalSize: number, priorSize: number) {
  const seen = { previousActions: true, ...inputs };
  const extras = {
    ...(subgoalSize > 0 && { [SUBGOALS]: subgoalSize }),
    ...(priorSize > 0 && { [GOAL_PRIORS]: priorSize }),
  };
  return Object.keys(extras).length > 0 ? { ...seen, extras } : seen;
}

function checkImagination(where: string, worldModel: HopPlusSetup['worldModel']): void {
  if (worldModel === false) {
    const remedy =
      'Switch imagined off too, or give worldModel: \'rules\' ("Three kinds of simulator" in docs/world-models.md).';
    fail(`${where}: option imagined`, 'a world model to imagine with', 'worldModel: false', remedy);
  }
}

/** A model of an agent's own view has no observations and rewards of co-players. */
function checkOwnView(where: string, game: Game, { critic, reward }: PpoSetup, moa: MoaLearner | undefined): void {
  const refuse = (option: string, expected: string, got: unknown) => {
    const remedy = "Change one of the two: observationsWorldModel({ view: 'joint' }) predicts what all agents see.";
    fail(`${where}: option ${option}`, `${expected} with a world model of the agent's own view`, show(got), remedy);
  };
  if (!moa && game.agents.length > 1) refuse('moa', 'models of the co-players', false);
  if (critic !== 'own') refuse('critic', "'own'", critic);
  if (reward !== 'own') refuse('reward', "'own'", reward);
}
