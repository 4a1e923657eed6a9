import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CoplayError, fail } from '@coplay/core';
import { bundle } from './bundle';
import { withTemporaryModule } from './temporary-module';

/** A configuration file of code. */
export interface LoadedCode {
  /** Its default export. */
  readonly exported: unknown;
  /** The file, by its absolute path without symbolic links. */
  readonly file: string;
  /**
   * Its source files, by such paths: the file itself, and files that it imports by relative paths. SHA-256,
   * hexadecimal.
   */
  readonly files: Readonly<Record<string, string>>;
}

/** Endings of files that are code. */
const ENDING = /\.m?[jt]s$/;
/**
 * The kind of modules that this one is: a build for CommonJS knows no address. Code of the other kind would get
 * libraries of its own.
 */
const FORMAT = import.meta.url === undefined ? 'cjs' : 'esm';

/** Whether a configuration is code, by its name. */
export function isCode(path: string): boolean {
  return ENDING.test(path);
}

/**
 * Runs a file of TypeScript or JavaScript, anew at every call. Its own files are joined into one module, which exists
 * in the same folder for a moment: so it imports the same packages as all other code there, and no part of a library is
 * loaded twice.
 *
 * @param approve  receives the files before any of them is run, and may throw
 * @throws CoplayError for a file that can't be read, can't be compiled, or exports nothing by default
 */
export async function loadCode(path: string, approve?: (files: LoadedCode['files']) => void): Promise<LoadedCode> {
  if (!existsSync(path)) fail('coplay', 'a configuration file', `${path}, which does not exist`, 'Check the path.');
  // A link may lead elsewhere later: the run keeps the present target.
  const file = realpathSync(path);
  const { text, files } = await bundle(file, FORMAT);
  approve?.(files);
  const { default: exported } = await withTemporaryModule(dirname(file), text, FORMAT === 'esm' ? 'mjs' : 'cjs', run);
  if (exported === undefined) {
    fail(path, 'a default export', 'none', 'End it with: export default defineConfig({ ... })');
  }
  return { exported, file, files };
}

async function run(module: string): Promise<{ readonly default?: unknown }> {
  try {
    return await (FORMAT === 'esm'
      ? import(/* @vite-ignore */ pathToFileURL(module).href)
      : createRequire(module)(module));
  } catch (error) {
    throw isRequire(error) ? refusalOfRequire(error) : error;
  }
}

/** What esbuild puts in the place of `require`, of which an ES module has none. */
function isRequire(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith('Dynamic require of ');
}

function refusalOfRequire(error: Error): CoplayError {
  const remedy = 'Write it as an ES module, with any ending: import and export default, no require.';
  return new CoplayError(
    { where: 'coplay', expected: 'a configuration that is an ES module', got: error.message, remedy },
    { cause: error },
  );
}

/** SHA-256 of a file, hexadecimal. */
export function checksumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
