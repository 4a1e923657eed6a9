import { type ActionSpaces, type Agent, type AgentId, type AnyGame, CoplayError, type Saved } from '@coplay/core';
import { nodeFileSystem } from '../checkpoint/file-system';

/**
 * Packages that this one doesn't depend on, since they are above it or next to it. They are loaded by names that
 * bundlers don't see, where a run needs them.
 */
const PACKAGES = { envs: '@coplay/envs', coplay: 'coplay' } as const;

type AnyAgent = Agent<Saved, ActionSpaces>;

/** What `@coplay/envs` makes from descriptions. */
interface Remakes {
  remakeGame(description: { readonly name: string; readonly options: Readonly<Record<string, unknown>> }): AnyGame;
  remakeRule(description: {
    readonly game: AnyGame;
    readonly id: AgentId;
    readonly name: string;
    readonly options: Readonly<Record<string, unknown>>;
  }): AnyAgent;
}

/** The game and the agents that the code of a run makes. */
export interface CodeOfRun {
  readonly game: AnyGame;
  /** Agents as the run has them in the seat of `source`, for other ids. */
  agents(source: AgentId, ids: readonly AgentId[]): Promise<readonly AnyAgent[]>;
}

/** Functions of `@coplay/envs`. @throws CoplayError where it isn't installed */
export function remakes(where: string): Promise<Remakes> {
  return load<Remakes>(where, PACKAGES.envs, 'the game of a run by its name', 'give the game: { game }');
}

/**
 * The code of a run that `coplay train` began, loaded by the command line's own rules of trust; undefined for a run
 * without code.
 *
 * @throws CoplayError for code that isn't allowed, is gone or has changed
 */
export async function codeOf(
  directory: string,
  options: { readonly allowCode: boolean },
): Promise<CodeOfRun | undefined> {
  if (!(await hasCode(directory))) return undefined;
  const { codeOfRun } = await load<{ codeOfRun(directory: string, options: object): Promise<CodeOfRun> }>(
    'loadRun',
    PACKAGES.coplay,
    'the code of a run of `coplay train`',
    'give the game and the agents by name: { game, agents }',
  );
  return codeOfRun(directory, options);
}

async function hasCode(directory: string): Promise<boolean> {
  const files = await nodeFileSystem();
  try {
    const kept: unknown = JSON.parse(new TextDecoder().decode(await files.read(`${directory}/coplay.json`)));
    return typeof (kept as { code?: unknown } | null)?.code === 'string';
  } catch {
    return false;
  }
}

async function load<T>(where: string, name: string, purpose: string, otherwise: string): Promise<T> {
  try {
    return (await import(/* @vite-ignore */ name)) as T;
  } catch (error) {
    const expected = `the npm package ${name}, which makes ${purpose}`;
    const remedy = `Install it (npm i ${name}), or ${otherwise}.`;
    throw new CoplayError({ where, expected, got: 'none', remedy }, { cause: error });
  }
}
