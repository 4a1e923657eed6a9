import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { checkOptions, fail } from '@coplay/core';
import { writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import { checksumOf } from './code';
import { checkAllowed, type Trust } from './own-code';
import { type ReadConfiguration, readConfiguration } from './read';
import { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';

/** The configuration that a run was started with, in its directory. */
const FILE = 'coplay.json';

/** Copies of the code, to restore it by hand. */
const COPIES = 'code';

/**
 * The record of a configuration that is code: its path relative to the directory, and the settings that a command line
 * may replace.
 */
const keptCode = z.strictObject({
  code: z.string(),
  files: z.record(z.string(), z.string()).refine((files) => Object.keys(files).length > 0, 'at least one file'),
  settings: z.record(z.string(), z.json()).optional(),
  envSteps: z.int().min(1),
  seed: z.int().min(0),
  directory: z.string(),
});

/** @throws CoplayError for a directory that has a run */
export function refuseBegun(directory: string): void {
  if (!isBegun(join(directory, FILE)) && !existsSync(join(directory, 'config.json'))) return;
  const remedy = `Go on with it: coplay resume ${directory}. Or choose another directory.`;
  fail('coplay train', 'a directory without a run', directory, remedy);
}

/**
 * Whether a run left its configuration there. Earlier versions left an empty file where the disk was full: no run began
 * then.
 */
function isBegun(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Keeps the configuration of a run in its directory, and of one that is code a copy. The run must hold the directory
 * (`run.hold()`), so that of several processes that try only one can.
 *
 * @throws CoplayError where a run was begun before, or the directory can't be written
 */
export function keepConfiguration(directory: string, { configuration, code }: ReadConfiguration): void {
  refuseBegun(directory);
  const kept = code ? codeToKeep(realpathSync(directory), configuration, code) : configuration;
  const text = `${JSON.stringify({ ...kept, directory: configuration.directory }, null, 2)}\n`;
  writeWholeSync(join(directory, FILE), text, { where: 'coplay train' });
  try {
    if (code) copyCode(directory, Object.keys(code.files));
  } catch (error) {
    giveBack(directory);
    throw error;
  }
}

/** Leaves a directory to others again if its run never began. */
export function giveBack(directory: string): void {
  if (!existsSync(join(directory, 'config.json'))) rmSync(join(directory, FILE), { force: true });
}

function codeToKeep(
  place: string,
  { envSteps, seed }: RunConfiguration,
  { file, files, settings }: NonNullable<ReadConfiguration['code']>,
): Record<string, unknown> {
  const seen = (path: string) => relative(place, path).split(sep).join('/');
  const checksums = Object.entries(files).map(([path, checksum]) => [seen(path), checksum]);
  return { code: seen(file), files: Object.fromEntries(checksums), ...(settings && { settings }), envSteps, seed };
}

function copyCode(directory: string, files: readonly string[]): void {
  for (const [file, copy] of copiesOf(directory, files)) {
    writeWholeSync(copy, readFileSync(file), { where: 'coplay train', makeFolder: true });
  }
}

/** Where the copies are, by the absolute paths of the files: as these lie below the folder that holds them all. */
function copiesOf(directory: string, files: readonly string[]): Map<string, string> {
  let folder = dirname(files[0]);
  while (!files.every((file) => file.startsWith(join(folder, sep)))) folder = dirname(folder);
  return new Map(files.map((file) => [file, join(directory, COPIES, relative(folder, file))]));
}

/**
 * The configuration of a run that `coplay train` began. One that is code is loaded from where it is, if
 * {@link checkAllowed} lets it.
 *
 * @throws CoplayError for a directory without one, or code that is a stranger's, is gone or has changed
 */
export async function configurationIn(directory: string, trust: Trust): Promise<RunConfiguration> {
  const path = join(directory, FILE);
  if (!existsSync(path)) refuseDirectory(directory);
  const kept = readJsonFile(path);
  if ((kept as { code?: unknown } | null)?.code === undefined) return checkConfiguration(path, kept);
  const { code, files, settings, ...told } = checkOptions(path, keptCode, kept);
  // Paths were written as seen from where the directory is, not from a link to it.
  const place = realpathSync(directory);
  const checksums = new Map(Object.entries(files).map(([file, checksum]) => [resolve(place, file), checksum]));
  const file = resolve(place, code);
  checkAllowed(directory, { file, files: Object.fromEntries(checksums) }, trust);
  const copies = copiesOf(directory, [...checksums.keys()]);
  for (const [path, checksum] of checksums) checkUnchanged(path, checksum, copies.get(path)!);
  const { configuration } = await readConfiguration(file, (loaded) => checkLoaded(loaded, checksums), settings);
  return { ...configuration, ...told };
}

function refuseDirectory(directory: string): never {
  const remedy = existsSync(join(directory, 'config.json'))
    ? 'A script of yours began this run: go on with that script (run.resume()).'
    : 'Give the directory that `coplay train` wrote.';
  const got = existsSync(directory) ? `${directory}, without ${FILE}` : `${directory}, which does not exist`;
  return fail('coplay', 'the directory of a run that `coplay train` began', got, remedy);
}

/** The run was trained with the code of that time: with other code, its parameters may have another meaning. */
function checkUnchanged(file: string, checksum: string, copy: string): void {
  if (existsSync(file) && checksumOf(file) === checksum) return;
  const got = existsSync(file) ? 'another content' : 'no such file';
  const remedy = `Put it back as it was (a copy is ${copy}), or train a new run with it.`;
  fail(file, 'the code that the run was begun with', got, remedy);
}

/**
 * The recorded files are unchanged, but a link or another ending may lead to another file by now, and a file may have
 * changed since it was checked: the checksums belong to the bytes that are about to run.
 */
function checkLoaded(files: Readonly<Record<string, string>>, recorded: ReadonlyMap<string, string>): void {
  const other = Object.keys(files).find((file) => files[file] !== recorded.get(file));
  if (other === undefined) return;
  const got = recorded.has(other) ? 'another content' : 'a file that was no part of it';
  const remedy = 'Restore the files, links and imports, or train a new run with it.';
  fail(other, 'the code that the run was begun with', got, remedy);
}
