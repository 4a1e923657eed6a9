import { checkOptions, fail } from '@coplay/core';
import { type DreamerSize, dreamerSizes } from '@coplay/models/dreamer';
import { z } from 'zod';
import { type Annealed, annealed } from '../training/annealed';

/** Weights of the losses. */
export interface DreamerLossScales {
  /** Of the prior's divergence from the posterior; at least 0, as all of these. Default 1 */
  readonly dynamics?: number;
  /** Of the posterior's divergence from the prior. Default 0.1 */
  readonly representation?: number;
  /** Of each observation's reconstruction. Default 1 */
  readonly reconstruction?: number;
  /** Default 1 */
  readonly reward?: number;
  /** Of the flag whether the episode goes on. Default 1 */
  readonly continue?: number;
  /** Of the prediction which actions are legal. Default 1 */
  readonly legal?: number;
  /** Of the prediction what co-players do, where they are modelled. Default 1 */
  readonly coPlayers?: number;
  /** Of the actor. Default 1 */
  readonly policy?: number;
  /** Of the critic on imagined steps. Default 1 */
  readonly value?: number;
  /** Of the critic on replayed steps. Default 0.3 */
  readonly replayValue?: number;
}

/** The numbers of DreamerV3. Defaults are taken from its published code, except where they follow the size. */
export interface DreamerOptions {
  /**
   * How world model and actor-critic take turns. `joint`: one loss and one backward pass for all of it, as in
   * DreamerV3's code. `coupled`: each update of the world model hands its posterior states on to an update of the
   * actor-critic at once. `separate`: as many updates of the world model as are due, then as many of the actor-critic,
   * from states that are sampled and encoded afresh. Default `joint`
   */
  readonly schedule?: 'joint' | 'coupled' | 'separate';
  /**
   * Where imagination begins: in `all` T states of a sequence, in the `last` one, or in the last K (at most T). Default
   * `all`
   */
  readonly starts?: 'all' | 'last' | number;
  /** B, sequences of a batch, at least 1. Default 16 */
  readonly batchSize?: number;
  /** T, steps of each, at least 2. Default 64 */
  readonly sequenceLength?: number;
  /** H, imagined steps, at least 1. Default 15 */
  readonly horizon?: number;
  /**
   * Replayed steps (B T for each update) for each step that an agent of this learner lives through, above 0: updates
   * for each step are trainRatio / (B T). Default 32
   */
  readonly trainRatio?: number;
  /** Instead of `trainRatio`: updates after each rollout, however long, at least 1. Default: by `trainRatio` */
  readonly updatesPerPhase?: number;
  /**
   * Windows that must be held before training begins, at least 1. Above `replayCapacity` training never begins by
   * itself, for training by hand. Default B T, which `replayCapacity` must have room for
   */
  readonly startAfter?: number;
  /**
   * Step size of LaProp, positive or 0; `{ from, to, by }` is a straight line over the training's progress, after which
   * the policy no longer wanders. Default 1e-3 for the sizes below `size1m`, else 4e-5: constant, as published
   */
  readonly learningRate?: Annealed;
  /** Updates in which it rises from 0, at least 0. Default 100 for the sizes below `size1m`, else 1000 */
  readonly warmUp?: number;
  /** Bound of each array's gradient as a share of the array's own norm, above 0. Default 0.3 */
  readonly adaptiveClip?: number;
  /** Steps that rewards are looked ahead for: the discount is 1 - 1 / this; above 1. Default 333 */
  readonly discountHorizon?: number;
  /** Lambda of the returns, in [0, 1]. Default 0.95 */
  readonly lambda?: number;
  /**
   * Weight of the policy's entropy, at least 0; `{ from, to }` is a straight line over the training's progress. Default
   * 3e-4, as published; where the first thing that pays keeps agents from what pays more, begin higher
   */
  readonly entropyScale?: Annealed;
  /** Nats of divergence that aren't pushed down, at least 0. Default 1 */
  readonly freeNats?: number;
  /** Share of the uniform distribution in latents, in [0, 1). Default 0.01 */
  readonly unimix?: number;
  /** The same in the policy. Default 0 */
  readonly actorUnimix?: number;
  /** Weights of the losses. */
  readonly lossScales?: DreamerLossScales;
  /** Share of the critic in its slow copy after each update, in (0, 1]. Default 0.02 */
  readonly slowRate?: number;
  /** How strongly the critic is held to its slow copy, at least 0. Default 1 */
  readonly slowScale?: number;
  /** Share of new percentiles of returns in the running ones, in (0, 1]. Default 0.01 */
  readonly returnRate?: number;
  /**
   * Steps of experience held, all streams together, at least T for each; their memory is taken at once. Default 100,000
   */
  readonly replayCapacity?: number;
  /** Whether new steps are learned from once before any are drawn at random. Default true */
  readonly replayOnline?: boolean;
  /**
   * Whether sequences begin with the state that the agent was in, kept with every step and renewed by each update;
   * otherwise they begin with zeros, as episodes do. Default true
   */
  readonly replayLatents?: boolean;
  /** What to do when a loss or gradient is not finite: `stop` the run, or `skip` the batch. Default `stop` */
  readonly nonFinite?: 'stop' | 'skip';
}

const unit = z.number().min(0).max(1);
const positive = z.number().positive();
const nonNegative = z.number().min(0);
const share = z.number().positive().max(1);
const whole = z.int().min(1);

const scalesSchema = z.strictObject({
  dynamics: nonNegative.default(1),
  representation: nonNegative.default(0.1),
  reconstruction: nonNegative.default(1),
  reward: nonNegative.default(1),
  continue: nonNegative.default(1),
  legal: nonNegative.default(1),
  coPlayers: nonNegative.default(1),
  policy: nonNegative.default(1),
  value: nonNegative.default(1),
  replayValue: nonNegative.default(0.3),
});

/** Fields of the schema of {@link DreamerOptions}. */
const dreamerFields = {
  schedule: z.enum(['joint', 'coupled', 'separate']).default('joint'),
  starts: z.union([z.enum(['all', 'last']), whole]).default('all'),
  batchSize: whole.default(16),
  sequenceLength: z.int().min(2).default(64),
  horizon: whole.default(15),
  trainRatio: positive.optional(),
  updatesPerPhase: whole.optional(),
  startAfter: whole.optional(),
  learningRate: annealed(positive, nonNegative).optional(),
  warmUp: z.int().min(0).optional(),
  adaptiveClip: positive.default(0.3),
  discountHorizon: z.number().gt(1).default(333),
  lambda: unit.default(0.95),
  entropyScale: annealed(nonNegative).default(3e-4),
  freeNats: nonNegative.default(1),
  unimix: z.number().min(0).lt(1).default(0.01),
  actorUnimix: z.number().min(0).lt(1).default(0),
  lossScales: scalesSchema.default(scalesSchema.parse({})),
  slowRate: share.default(0.02),
  slowScale: nonNegative.default(1),
  returnRate: share.default(0.01),
  replayCapacity: whole.default(100_000),
  replayOnline: z.boolean().default(true),
  replayLatents: z.boolean().default(true),
  nonFinite: z.enum(['stop', 'skip']).default('stop'),
};

const schema = z
  .strictObject(dreamerFields)
  .refine(({ trainRatio, updatesPerPhase }) => trainRatio === undefined || updatesPerPhase === undefined, {
    path: ['updatesPerPhase'],
    error: 'none where trainRatio is given',
  })
  .refine(({ starts, sequenceLength }) => typeof starts === 'string' || starts <= sequenceLength, {
    path: ['starts'],
    error: 'at most sequenceLength',
  });

type Checked = z.infer<typeof schema>;

/** {@link DreamerOptions} with the defaults filled in. */
export interface ResolvedDreamerOptions extends Omit<Checked, 'starts' | 'trainRatio' | 'startAfter'> {
  /** K, states of each sequence in which imagination begins */
  readonly starts: number;
  /** As in {@link DreamerOptions}, and so are the others. */
  readonly trainRatio: number;
  /** Windows */
  readonly startAfter: number;
  /** Of LaProp */
  readonly learningRate: Annealed;
  /** Updates */
  readonly warmUp: number;
}

/** Options of the agent and its networks, which `setup.ts` checks. */
const OF_NETWORKS = ['size', 'encoderNetwork', 'decoderNetwork', 'inputs', 'images', 'masks', 'coPlayers', 'executor'];

/**
 * Checks the options and fills in the defaults, some of which follow the size.
 *
 * @throws CoplayError for unknown options, and for a capacity below the default of `startAfter`
 */
export function resolveDreamerOptions(
  where: string,
  options: DreamerOptions,
  size: DreamerSize | undefined,
): ResolvedDreamerOptions {
  const {
    starts,
    trainRatio = 32,
    startAfter,
    ...checked
  } = checkOptions(where, schema, options, ['game', ...OF_NETWORKS]);
  const { batchSize: B, sequenceLength: T, replayCapacity } = checked;
  if (startAfter === undefined && replayCapacity < B * T) {
    const expected = `at least ${B * T}, the default of startAfter (${B} sequences of ${T} steps)`;
    const remedy =
      'Give more replayCapacity or a lower startAfter: the replay could never hold enough to begin training.';
    fail(`${where}: option replayCapacity`, expected, String(replayCapacity), remedy);
  }
  const isSmall = dreamerSizes(size).deter <= dreamerSizes('micro').deter;
  return {
    learningRate: isSmall ? 1e-3 : 4e-5,
    warmUp: isSmall ? 100 : 1000,
    ...defined(checked),
    starts: starts === 'all' ? checked.sequenceLength : starts === 'last' ? 1 : starts,
    trainRatio,
    startAfter: startAfter ?? B * T,
  } as ResolvedDreamerOptions;
}

function defined<T extends object>(record: T): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
