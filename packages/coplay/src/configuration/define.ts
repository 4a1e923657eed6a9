import type { Agent, AgentId, Game } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import type { gamesByName } from '@coplay/envs';
import type { Annealed, ppoPresets, SharedGoalsOptions } from '@coplay/trainers';
import { z } from 'zod';
import type { AGENTS, EXPLORATIONS } from './kinds';
import type { NetworkConfiguration } from './networks';

/** A game by its name, with the options of the function of that name in `@coplay/envs`. */
export type GameConfiguration = {
  [Name in keyof typeof gamesByName]: { readonly name: Name } & NonNullable<Parameters<(typeof gamesByName)[Name]>[0]>;
}[keyof typeof gamesByName];

/**
 * Agents by their kind, with the options of the function that makes them. Those with PPO's numbers can begin from a
 * preset.
 */
export type AgentConfiguration = {
  [Kind in keyof typeof AGENTS]: { readonly kind: Kind } & WithPreset<Written<Parameters<(typeof AGENTS)[Kind]>[2]>>;
}[keyof typeof AGENTS];

type WithPreset<Options> = 'ppo' extends keyof Options
  ? Options & { readonly preset?: keyof typeof ppoPresets }
  : Options;

/** Options in which networks may be described, too. */
type Written<T> = T extends Whole
  ? T
  : { [Name in keyof T]: Name extends 'network' | 'criticNetwork' ? T[Name] | NetworkConfiguration : Written<T[Name]> };

/** What options hold as a whole. */
type Whole = string | number | boolean | undefined | readonly unknown[] | ((...args: never[]) => unknown);

/** Seats that are to be filled. */
export interface Seats {
  /** The game. */
  readonly game: Game;
  /** Whose seats they are, in the order of the game: one agent is expected for each. */
  readonly ids: readonly AgentId[];
  /** The seed of the run. */
  readonly seed: number;
}

/**
 * Makes agents for seats. Called anew for every run, and again when one is resumed, evaluated or recorded: it must give
 * the same kinds then.
 */
export type AgentMaker = (seats: Seats) => readonly Agent[] | Promise<readonly Agent[]>;

/** What `coplay train` trains. */
export interface Configuration {
  /** A game by its name, or one of your own. */
  readonly game: GameConfiguration | Game;
  /**
   * Options of the game that change linearly during training, as in `curriculum` of `@coplay/trainers`: partners by
   * chance are `{ partnerChance: { from: 1, to: 0, by: 0.35 } }`. Agents that search or imagine with the rules do so
   * with the present ones. Evaluations play `game` as it is. Default: none
   */
  readonly curriculum?: Readonly<Record<string, Exclude<Annealed, number>>>;
  /** Directed exploration with the options of `sharedGoals`. Default: none */
  readonly exploration?: { readonly kind: keyof typeof EXPLORATIONS } & Omit<SharedGoalsOptions, 'goals'>;
  /** Who plays: an algorithm or a rule, or a function that makes your own. Default `{ kind: 'ppo' }` */
  readonly agents?: AgentConfiguration | AgentMaker;
  /** Who plays in single seats instead, by the ids of the game. Default: none */
  readonly seats?: Readonly<Record<AgentId, AgentConfiguration | AgentMaker>>;
  /** E, environments side by side; at least 1. Default 32 */
  readonly envs?: number;
  /** T, steps of every environment between two updates; at least 1. Default 32 */
  readonly steps?: number;
  /** Of everything, at least 0. Default 1 */
  readonly seed?: number;
  /** Environment steps in all, at least 1. */
  readonly envSteps: number;
  /** Where the run's files go. Default: what `--directory` says */
  readonly directory?: string;
  /** Updates between checkpoints, at least 1; false for one at the end only. Default 50 */
  readonly checkpointEvery?: number | false;
  /** Checkpoints kept; at least 1. Default 3 */
  readonly keepCheckpoints?: number;
  /** Updates between evaluations in training, at least 1; false for none. Default false */
  readonly evaluateEvery?: number | false;
  /** Episodes of each, at least 1. Default 100 */
  readonly evaluateEpisodes?: number;
  /** Whether the state of the best evaluation is kept. Default false */
  readonly keepBest?: boolean;
  /** Evaluations in a row without a better mean return that end the training, at least 1. Default: none do */
  readonly patience?: number;
  /** Outputs of metrics in addition to `log.jsonl`. Default `['progress']` */
  readonly log?: readonly ('progress' | 'csv' | 'tensorboard')[];
}

/**
 * The default export of a configuration file in TypeScript or JavaScript, given back as it is: an editor knows by it
 * what may stand there.
 *
 * ```ts
 * export default defineConfig({
 *   game: myGame(),
 *   agents: ({ game, ids }) => ids.map((id) => myAgent({ game, id })),
 *   envSteps: 100_000,
 * });
 * ```
 */
export function defineConfig(configuration: Configuration): Configuration {
  checkArgument('defineConfig', 'configuration', z.looseObject({}), configuration);
  return configuration;
}
