import { type Agent, type AgentId, checkOptions, type Experience, fail, type Game, type Log, show } from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import { csv, jsonLines, progress, tensorboard } from '@coplay/diagnostics';
import { gamesByName } from '@coplay/envs';
import {
  anneal,
  type Curriculum,
  curriculum,
  type Exploration,
  ppoPresets,
  type SelfPlay,
  selfPlay,
} from '@coplay/trainers';
import { z } from 'zod';
import type { AgentMaker } from './define';
import { configurationIn } from './directory';
import { AGENTS, EXPLORATIONS } from './kinds';
import { withNetworks } from './networks';
import { type CheckedAgents, isGame, type RunConfiguration } from './schema';

/** A run and its game. */
export interface BuiltRun {
  readonly run: SelfPlay;
  readonly game: Game;
}

/** Who listens to a run. */
export interface Listeners {
  /** Receives warnings. */
  warn(line: string): void;
  /** Sees each rollout after it was learned from. */
  onRollout?(experience: Experience): void;
  /** Receives what is logged, after the run's files. */
  readonly sinks?: readonly Log[];
}

/**
 * A run as its configuration tells it; nothing is trained or written yet.
 *
 * @param directory  where its files are
 * @throws CoplayError for options that game or agents don't have, or seats that the game doesn't have
 */
export async function runOf(
  configuration: RunConfiguration,
  directory: string,
  { sinks = [], ...listeners }: Listeners,
): Promise<BuiltRun> {
  const { envs, steps, seed, checkpointEvery, keepCheckpoints, log, patience } = configuration;
  const { evaluateEvery, evaluateEpisodes, keepBest } = configuration;
  const game = gameOf(configuration);
  const curriculum = curriculumOf(configuration);
  const exploration = explorationOf(configuration);
  const logs = { progress: () => progress(), csv: () => csv(directory), tensorboard: () => tensorboard(directory) };
  const run = selfPlay({
    game,
    agents: await agentsOf(configuration, curriculum?.game ?? game),
    ...(curriculum && { curriculum }),
    ...(exploration && { exploration }),
    envs,
    steps,
    seed,
    directory,
    checkpointEvery,
    keepCheckpoints,
    ...{ evaluateEvery, evaluateEpisodes, keepBest },
    ...(patience !== undefined && { patience }),
    log: [jsonLines(directory), ...log.map((name) => logs[name]()), ...sinks],
    ...listeners,
  });
  return { run, game };
}

/** Whether another process holds the run's directory. */
export function isHeld(run: SelfPlay): boolean {
  try {
    run.hold()();
    return false;
  } catch {
    return true;
  }
}

/** Does its work while no other process can write into the run's directory; at the end the run is disposed of. */
export async function holding<T>(run: SelfPlay, work: () => Promise<T>): Promise<T> {
  try {
    const release = run.hold();
    try {
      return await work();
    } finally {
      release();
    }
  } finally {
    run.dispose();
  }
}

/**
 * The result of work that a signal can end; undefined where it did.
 *
 * @param work  rejects with the signal's reason when that is aborted
 */
export async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  }
}

/**
 * Makes the game and the agents of a configuration, and no run.
 *
 * @throws CoplayError as {@link runOf} does
 */
export async function checkParts(configuration: RunConfiguration): Promise<void> {
  explorationOf(configuration);
  await agentsOf(configuration, curriculumOf(configuration)?.game ?? gameOf(configuration));
}

/** Options of {@link codeOfRun}. */
export interface CodeOptions {
  /** Whether code may be run that this user didn't train with on this machine: it can do anything. Default false */
  readonly allowCode?: boolean;
}

const codeSchema = z.strictObject({ allowCode: z.boolean().default(false) });

/** The game of a run, and its agents. */
export interface CodeOfRun {
  readonly game: Game;
  /** Agents as the run has them in the seat of `source`, for other ids. */
  agents(source: AgentId, ids: readonly AgentId[]): Promise<readonly Agent[]>;
}

/**
 * The game and the agents of a run that `coplay train` began, by its configuration: for `loadRun` of
 * `@coplay/trainers`, which restores what they learned. Code of the configuration is run if this user trained with it
 * on this machine, or with `allowCode`.
 *
 * @throws CoplayError for a directory without such a run, and for code that isn't allowed, is gone or has changed
 */
export async function codeOfRun(directory: string, options: CodeOptions = {}): Promise<CodeOfRun> {
  checkText('codeOfRun', 'directory', directory);
  const { allowCode } = checkOptions('codeOfRun', codeSchema, options);
  const configuration = await configurationIn(directory, { allowCode });
  const { agents, seats, seed } = configuration;
  const game = gameOf(configuration);
  return { game, agents: (source, ids) => makeAgents(seats[source] ?? agents, game, ids, seed) };
}

/** The game of a configuration. @throws CoplayError for options that it doesn't have */
function gameOf({ game }: Pick<RunConfiguration, 'game'>): Game {
  if (isGame(game)) return game;
  const { name, ...options } = game;
  const make = gamesByName[name] as (options: Readonly<Record<string, unknown>>) => Game;
  return make(options);
}

/** Rules with some numbers that change during training. @throws CoplayError for a game of code */
function curriculumOf({ game, curriculum: lines }: RunConfiguration): Curriculum | undefined {
  if (lines === undefined) return undefined;
  if (isGame(game)) {
    const remedy = 'Name a game with options, or train with selfPlay({ curriculum }) in a script.';
    fail('option curriculum', 'a game by its name', 'a game of code', remedy);
  }
  return curriculum((progress) => {
    const present = Object.entries(lines).map(([name, line]) => [name, anneal(line, progress)]);
    return gameOf({ game: { ...game, ...Object.fromEntries(present) } });
  });
}

function explorationOf({ exploration }: RunConfiguration): Exploration | undefined {
  if (exploration === undefined) return undefined;
  const { kind, ...options } = exploration;
  return EXPLORATIONS[kind](options);
}

/** `seats` by their ids, `agents` for all others. */
async function agentsOf({ agents, seats, seed }: RunConfiguration, game: Game): Promise<Agent[]> {
  const unknown = Object.keys(seats).find((id) => !game.agents.includes(id));
  if (unknown !== undefined) {
    fail('seats', `ids of ${game.name}: ${game.agents.join(', ')}`, JSON.stringify(unknown), 'Name seats of the game.');
  }
  const made: Agent[] = [];
  for (const [id, one] of Object.entries(seats)) made.push(...(await makeAgents(one, game, [id], seed)));
  const others = game.agents.filter((id) => seats[id] === undefined);
  return others.length > 0 ? [...made, ...(await makeAgents(agents, game, others, seed))] : made;
}

async function makeAgents(
  one: CheckedAgents | AgentMaker,
  game: Game,
  ids: readonly AgentId[],
  seed: number,
): Promise<readonly Agent[]> {
  if (typeof one !== 'function') return ofKind(one, game, ids);
  const made: unknown = await one({ game, ids, seed });
  if (Array.isArray(made)) return made as Agent[];
  const remedy = 'Let the function return a list: ids.map((id) => myAgent({ game, id })).';
  return fail('agents', `an agent for each of ${ids.join(', ')}`, show(made), remedy);
}

function ofKind({ kind, preset, ...options }: CheckedAgents, game: Game, ids: readonly AgentId[]): Agent[] {
  const make = AGENTS[kind] as (game: Game, ids: readonly AgentId[], options: unknown) => Agent[];
  const numbers = preset && { ppo: { ...ppoPresets[preset], ...options.ppo } };
  return make(game, ids, { ...withNetworks(options), ...numbers });
}
