import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { checkOptions, fail } from '@coplay/core';
import { writeFileAtomic } from '@coplay/trainers';
import { z } from 'zod';
import { checksumOf } from './code';
import { type ReadConfiguration, readConfiguration } from './read';
import { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';

/** The configuration that a run was started with, in its directory. */
const FILE = 'coplay.json';

/** Copies of the code, for whoever has to put it back as it was. */
const COPIES = 'code';

/** What is kept of a configuration that is code: where it is, as seen from the directory, and what a command line may say instead. */
const keptCode = z.strictObject({
  code: z.string(),
  files: z.record(z.string(), z.string()),
  envSteps: z.int().min(1),
  seed: z.int().min(0),
  directory: z.string(),
});

/** Keeps the configuration beside the run's own files, and of one that is code a copy. */
export function keepConfiguration(directory: string, { configuration, code }: ReadConfiguration): Promise<void> {
  if (code) copyCode(directory, Object.keys(code.files));
  const kept = code ? codeToKeep(directory, configuration, code) : configuration;
  return writeFileAtomic(join(directory, FILE), `${JSON.stringify(kept, null, 2)}\n`);
}

function codeToKeep(
  directory: string,
  { envSteps, seed }: RunConfiguration,
  { file, files }: NonNullable<ReadConfiguration['code']>,
): z.infer<typeof keptCode> {
  const seen = (path: string) => relative(directory, path).split(sep).join('/');
  const checksums = Object.entries(files).map(([path, checksum]) => [seen(path), checksum]);
  return { code: seen(file), files: Object.fromEntries(checksums), envSteps, seed, directory };
}

function copyCode(directory: string, files: readonly string[]): void {
  for (const [file, copy] of copiesOf(directory, files)) {
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
}

/** Where the copies are, by the absolute paths of the files: as these lie below the folder that holds them all. */
function copiesOf(directory: string, files: readonly string[]): Map<string, string> {
  let folder = dirname(files[0]);
  while (!files.every((file) => file.startsWith(join(folder, sep)))) folder = dirname(folder);
  return new Map(files.map((file) => [file, join(directory, COPIES, relative(folder, file))]));
}

/**
 * The configuration of a run that `coplay train` began. One that is code is loaded from where it is.
 *
 * @throws CoplayError for a directory without one, or code that is gone or has changed
 */
export async function configurationIn(directory: string): Promise<RunConfiguration> {
  const path = join(directory, FILE);
  if (!existsSync(path)) refuseDirectory(directory);
  const kept = readJsonFile(path);
  if ((kept as { code?: unknown }).code === undefined) return checkConfiguration(path, kept);
  const { code, files, ...told } = checkOptions(path, keptCode, kept);
  const paths = Object.keys(files).map((file) => resolve(directory, file));
  const copies = copiesOf(directory, paths);
  Object.values(files).forEach((checksum, i) => {
    checkUnchanged(paths[i], checksum, copies.get(paths[i])!);
  });
  const { configuration } = await readConfiguration(resolve(directory, code));
  return { ...configuration, ...told };
}

function refuseDirectory(directory: string): never {
  const remedy = existsSync(join(directory, 'config.json'))
    ? 'A script of yours began this run: go on with that script (run.resume()).'
    : 'Give the directory that `coplay train` wrote.';
  const got = existsSync(directory) ? `${directory}, without ${FILE}` : `${directory}, which does not exist`;
  return fail('coplay', 'the directory of a run that `coplay train` began', got, remedy);
}

/** The run was trained with the code as it was: with another, what it learned may mean something else. */
function checkUnchanged(file: string, checksum: string, copy: string): void {
  if (existsSync(file) && checksumOf(file) === checksum) return;
  const got = existsSync(file) ? 'another content' : 'no such file';
  const remedy = `Put it back as it was (a copy is ${copy}), or train a new run with it.`;
  fail(file, 'the code that the run was begun with', got, remedy);
}
