import { fail } from '@coplay/core';
import { isCode, type LoadedCode, loadCode } from './code';
import { isPlainRecord } from './networks';
import { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';
import { configurationWith, type Settings, withSettings } from './settings';

/** A configuration, and where its code is if it has some. */
export interface ReadConfiguration {
  /** Checked, with defaults filled in. */
  readonly configuration: RunConfiguration;
  /** Present where JSON could not hold it: the path of the file, and checksums of all files that it consists of. */
  readonly code?: Pick<LoadedCode, 'file' | 'files'> & {
    /** Of the run, where the file is that of a sweep. */
    readonly settings?: Settings;
  };
}

/**
 * Reads the configuration of a run: JSON, or TypeScript or JavaScript that exports one by default.
 *
 * @param approve   of code: receives the files and their checksums before any of them is run, and may throw
 * @param settings  of one run, where the file is that of a sweep
 * @throws CoplayError for a file that can't be read, or a configuration with something wrong
 */
export async function readConfiguration(
  path: string,
  approve?: (files: LoadedCode['files']) => void,
  settings?: Settings,
): Promise<ReadConfiguration> {
  if (!isCode(path)) return { configuration: checkConfiguration(path, readJsonFile(path)) };
  const { exported, ...code } = await loadCode(path, approve);
  if (settings === undefined) return checkedOf(path, exported, code);
  const { configuration } = exported as { readonly configuration: unknown };
  return checkedOf(path, configurationWith(path, configuration, settings), { ...code, settings });
}

/**
 * Reads a configuration with other values in some fields (`--set`). Agents are PPO where it names none.
 *
 * @throws CoplayError as {@link readConfiguration} does, and for settings of one with code: a run keeps its file
 */
export async function readChanged(path: string, settings: Settings): Promise<ReadConfiguration> {
  if (Object.keys(settings).length === 0) return readConfiguration(path);
  const made = isCode(path) ? (await loadCode(path)).exported : readJsonFile(path);
  const whole = isPlainRecord(made) ? { agents: { kind: 'ppo' }, ...made } : made;
  const configuration = checkConfiguration(path, withSettings('--set', whole, settings));
  if (isJson(configuration)) return { configuration };
  const remedy = 'Change the file, or give --steps and --seed: a run with code keeps the file, and no other settings.';
  return fail('--set', 'a configuration that JSON can hold', `${path}, which has code`, remedy);
}

/** A configuration that code made, and the code where JSON can't hold it. */
export function checkedOf(
  path: string,
  made: unknown,
  code: NonNullable<ReadConfiguration['code']>,
): ReadConfiguration {
  const configuration = checkConfiguration(path, made);
  return isJson(configuration) ? { configuration } : { configuration, code };
}

/** Whether JSON can hold it as it is. */
export function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (isPlainRecord(value)) return Object.values(value).every((part) => part === undefined || isJson(part));
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}
