import { isCode, type LoadedCode, loadCode } from './code';
import { isPlainRecord } from './networks';
import { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';

/** A configuration, and where its code is if it has some. */
export interface ReadConfiguration {
  /** Checked, with defaults filled in. */
  readonly configuration: RunConfiguration;
  /** Present where JSON could not hold it: the path of the file, and checksums of all files that it consists of. */
  readonly code?: Pick<LoadedCode, 'file' | 'files'>;
}

/**
 * Reads the configuration of a run: JSON, or TypeScript or JavaScript that exports one by default.
 *
 * @param approve  of code: receives the files and their checksums before any of them is run, and may throw
 * @throws CoplayError for a file that can't be read, or a configuration with something wrong
 */
export async function readConfiguration(
  path: string,
  approve?: (files: LoadedCode['files']) => void,
): Promise<ReadConfiguration> {
  if (!isCode(path)) return { configuration: checkConfiguration(path, readJsonFile(path)) };
  const { exported, ...code } = await loadCode(path, approve);
  const configuration = checkConfiguration(path, exported);
  return isJson(configuration) ? { configuration } : { configuration, code };
}

/** Whether JSON can hold it as it is. */
function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (isPlainRecord(value)) return Object.values(value).every((part) => part === undefined || isJson(part));
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}
