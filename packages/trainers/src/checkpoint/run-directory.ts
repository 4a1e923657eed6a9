import { checkOptions, fail } from '@coplay/core';
import { checkArgument, checkRecord, checkText, isPlainRecord, typedArrays } from '@coplay/core/checks';
import { writeError } from '@coplay/core/node';
import { z } from 'zod';
import { type FileSystem, nodeFileSystem } from './file-system';
import { findCheckpoints } from './find';
import { FILES } from './manifest';
import { checkpointName } from './names';
import { fileSystemSchema } from './options';
import { LIBRARY_VERSION } from './version';

/** Options of {@link createRunDirectory}. */
export interface RunDirectoryOptions {
  /** The resolved configuration of the run, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What runs it, by name; {@link runtimeVersions} gives some. */
  readonly versions: Readonly<Record<string, string>>;
  /** Whether a run that is there already goes on. Default false */
  readonly resume?: boolean;
  /** Default: the machine's, through Node. */
  readonly fileSystem?: FileSystem;
}

const schema = z.strictObject({
  versions: z.record(z.string(), z.string()),
  resume: z.boolean().default(false),
  fileSystem: fileSystemSchema.optional(),
});

const contentSchema = z.union([z.string(), typedArrays('uint8')]);

const WHERE = 'createRunDirectory';

/**
 * Makes the directory of a run and writes `config.json` and `versions.json` there. A directory belongs to one run:
 * one that holds a run is refused. A resumed run that differs keeps the earlier files as `config.1.json` and so on.
 *
 * @throws CoplayError if there is a run (a configuration or checkpoints) and `resume` isn't set, or it can't be written
 */
export async function createRunDirectory(path: string, options: RunDirectoryOptions): Promise<void> {
  checkText(WHERE, 'path', path);
  checkRecord(WHERE, 'options', options);
  // The configuration is data, not options: agents in it may have any name.
  const { config, ...rest } = options;
  checkRecord(WHERE, 'option config', config);
  const { versions, resume, fileSystem } = checkOptions(WHERE, schema, rest);
  const files = fileSystem ?? (await nodeFileSystem());
  const names = await makeDirectory(files, path);
  if (!resume) await refuseRun(files, path, names);
  await writeVersioned(files, path, names, 'config', config);
  await writeVersioned(files, path, names, 'versions', versions);
}

/** The configuration in a run's directory; undefined where there is none that can be read. */
export async function readRunConfig(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const files = await nodeFileSystem();
  try {
    const config: unknown = JSON.parse(new TextDecoder().decode(await files.read(`${path}/config.json`)));
    return isPlainRecord(config) ? config : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A text for each checkpoint in a directory that can be read, which no other checkpoint has: its step and the checksum
 * of its state.
 */
export async function checkpointMarks(directory: string): Promise<ReadonlySet<string>> {
  const files = await nodeFileSystem();
  // What can't be listed, such as a file of this name, holds none: reading it says so.
  const { readable } = await findCheckpoints(files, directory).catch(() => ({ readable: [] }));
  return new Set(
    readable.map(({ manifest }) => {
      const sums = FILES.map((name) => manifest.files[name].sha256.slice(0, 16));
      return `${checkpointName(manifest.step)} (${sums.join(' ')})`;
    }),
  );
}

/** Versions worth keeping with a run: of Coplay, of Node, and the platform, such as `linux-x64`. */
export function runtimeVersions(): Record<string, string> {
  const versions = { coplay: LIBRARY_VERSION };
  if (typeof process === 'undefined') return versions;
  return { ...versions, node: process.version, platform: `${process.platform}-${process.arch}` };
}

/**
 * Writes a file so that a reader finds the old content or the new one, never a part, whenever the power goes.
 *
 * @throws CoplayError if it can't be written; the old content is still there then
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  fileSystem?: FileSystem,
): Promise<void> {
  checkText('writeFileAtomic', 'path', path);
  checkArgument('writeFileAtomic', 'content', contentSchema, content);
  if (fileSystem !== undefined) checkArgument('writeFileAtomic', 'fileSystem', fileSystemSchema, fileSystem);
  const files = fileSystem ?? (await nodeFileSystem());
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  try {
    await files.write(path, [bytes]);
  } catch (error) {
    throw writeError(
      'writeFileAtomic',
      `to write ${path}`,
      error,
      'The previous file is intact: mend that and try again.',
    );
  }
}

/** Makes the directory and returns what's in it. */
async function makeDirectory(files: FileSystem, path: string): Promise<readonly string[]> {
  try {
    await files.makeDirectory(path);
    return await files.list(path);
  } catch (error) {
    throw writeError(WHERE, `to write ${path}`, error, 'Choose a directory that can be written.');
  }
}

/** Refuses a directory with a configuration or checkpoints in it. */
async function refuseRun(files: FileSystem, path: string, names: readonly string[]): Promise<void> {
  // What can't be listed, such as a file of this name, is no run; the first checkpoint tells of it.
  const checkpoints = await files.list(`${path}/checkpoints`).catch(() => []);
  if (!names.includes('config.json') && checkpoints.length === 0) return;
  const got = names.includes('config.json') ? 'one with a config.json' : 'one with checkpoints';
  fail(WHERE, `${path} without a run in it`, got, 'Choose another directory, or resume that run.');
}

/** Writes `name.json` unless it already has this content; the old file becomes `name.1.json` or the next number. */
async function writeVersioned(
  files: FileSystem,
  path: string,
  names: readonly string[],
  name: string,
  content: unknown,
): Promise<void> {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (names.includes(`${name}.json`)) {
    const earlier = await files.read(`${path}/${name}.json`);
    if (new TextDecoder().decode(earlier) === text) return;
    let number = 1;
    while (names.includes(`${name}.${number}.json`)) number++;
    await writeFileAtomic(`${path}/${name}.${number}.json`, earlier, files);
  }
  await writeFileAtomic(`${path}/${name}.json`, text, files);
}
