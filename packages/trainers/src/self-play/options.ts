import type { ActionSpaces, Agent, DType, Experience, Game, Log, Saved } from '@coplay/core';
import { checkOptions, fail } from '@coplay/core';
import { z } from 'zod';
import { keepSchema } from '../checkpoint/options';
import type { Curriculum, Exploration } from '../exploration';
import { type PartnerOptions, partnersSchema } from './partners';

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
  /** E, environments side by side; at least 1. Default 32 */
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
  envs: z.int().min(1).default(32),
  steps: z.int().min(1).default(32),
  exploration: having(['start'], 'an exploration, such as sharedGoals()').optional(),
  curriculum: having(['setProgress'], 'a curriculum, such as curriculum(lesson)').optional(),
  seed: z.int().min(0).default(0),
  log: z.array(having(['start', 'write', 'close'], 'a log, such as progress()')).default([]),
  directory: z.string().min(1).optional(),
  checkpointEvery: z.union([z.int().min(1), z.literal(false)]).default(50),
  keepCheckpoints: keepSchema.default(3),
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
  const { warn = console.warn } = checked;
  return {
    clock: () => performance.now(),
    now: () => performance.timeOrigin + performance.now(),
    ...checked,
    warn: (line: string) => {
      // Nothing waits for a warning: one that fails later must not end the process.
      void Promise.resolve(warn(line)).catch((error) => console.warn(`warn: ${String(error)}. It was told: ${line}`));
    },
  } as ResolvedSelfPlay;
}
