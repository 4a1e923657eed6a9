import { fail } from '@coplay/core';
import { isCode, type LoadedCode, loadCode } from './code';
import { isPlainRecord } from './networks';
import { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';
import { withSettings } from './settings';

/** A configuration, and where its code is if it has some. */
export interface ReadConfiguration {
  /** Checked, with defaults filled in. */
  readonly configuration: RunConfiguration;
  /** Present where JSON could not hold it: the path of the file, and checksums of all files that it consists of. */
  readonly code?: Pick<LoadedCode, 'file' | 'files'>;
}

interface ReadOptions {
  readonly approve?: (files: LoadedCode['files']) => void;
  readonly settings?: readonly string[];
}

/**
 * Reads the configuration of a run: JSON, or TypeScript or JavaScript that exports one by default.
 *
 * @param options  `approve`, of code: receives the files and their checksums before any of them is run, and may throw;
 *                 `settings` of `--set`
 * @throws CoplayError for a file that can't be read, or a configuration with something wrong
 */
export async function readConfiguration(
  path: string,
  { approve, settings = [] }: ReadOptions = {},
): Promise<ReadConfiguration> {
  if (!isCode(path)) return { configuration: checkConfiguration(path, withSettings(readJsonFile(path), settings)) };
  const { exported, ...code } = await loadCode(path, approve);
  const configuration = checkConfiguration(path, withSettings(exported, settings));
  if (isJson(configuration)) return { configuration };
  if (settings.length > 0) {
    const remedy =
      'Change the file, or give --steps and --seed: a run with code keeps the file, and no other settings.';
    fail('--set', 'a configuration that JSON can hold', `${path}, which has code`, remedy);
  }
  return { configuration, code };
}

/** Whether JSON can hold it as it is. */
function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (isPlainRecord(value)) return Object.values(value).every((part) => part === undefined || isJson(part));
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}
