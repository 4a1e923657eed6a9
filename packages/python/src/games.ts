import { availableParallelism } from 'node:os';
import {
  type ActionSpace,
  type ActionSpaces,
  type AnyGame,
  box,
  checkOptions,
  type ExternalEnvs,
  externalGame,
  fail,
  type Game,
  multiDiscrete,
  type ObservationField,
  show,
} from '@coplay/core';
import { actionLayout } from '@coplay/core/arrays';
import { checkText } from '@coplay/core/checks';
import { z } from 'zod';
import { PythonBatch } from './batch';
import { Workers } from './workers';

/** Options of {@link gymnasium}. */
export interface GymnasiumOptions {
  /** E of `selfPlay` and `evaluate` where they get no number; at least 1. Default 16 */
  readonly envs?: number;
  /** Keyword arguments of the Python function that makes an environment: `{ max_cycles: 25 }`. JSON. Default none */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Names of numbers in Python's `info` that become infos of the game; 0 where they are absent. Default none */
  readonly infos?: readonly string[];
  /**
   * Steps after which an episode is truncated at the latest, at least 1. Default: what the environment says
   * (`max_episode_steps`, `max_cycles`); it must be given where it says nothing
   */
  readonly maxSteps?: number;
  /** Processes of Python that the environments of a batch are spread over; at least 1. Default: the number of cores */
  readonly workers?: number;
  /** A program, or the folder of a virtual environment. Default: the environment variable PYTHON, else `python3` */
  readonly python?: string;
  /** Seconds in which Python has to answer; above 0. Default 60 */
  readonly timeout?: number;
  /** Of the generators that Python's `random` and numpy share in a process. Default 0 */
  readonly seed?: number;
  /** Receives what the Python code prints. Default: standard error */
  readonly output?: (text: string) => void;
}

/** Options of {@link pettingZoo}. */
export interface PettingZooOptions extends GymnasiumOptions {
  /** Which of a module's functions makes environments: `parallel_env` or `env`. Default: the first that it has */
  readonly api?: 'parallel' | 'aec';
}

/** A game whose rules run in processes of Python. */
export interface PythonGame<Spaces extends ActionSpaces = number> extends Game<'int32', Spaces> {
  /** Ends the processes. They also end with this one, however it ends. */
  close(): void;
}

const schema = z.strictObject({
  envs: z.int().min(1).default(16),
  options: z.record(z.string(), z.unknown()).default({}),
  infos: z.array(z.string()).default([]),
  maxSteps: z.int().min(1).optional(),
  workers: z.int().min(1).optional(),
  python: z.string().min(1).optional(),
  timeout: z.number().positive().max(1e6).default(60),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(0),
  output: z
    .custom<(text: string) => void>((value) => typeof value === 'function', { error: 'a function' })
    .default(() => (text: string) => void process.stderr.write(text)),
});
const pettingZooSchema = schema.extend({ api: z.enum(['parallel', 'aec']).optional() });

/**
 * A game of PettingZoo: of a module with `parallel_env` or `env`, such as `mpe2.simple_spread_v3`, or of a function
 * that makes an environment, `my_module:make`. Python starts at once, in the working directory.
 *
 * Rollouts, `evaluate`, `selfPlay` and learners take the game; what needs copies of its state, such as tree search,
 * refuses it. In games of the AEC API each step is one agent's; the others wait, with one legal action that nothing
 * reads. Docs: docs/python-games.md.
 *
 * @throws CoplayError for unknown options, no Python, a missing module (with the line that installs it), a version or a
 *         space that isn't supported, and for what Python raises, with its traceback
 */
export function pettingZoo<Spaces extends ActionSpaces = number>(
  id: string,
  options: PettingZooOptions = {},
): PythonGame<Spaces> {
  checkText('pettingZoo', 'id', id);
  const { api, ...settings } = checkOptions('pettingZoo', pettingZooSchema, options);
  return pythonGame('pettingZoo', 'pettingzoo', id, settings, api);
}

/**
 * A game of Gymnasium with the one agent `agent_0`: `gymnasium('Pendulum-v1')`, or `gymnasium('my_module:MyGame-v0')`
 * where the module registers it. Otherwise as {@link pettingZoo}.
 *
 * @throws CoplayError as {@link pettingZoo}
 */
export function gymnasium<Spaces extends ActionSpaces = number>(
  id: string,
  options: GymnasiumOptions = {},
): PythonGame<Spaces> {
  checkText('gymnasium', 'id', id);
  return pythonGame('gymnasium', 'gymnasium', id, checkOptions('gymnasium', schema, options));
}

/** The game as Python describes it. Infinite bounds are null. */
interface Description {
  readonly agents: readonly string[];
  readonly actions: Readonly<Record<string, SpaceDescription>>;
  readonly observation: Readonly<Record<string, ObservationField>>;
  readonly maxSteps: number;
}

type SpaceDescription =
  | { readonly kind: 'discrete'; readonly count: number }
  | { readonly kind: 'multi-discrete'; readonly counts: readonly number[] }
  | {
      readonly kind: 'box';
      readonly shape: readonly number[];
      readonly low: readonly (number | null)[];
      readonly high: readonly (number | null)[];
    };

function pythonGame<Spaces extends ActionSpaces>(
  where: string,
  library: 'pettingzoo' | 'gymnasium',
  id: string,
  settings: z.infer<typeof schema>,
  api?: 'parallel' | 'aec',
): PythonGame<Spaces> {
  const { envs, options, infos, maxSteps, python = process.env['PYTHON'] ?? 'python3' } = settings;
  const { workers: count = Math.min(availableParallelism(), envs), timeout, output } = settings;
  const request = { library, id, api: api ?? null, options: jsonOf(where, options), infos, maxSteps: maxSteps ?? null };
  const workers = new Workers(count, where, { python, timeout, output });
  const description = workers.describe<Description>((i) => ({ ...request, seed: (settings.seed + i) % 2 ** 32 }));
  try {
    const { agents, observation } = description;
    const actions = spacesOf(description) as Spaces;
    const game: Game<'int32', Spaces> = externalGame<Spaces>({
      name: id.replace(/^.*\.(?=[^.])/, '').replace(/[/:]/g, '-'),
      ...{ agents, actions, observation, infos },
      actionNames: namesOf(agents, actions),
      maxSteps: description.maxSteps,
      options: { library, id, ...(api && { api }), options, infos, maxSteps: description.maxSteps },
      external: {
        envs,
        open: (batch): ExternalEnvs<Spaces> => {
          const made: unknown = new PythonBatch(game as unknown as AnyGame, batch, workers);
          return made as ExternalEnvs<Spaces>;
        },
      },
    });
    return { ...game, close: () => workers.end() };
  } catch (error) {
    workers.end();
    throw error;
  }
}

function jsonOf(where: string, options: Readonly<Record<string, unknown>>): unknown {
  try {
    return JSON.parse(JSON.stringify(options));
  } catch (error) {
    return fail(`${where}: option options`, 'what JSON can hold', show(options), (error as Error).message);
  }
}

/** One space for all where they are the same; of discrete actions the greatest number, with masks; else by id. */
function spacesOf({ agents, actions }: Description): ActionSpaces {
  const all = agents.map((id) => actions[id]);
  const counts = all.flatMap((space) => (space.kind === 'discrete' ? [space.count] : []));
  if (counts.length === all.length) return Math.max(...counts);
  const first = JSON.stringify(all[0]);
  if (all.every((space) => JSON.stringify(space) === first)) return spaceOf(all[0]);
  return Object.fromEntries(agents.map((id) => [id, spaceOf(actions[id])]));
}

function spaceOf(space: SpaceDescription): ActionSpace {
  if (space.kind === 'discrete') return space.count;
  if (space.kind === 'multi-discrete') return multiDiscrete(space.counts);
  const { shape, low, high } = space;
  return box({ shape, low: low.map((v) => v ?? -Infinity), high: high.map((v) => v ?? Infinity) });
}

function namesOf(agents: readonly string[], actions: ActionSpaces): string[] {
  const isDiscrete = typeof actions === 'number';
  const count = isDiscrete ? actions : actionLayout({ agents, actions }).width;
  return Array.from({ length: count }, (_, i) => `${isDiscrete ? 'action' : 'value'}_${i}`);
}
