import type { ActionSpaces, Agent, DType, Evaluation, Experience, Game, Log, Metrics, Saved } from '@coplay/core';
import { checkOptions, fail } from '@coplay/core';
import { z } from 'zod';
import { keepSchema } from '../checkpoint/options';
import type { Curriculum, Exploration } from '../exploration';
import { type PartnerOptions, partnersSchema } from './partners';

/** When a callback is called. */
export interface TrainingMoment {
  /** Environment steps done. */
  readonly envSteps: number;
  /** Updates done. */
  readonly update: number;
}

/** Functions around the parts of each update, in this order. An error in one ends the training. */
export interface TrainingCallbacks<Spaces extends ActionSpaces = number> {
  readonly beforeRollout?: (moment: TrainingMoment) => void | Promise<void>;
  readonly afterRollout?: (
    moment: TrainingMoment & { readonly experience: Experience<Spaces> },
  ) => void | Promise<void>;
  readonly beforeUpdate?: (
    moment: TrainingMoment & { readonly experience: Experience<Spaces> },
  ) => void | Promise<void>;
  /** With the metrics that logs receive. */
  readonly afterUpdate?: (moment: TrainingMoment & { readonly metrics: Metrics }) => void | Promise<void>;
  readonly beforeEvaluation?: (moment: TrainingMoment) => void | Promise<void>;
  readonly afterEvaluation?: (
    moment: TrainingMoment & {
      readonly evaluation: Evaluation;
      readonly score: number;
      /** Whether no earlier evaluation of the run had a better score or the same. */
      readonly isBest: boolean;
    },
  ) => void | Promise<void>;
}

/** Options of {@link selfPlay}. */
export interface SelfPlayOptions<Spaces extends ActionSpaces = number> {
  /** The rules that all environments play by. */
  readonly game: Game<DType, Spaces>;
  /** One for each id of the game, in any order: learning agents, rules, past selves, your own. */
  readonly agents: readonly Agent<Saved, Spaces>[];
  /**
   * A population of partners that play in place of the learning agents in some episodes. Learners don't learn from what
   * a partner did in their place; models of co-players do. Metrics of episodes leave partners out. Default: none
   */
  readonly partners?: PartnerOptions<Spaces>;
  /** E, environments side by side; at least 1. Default 32, or the external game's */
  readonly envs?: number;
  /** T, steps of every environment between two updates; at least 1. Default 32 */
  readonly steps?: number;
  /** Chooses some actions of agents that learn, for the sake of exploration: `sharedGoals()`. Default: none */
  readonly exploration?: Exploration;
  /** The rules to train by, which may change; `game` is what evaluations play. Default: `game` */
  readonly curriculum?: Curriculum;
  /** Of everything: games, agents, first parameters, shuffling. Default 0 */
  readonly seed?: number;
  /** Where metrics go. Default: nowhere */
  readonly log?: readonly Log[];
  /** The run's directory: checkpoints, configuration, the batch of a failure. Default: none is kept */
  readonly directory?: string;
  /** Updates between checkpoints, where there's a directory; false for one at the end only. Default 50 */
  readonly checkpointEvery?: number | false;
  /** Checkpoints kept; at least 1, or Infinity to keep all. Default 3 */
  readonly keepCheckpoints?: number;
  /** Updates between evaluations in training, which play as `run.evaluate` does; false for none. Default false */
  readonly evaluateEvery?: number | false;
  /** Episodes of each of these evaluations, at least 1. Default 100 */
  readonly evaluateEpisodes?: number;
  /** What is better in an evaluation, for `keepBest` and `patience`; it must be finite. Default: the mean return */
  readonly score?: (evaluation: Evaluation) => number;
  /** Whether the state of the best evaluation is kept, in the folder `best` of the directory. Default false */
  readonly keepBest?: boolean;
  /** Evaluations in a row without a better score that end `train`, at least 1; or Infinity. Default Infinity */
  readonly patience?: number;
  /** Functions that are called around the parts of each update; a promise that one returns is awaited. Default: none */
  readonly callbacks?: TrainingCallbacks<Spaces>;
  /** Sees each rollout after it was learned from. A promise that it returns is awaited before training goes on. */
  readonly onRollout?: (
    experience: Experience<Spaces>,
    run: { readonly envSteps: number; readonly update: number },
  ) => void;
  /** Milliseconds that pass steadily, for speeds. Default `performance.now` */
  readonly clock?: () => number;
  /** Milliseconds since 1970, for the age of checkpoints. Default: the machine's clock */
  readonly now?: () => number;
  /** Receives warnings: a damaged checkpoint that was skipped, a full disk. Default `console.warn` */
  readonly warn?: (line: string) => void;
}

const callable = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', {
  error: 'a function',
});
const object = (what: string) =>
  z.custom<object>((value) => typeof value === 'object' && value !== null, { error: what });

/** Something with these methods. */
const having = (methods: readonly string[], what: string) =>
  z.custom<object>(
    (value) => methods.every((name) => typeof (value as Record<string, unknown> | undefined)?.[name] === 'function'),
    { error: what },
  );

const schema = z.strictObject({
  game: object('a game, such as stagHunt()'),
  agents: z.array(having(['act', 'initialState'], 'an agent, such as ppoAgent({ game, id })')),
  partners: partnersSchema.optional(),
  envs: z.int().min(1).optional(),
  steps: z.int().min(1).default(32),
  exploration: having(['start'], 'an exploration, such as sharedGoals()').optional(),
  curriculum: having(['setProgress'], 'a curriculum, such as curriculum(lesson)').optional(),
  seed: z.int().min(0).default(0),
  log: z.array(having(['start', 'write', 'close'], 'a log, such as progress()')).default([]),
  directory: z.string().min(1).optional(),
  checkpointEvery: z.union([z.int().min(1), z.literal(false)]).default(50),
  keepCheckpoints: keepSchema.default(3),
  evaluateEvery: z.union([z.int().min(1), z.literal(false)]).default(false),
  evaluateEpisodes: z.int().min(1).default(100),
  score: callable.default(
    () =>
      ({ mean }: Evaluation) =>
        mean,
  ),
  keepBest: z.boolean().default(false),
  patience: keepSchema.default(Number.POSITIVE_INFINITY),
  callbacks: z
    .strictObject({
      ...{ beforeRollout: callable.optional(), afterRollout: callable.optional() },
      ...{ beforeUpdate: callable.optional(), afterUpdate: callable.optional() },
      ...{ beforeEvaluation: callable.optional(), afterEvaluation: callable.optional() },
    })
    .default({}),
  onRollout: callable.optional(),
  clock: callable.optional(),
  now: callable.optional(),
  warn: callable.optional(),
});

/** {@link SelfPlayOptions} with the defaults filled in. */
export type ResolvedSelfPlay = Omit<SelfPlayOptions<ActionSpaces>, 'partners' | 'warn'> &
  Required<
    Omit<SelfPlayOptions<ActionSpaces>, 'directory' | 'exploration' | 'curriculum' | 'onRollout' | 'partners' | 'warn'>
  > & {
    readonly partners?: Required<PartnerOptions<ActionSpaces>>;
    readonly warn: (line: string) => void;
  };

/** Checks the options of selfPlay and fills in the defaults. */
export function resolveSelfPlay<Spaces extends ActionSpaces>(options: SelfPlayOptions<Spaces>): ResolvedSelfPlay {
  const checked = checkOptions('selfPlay', schema, options) as unknown as SelfPlayOptions<ActionSpaces>;
  if (checked.exploration && checked.partners) {
    const remedy = 'Train with partners after the exploration, in another run.';
    fail('selfPlay', 'one of the options exploration and partners', 'both', remedy);
  }
  checkEvaluations(checked);
  const { warn = console.warn } = checked;
  return {
    clock: () => performance.now(),
    now: () => performance.timeOrigin + performance.now(),
    ...checked,
    envs: checked.envs ?? checked.game.external?.envs ?? 32,
    warn: (line: string) => {
      // Nothing waits for a warning: one that fails later must not end the process.
      void Promise.resolve(warn(line)).catch((error) => console.warn(`warn: ${String(error)}. It was told: ${line}`));
    },
  } as ResolvedSelfPlay;
}

/** Refuses options about evaluations that never happen, and a best state without a place. */
function checkEvaluations({ evaluateEvery, keepBest, patience, directory }: SelfPlayOptions<ActionSpaces>): void {
  const remedy = 'Give evaluateEvery: 10, or leave it out.';
  const asks = keepBest ? 'keepBest' : patience !== Number.POSITIVE_INFINITY ? 'patience' : undefined;
  if (asks && !evaluateEvery) fail(`selfPlay: option ${asks}`, 'evaluations to go by', 'evaluateEvery: false', remedy);
  if (!keepBest || directory !== undefined) return;
  fail('selfPlay: option keepBest', 'a directory to keep it in', 'none', "Give the option directory: 'runs/NAME'.");
}
