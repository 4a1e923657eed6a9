import { type AgentId, checkOptions } from '@coplay/core';
import { z } from 'zod';
import type { MoaOptions } from '../moa';
import type { OmgOptions } from '../omg';
import type { PpoAgentOptions } from '../ppo';
import { type Annealed, annealedUnit } from '../training/annealed';
import type { WorldModelOptions } from '../world-model';
import type { TreeSearchOptions } from './search-options';

/** Extras of an agent: its inferred subgoals, and the memory of the inference before the step. */
export const SUBGOALS = 'subgoals';
export const MEMORY = 'subgoalMemory';
/** The extra of an agent with the priors over its co-players' goals. */
export const GOAL_PRIORS = 'goalPriors';

/** How an agent of {@link hopPlusAgent} imagines. */
export interface ImaginedOptions {
  /** Steps of an imagined episode at most, at least 1; what comes after them is bootstrapped. Default 8 */
  readonly horizon?: number;
  /** Imagined steps for each real one, above 0, about. Default 1 */
  readonly ratio?: number;
  /** Updates, at least 0, before anything is imagined. Default 3 */
  readonly startUpdates?: number;
  /**
   * Accuracy of the world model, in [0, 1], that imagination waits for; see the learner's `accuracy`. Default 0.98, and
   * 0.8 for models of observations
   */
  readonly minAccuracy?: number;
  /**
   * Accuracy of the model of a co-player, above 0 and at most 1, from which on it is imagined for the whole horizon;
   * with less it's for a share of it, and the shortest decides (after Zhang et al. 2021). Default 0.3
   */
  readonly moaAccuracy?: number;
  /**
   * The goals of imagined co-players: drawn by the goals that each has shown lately (`prior`), or left to the model
   * (`unknown`). Default `prior`
   */
  readonly goals?: 'prior' | 'unknown';
  /**
   * Chance, in [0, 1], that such a goal is drawn uniformly from all open goals instead of by the prior (exploration:
   * the agent learns the rewards of cooperation before the others cooperate). Default 1 to 0
   */
  readonly uniformGoals?: Annealed;
  /** Whether steps are drawn from the world model, or the most probable ones. Default true */
  readonly sample?: boolean;
}

/** How an agent of {@link hopPlusAgent} infers subgoals. */
export type SubgoalOptions = Omit<OmgOptions, 'game' | 'id' | 'executor' | 'store'> & {
  /** Chance that the policy learns from a selected subgoal in place of the inferred one, in [0, 1]. Default 0 */
  readonly epsilon?: Annealed;
};

/** The modules around PPO. Each can be switched off. */
export interface HopPlusModules {
  /**
   * `false`, the game's own `rules` instead of a model, or the model's options. Default `{}`: as alone, but 8
   * steps of 128 transitions an update
   */
  readonly worldModel?: false | 'rules' | Omit<WorldModelOptions, 'game' | 'executor'>;
  /** `false`, or how it imagines; needs a world model or the rules. Default `{}` */
  readonly imagined?: false | ImaginedOptions;
  /**
   * `false`: imagined co-players act by the agent's own policy. Default `{}`: as alone, but `share`, `attempts`, and
   * `centred` where agents see themselves in an image
   */
  readonly moa?: false | Omit<MoaOptions, 'game' | 'id' | 'executor' | 'store'>;
  /**
   * `false`: the policy sees no subgoals. Default `{}`: as alone, but 16 steps of the VAE or 4 of the inference an
   * update
   */
  readonly omg?: false | SubgoalOptions;
  /**
   * Whether the policy and the critic read, for each co-player, the prior over its goals: by how often it showed each
   * goal in earlier episodes (inter-OM, Huang et al. 2024), as it was when the episode began. It needs a game with
   * goals whose agents see the whole state; the discount per episode is `moa.goalDiscount`. Default false
   */
  readonly goalPriors?: boolean;
  /**
   * `false`, or a tree search with PPO's actor and critic as prior and value, among the modelled co-players: the agent
   * plays its policy, the policy learns from it, or both. It needs a world model or the rules. Where agents don't see
   * all of the state, it needs a model of the agent's own view. Default `false`
   */
  readonly treeSearch?: false | TreeSearchOptions;
}

/**
 * Options of {@link hopPlusAgent}: the options of `ppoAgent`, and its modules. With imagined data `ppo.realRatio` goes
 * from 0.5 to 1 unless given.
 */
export type HopPlusOptions = PpoAgentOptions & HopPlusModules;

/** Options of {@link sharedHopPlusAgents}. */
export type SharedHopPlusOptions = Omit<HopPlusOptions, 'id'> & {
  /**
   * Agents that share the policy and the world model; each has its own subgoals and models of its co-players. Default:
   * all agents of the game
   */
  readonly ids?: readonly AgentId[];
};

/** {@link ImaginedOptions} with the defaults filled in. */
export type ResolvedImagined = z.infer<typeof imaginedSchema>;

/** The schema of {@link ImaginedOptions}. */
export const imaginedSchema = z.strictObject({
  horizon: z.int().min(1).default(8),
  ratio: z.number().positive().default(1),
  startUpdates: z.int().min(0).default(3),
  minAccuracy: z.number().min(0).max(1).default(0.98),
  moaAccuracy: z.number().positive().max(1).default(0.3),
  goals: z.enum(['prior', 'unknown']).default('prior'),
  uniformGoals: annealedUnit.default({ from: 1, to: 0 }),
  sample: z.boolean().default(true),
});

/** Checks how to imagine and fills in the defaults. */
export function resolveImagined(where: string, options: ImaginedOptions): ResolvedImagined {
  return checkOptions(`${where}: imagined`, imaginedSchema, options);
}
