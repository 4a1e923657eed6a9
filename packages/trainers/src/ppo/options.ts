import { type ActionSpaces, checkOptions, type Experience } from '@coplay/core';
import { isLastStep } from '@coplay/core/arrays';
import { checkExperience, checkNumber } from '@coplay/core/checks';
import { z } from 'zod';
import { type Annealed, annealed, annealedUnit, unit } from '../training/annealed';

/** Options of PPO. Defaults are taken from CleanRL's ppo.py, except that time limits are bootstrapped. */
export interface PpoOptions {
  /** Discount per step, in [0, 1]. Default 0.99 */
  readonly gamma?: number;
  /** Lambda of GAE and lambda-returns, in [0, 1]. Default 0.95 */
  readonly lambda?: number;
  /**
   * How returns are made: `gae` and `lambda` give the same targets, computed in two ways; `monte-carlo` has lambda 1.
   * Default `gae`
   */
  readonly returns?: 'gae' | 'lambda' | 'monte-carlo';
  /** Whether a time limit is bootstrapped or treated as the end. Default `bootstrap` */
  readonly truncation?: 'bootstrap' | 'terminal';
  /** Step size of Adam, positive or 0. Default 2.5e-4 to 0 */
  readonly learningRate?: Annealed;
  /** Weight of the entropy bonus, at least 0. Default 0.01 */
  readonly entropyWeight?: Annealed;
  /** Weight of the value loss, at least 0. Default 0.5 */
  readonly valueWeight?: number;
  /** e of the clipped ratio, above 0 (it may be annealed to 0). Default 0.2 */
  readonly clip?: Annealed;
  /** Range within which values are clipped around the old ones; false for no clipping. Default 0.2 */
  readonly valueClip?: number | false;
  /** Delta of the Huber loss of the critic; false for squared errors. Default false */
  readonly huberDelta?: number | false;
  /** Whether the critic predicts normalised returns (MAPPO's ValueNorm). Default false */
  readonly normaliseValues?: boolean;
  /**
   * Whether the networks read observations normalised by their running mean and variance, within 10: fields of the kind
   * `vector`. Updates add what their rollout observed; evaluations play with the numbers of the last update. Default
   * false
   */
  readonly normaliseObservations?: boolean;
  /**
   * Whether rewards are divided by the running standard deviation of their discounted sums, and limited to 10. Logged
   * and evaluated returns stay in the unit of the game. Default false
   */
  readonly normaliseRewards?: boolean;
  /** Where advantages are normalised: in each minibatch, once per update, or not. Default `minibatch` */
  readonly normaliseAdvantages?: 'minibatch' | 'update' | false;
  /** Passes over the data per update, at least 1. Default 4 */
  readonly epochs?: number;
  /**
   * Rows (for recurrent networks: steps) per minibatch, about, for each agent that shares the weights: as many gradient
   * steps are taken whether weights are shared or not. At least 1. Default 256
   */
  readonly minibatchSize?: number;
  /** Bound of the joint norm of actor's and critic's gradients; false for none. Default 0.5 */
  readonly clipNorm?: number | false;
  /** Epsilon of Adam, above 0. Default 1e-5 */
  readonly adamEpsilon?: number;
  /** Stops the epochs of an update once an epoch's approximate KL passes this; false for never. Default false */
  readonly targetKl?: number | false;
  /** Steps per sequence for recurrent networks; must divide the rollout length. Default: the rollout length */
  readonly sequenceLength?: number;
  /**
   * Share of real rows in the loss where there are imagined ones, in [0, 1] (it may be annealed). Default 1: real only
   */
  readonly realRatio?: Annealed;
  /**
   * How imagined rows teach the critic: like real ones (`mixed`), not at all (`real-only`), or with every imagined
   * reward taken for 0 (`zero-imagined-reward`). Default `mixed`
   */
  readonly imaginedCritic?: 'mixed' | 'real-only' | 'zero-imagined-reward';
  /** Whether imagined rows teach the actor: `mixed` or `real-only`. Default `mixed` */
  readonly imaginedActor?: 'mixed' | 'real-only';
  /** What to do when a loss or gradient is not finite: `stop` the run, or `skip` the minibatch. Default `stop` */
  readonly nonFinite?: 'stop' | 'skip';
}

/** {@link PpoOptions} with the defaults filled in. */
export type ResolvedPpoOptions = z.infer<typeof ppoSchema>;

const positive = z.number().positive();
const nonNegative = z.number().min(0);

export const ppoSchema = z.strictObject({
  gamma: unit.default(0.99),
  lambda: unit.default(0.95),
  returns: z.enum(['gae', 'lambda', 'monte-carlo']).default('gae'),
  truncation: z.enum(['bootstrap', 'terminal']).default('bootstrap'),
  learningRate: annealed(nonNegative).default({ from: 2.5e-4, to: 0 }),
  entropyWeight: annealed(nonNegative).default(0.01),
  valueWeight: nonNegative.default(0.5),
  clip: annealed(positive, nonNegative).default(0.2),
  valueClip: z.union([positive, z.literal(false)]).default(0.2),
  huberDelta: z.union([positive, z.literal(false)]).default(false),
  normaliseValues: z.boolean().default(false),
  normaliseObservations: z.boolean().default(false),
  normaliseRewards: z.boolean().default(false),
  normaliseAdvantages: z.union([z.enum(['minibatch', 'update']), z.literal(false)]).default('minibatch'),
  epochs: z.int().min(1).default(4),
  minibatchSize: z.int().min(1).default(256),
  clipNorm: z.union([positive, z.literal(false)]).default(0.5),
  adamEpsilon: positive.default(1e-5),
  targetKl: z.union([positive, z.literal(false)]).default(false),
  sequenceLength: z.int().min(1).optional(),
  realRatio: annealedUnit.default(1),
  imaginedCritic: z.enum(['mixed', 'real-only', 'zero-imagined-reward']).default('mixed'),
  imaginedActor: z.enum(['mixed', 'real-only']).default('mixed'),
  nonFinite: z.enum(['stop', 'skip']).default('stop'),
});

/** Checks PPO's options and fills in the defaults. */
export function resolvePpoOptions(where: string, options: PpoOptions = {}): ResolvedPpoOptions {
  return checkOptions(where, ppoSchema, options) as ResolvedPpoOptions;
}

/** Settings that are known to work, by the field's names for them. Spread one and change what you like. */
export const ppoPresets = {
  /**
   * The Markov Stag Hunt, for 32 environments x 32 steps. A high discount and a large, annealed entropy bonus lead past
   * the equilibrium in which all agents hunt hares. Advantages are not normalised: where all hunt hares they are small,
   * and normalised they would outweigh the bonus just when exploration is needed. docs/stag-hunt.md shows it.
   */
  stagHunt: {
    gamma: 0.99,
    lambda: 0.95,
    learningRate: { from: 1e-3, to: 0 },
    entropyWeight: { from: 0.05, to: 0 },
    normaliseAdvantages: false,
    epochs: 4,
    minibatchSize: 256,
    valueClip: false,
  },
  /** ppo.py of CleanRL: 4 environments x 128 steps, time limits treated as the end. */
  cleanRl: {
    truncation: 'terminal',
    minibatchSize: 128,
  },
  /** RL Zoo's settings of PPO for CartPole-v1: 8 environments x 32 steps. */
  cartPole: {
    gamma: 0.98,
    lambda: 0.8,
    learningRate: { from: 1e-3, to: 0 },
    entropyWeight: 0,
    clip: { from: 0.2, to: 0 },
    valueClip: false,
    epochs: 20,
    minibatchSize: 256,
  },
  /** The on-policy repository of MAPPO and IPPO (Yu et al. 2022). */
  mappo: {
    learningRate: 5e-4,
    valueWeight: 1,
    huberDelta: 10,
    normaliseValues: true,
    normaliseAdvantages: 'update',
    epochs: 15,
    minibatchSize: 1_000_000,
    clipNorm: 10,
  },
} as const satisfies Record<string, PpoOptions>;

/**
 * Which rewards an agent learns from: its own, the mean of all agents, or rewards [E, T, A] that a function computes
 * from the experience.
 */
export type RewardChoice = 'own' | 'prosocial' | ((experience: Experience) => Float32Array);

/** The rewards [E, T, A] that are learned from. */
export function chosenRewards(choice: RewardChoice, experience: Experience<ActionSpaces>, gamma: number): Float32Array {
  if (choice === 'own') return experience.rewards;
  if (choice === 'prosocial') return prosocialRewards(experience, gamma);
  return choice(structuredClone(experience) as Experience); // a copy: no other learner sees its changes
}

/**
 * Everyone's mean reward (Peysakhovich and Lerer 2018). The others' rewards after an agent has left count for it too,
 * discounted back to its last step; otherwise it would ignore the consequences of leaving. That stops at the end of the
 * experience.
 *
 * @returns [E, T, A]
 */
export function prosocialRewards(experience: Experience<ActionSpaces>, gamma: number): Float32Array {
  checkExperience('prosocialRewards', experience, 'experience', 'any');
  checkNumber('prosocialRewards', 'gamma', gamma, { min: 0, max: 1 });
  const { envs, steps, rewards, active } = experience;
  const agents = experience.agents.length;
  const shared = new Float32Array(rewards.length);
  const later = new Float64Array(agents); // what came after the present step, for agents that have left by then
  for (let e = 0; e < envs; e++) {
    later.fill(0);
    for (let t = steps - 1; t >= 0; t--) {
      const step = e * steps + t;
      if (isLastStep(experience, step)) later.fill(0);
      const mean = meanReward(experience, step * agents);
      for (let a = 0; a < agents; a++) {
        const isActive = active[step * agents + a] === 1;
        if (isActive) shared[step * agents + a] = mean + gamma * later[a];
        later[a] = isActive ? 0 : mean + gamma * later[a];
      }
    }
  }
  return shared;
}

/** Over all agents; one that has left earns nothing. */
function meanReward({ rewards, active, agents }: Experience<ActionSpaces>, start: number): number {
  let sum = 0;
  for (let row = start; row < start + agents.length; row++) if (active[row] === 1) sum += rewards[row];
  return sum / agents.length;
}
