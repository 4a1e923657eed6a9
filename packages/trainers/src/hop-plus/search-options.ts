import { checkOptions, fail, type Game } from '@coplay/core';
import { resolveSearch, type SearchOptions, type SearchSettings } from '@coplay/planning';
import { z } from 'zod';
import type { MoaLearner } from '../moa';
import type { PpoSetup } from '../ppo';
import { type Annealed, annealed, annealedUnit, unit } from '../training/annealed';
import { checkGoalsSeen, describeMemory, type InterOM, interOMSchema } from '../training/goal-beliefs';
import { checkSearched, searchedGame } from '../training/search-view';
import type { WorldModelLearner } from '../world-model';

/** The extra with a search's policy: zeros in rows without a search. */
export const SEARCH_POLICY = 'searchPolicy';

/** Options of `createSearch` that an agent gives itself. */
type OwnSearchOptions =
  | 'game'
  | 'simulator'
  | 'gamma'
  | 'truncation'
  | 'temperature'
  | 'cacheAnswers'
  | 'networkInputs';

/**
 * The tree search of an agent of {@link hopPlusAgent}: its own options, and those of `createSearch` that the agent
 * doesn't give itself. Other defaults than there: 2 trees of 16 simulations, `policy: 'visits'`, `unvisited: 'parent'`.
 */
export interface TreeSearchOptions extends Omit<SearchOptions, OwnSearchOptions> {
  /** Whether the agent plays the search's policy, or its own `policy`. Default `search` */
  readonly plays?: 'search' | 'policy' | undefined;
  /**
   * Weight, at least 0, of the policy's cross-entropy with the search's policy in PPO's loss, in real rows with a
   * search; 0: the search is no target. Default 0.5 to 0
   */
  readonly target?: Annealed | undefined;
  /**
   * Accuracy of the world model, in [0, 1], that the search waits for; until then the agent plays as without. Default:
   * that of `imagined`, or 0.98, and 0.8 for models of observations
   */
  readonly minAccuracy?: number | undefined;
  /**
   * The memory of the goals that a co-player showed in earlier episodes (inter-OM), which gives the prior of the
   * beliefs; as `interOM` of `hopAgent`. Default true
   */
  readonly interOM?: InterOM | undefined;
  /** Whether Bayes' rule updates beliefs over co-players' goals within an episode. Default true */
  readonly intraOM?: boolean | undefined;
  /**
   * Probability, in [0, 1], that a search draws co-players' goals uniformly from the open ones, instead of from the
   * beliefs (exploration). Default 1 to 0, in the first half of the training
   */
  readonly uniformGoals?: Annealed | undefined;
}

const schema = z.looseObject({
  plays: z.enum(['search', 'policy']).default('search'),
  target: annealed(z.number().min(0)).default({ from: 0.5, to: 0 }),
  minAccuracy: unit.optional(),
  interOM: interOMSchema.default(true),
  intraOM: z.boolean().default(true),
  uniformGoals: annealedUnit.default({ from: 1, to: 0, by: 0.5 }),
});

const names: Readonly<Record<keyof TreeSearchOptions, true>> = {
  ...{ plays: true, target: true, minAccuracy: true, interOM: true, intraOM: true, uniformGoals: true },
  ...{ simulations: true, trees: true, exploration: true, unvisited: true, policy: true, rationality: true },
  ...{ rootNoise: true, coPlayerSampling: true, capacity: true },
};

/** Names of {@link TreeSearchOptions}. */
export const treeSearchNames = Object.keys(names);

/** {@link TreeSearchOptions} with the defaults filled in. */
export interface ResolvedTreeSearch {
  readonly plays: 'search' | 'policy';
  readonly target: Annealed;
  readonly minAccuracy: number;
  readonly interOM: InterOM;
  readonly intraOM: boolean;
  readonly uniformGoals: Annealed;
  /** Without the simulator. */
  readonly search: SearchSettings;
}

/** The parts of an agent that its search depends on. */
interface SearchParts {
  readonly game: Game;
  readonly ppo: PpoSetup;
  readonly worldModel: WorldModelLearner | 'rules' | false;
  /** Accuracy of the world model that imagination waits for. */
  readonly imaginedAccuracy: number | undefined;
  readonly moa: MoaLearner | undefined;
}

/** Checks how to search, fills in the defaults, and refuses what no search can work with. */
export function resolveTreeSearch(where: string, given: TreeSearchOptions, parts: SearchParts): ResolvedTreeSearch {
  const options = checkOptions(`${where}: option treeSearch`, schema, given);
  const { plays, target, minAccuracy, interOM, intraOM, uniformGoals, ...search } = options;
  if (plays === 'policy' && isZero(target)) {
    const remedy = "Give plays: 'search' or a target above 0, or switch treeSearch off.";
    fail(`${where}: option treeSearch`, 'a use of the search', "plays: 'policy' and target: 0", remedy);
  }
  checkParts(where, parts);
  return {
    ...{ plays, target, interOM, intraOM, uniformGoals },
    minAccuracy: minAccuracy ?? parts.imaginedAccuracy ?? 0.98,
    search: resolveSearch(
      {
        ...{ trees: 2, simulations: 16, policy: 'visits', unvisited: 'parent' },
        ...(search as Partial<SearchOptions>),
        ...ownOptions(parts),
      },
      `${where}: option treeSearch`,
    ),
  };
}

const isZero = (value: Annealed) => (typeof value === 'number' ? value === 0 : value.from === 0 && value.to === 0);

/** What the agent itself gives to its search. */
function ownOptions({ game, ppo, worldModel, moa }: SearchParts): SearchOptions {
  const { gamma, truncation } = ppo.options;
  const previousActions = Boolean(ppo.inputs.previousActions || moa?.config['previousActions']);
  const networkInputs = { previousActions, root: ppo.inputs.extras !== undefined };
  return { game: searchedGame(game, modelOf(worldModel)), gamma, truncation, networkInputs };
}

/** Refuses settings in which a searched state can't be evaluated. */
function checkParts(where: string, { game, ppo, worldModel, moa }: SearchParts): void {
  const refuse = (option: string, expected: string, got: string, remedy: string) =>
    fail(`${where}: option ${option}`, expected, got, remedy);
  if (worldModel === false) {
    const remedy = 'Leave treeSearch out, or give worldModel: \'rules\' ("Tree search" in docs/hop-plus.md).';
    refuse('treeSearch', 'a world model to search with', 'worldModel: false', remedy);
  }
  checkSearched(`${where}: option treeSearch`, game, modelOf(worldModel), 'Leave treeSearch out', 'worldModel');
  if (moa && moa.goals > 0) checkGoalsSeen(`${where}: option treeSearch`, game, "Give moa: { goals: 'none' }");
  if (ppo.critic !== 'own') {
    const remedy = "Leave treeSearch out, or give critic: 'own'.";
    refuse('treeSearch', "a critic that reads the agent's own view", `critic: '${ppo.critic}'`, remedy);
  }
  if (ppo.reward !== 'own') {
    const got = typeof ppo.reward === 'string' ? `reward: '${ppo.reward}'` : 'reward: a function';
    const remedy = "Leave treeSearch out, or give reward: 'own'.";
    refuse('treeSearch', "the agent's own reward, which the search adds up", got, remedy);
  }
  if (moa && moa.stateSize > 0) {
    const remedy = 'Leave recurrent out of moa: a search asks about states, not about histories.';
    refuse('treeSearch', 'models of the present step', 'moa: recurrent', remedy);
  }
}

/** Undefined for the rules. */
export const modelOf = (worldModel: SearchParts['worldModel']) =>
  typeof worldModel === 'object' ? worldModel.model : undefined;

/** For run directories and checkpoints. */
export function searchConfig({ search, interOM, ...options }: ResolvedTreeSearch): Readonly<Record<string, unknown>> {
  const { game: _, simulator: __, ...numbers } = search;
  // Left out where it's as ever, so that runs begun before there was a choice fit.
  return { ...options, ...(interOM !== true && { interOM: describeMemory(interOM) }), search: numbers };
}
