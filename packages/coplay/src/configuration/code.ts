import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail } from '@coplay/core';
import { bundle } from './bundle';

/** A configuration file of code. */
export interface LoadedCode {
  /** Its default export. */
  readonly exported: unknown;
  /** What it was read from, by absolute path: the file, and files that it imports by relative paths. SHA-256, hexadecimal. */
  readonly files: Readonly<Record<string, string>>;
}

/** Endings of files that are code. */
const ENDING = /\.m?[jt]s$/;
/** The kind of modules that this one is: a build for CommonJS knows no address. Code of the other kind would get libraries of its own. */
const FORMAT = import.meta.url === undefined ? 'cjs' : 'esm';
let loads = 0;

/** Whether a configuration is code, by its name. */
export function isCode(path: string): boolean {
  return ENDING.test(path);
}

/**
 * Runs a file of TypeScript or JavaScript, anew at every call. Its own files are joined into one module, which stands beside it for a
 * moment: so packages are those that everything else imports from there, and no part of a library is there twice.
 *
 * @throws CoplayError for a file that can't be read, can't be compiled, or exports nothing by default
 */
export async function loadCode(path: string): Promise<LoadedCode> {
  const file = resolve(path);
  if (!existsSync(file)) fail('coplay', 'a configuration file', `${path}, which does not exist`, 'Check the path.');
  const { text, inputs } = await bundle(file, FORMAT);
  const files = Object.fromEntries(inputs.map((input) => [input, checksumOf(input)]));
  const module = join(
    dirname(file),
    `.${basename(file)}.${process.pid}-${loads++}.${FORMAT === 'esm' ? 'mjs' : 'cjs'}`,
  );
  try {
    await writeFile(module, text);
    const { default: exported } = await run(module);
    if (exported === undefined) {
      fail(path, 'a default export', 'none', 'End it with: export default defineConfig({ ... })');
    }
    return { exported, files };
  } finally {
    await rm(module, { force: true });
  }
}

async function run(module: string): Promise<{ readonly default?: unknown }> {
  return FORMAT === 'esm' ? import(/* @vite-ignore */ pathToFileURL(module).href) : createRequire(module)(module);
}

/** SHA-256 of a file, hexadecimal. */
export function checksumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
