import { CoplayError, checkOptions, fail, type SavedState } from '@coplay/core';
import { checkText, parseJson } from '@coplay/core/checks';
import { writeError } from '@coplay/core/node';
import { z } from 'zod';
import { decodeSafetensors } from './decode-safetensors';
import { type FileSystem, nodeFileSystem } from './file-system';
import { findCheckpoints } from './find';
import { type Json, unflattenState } from './flatten';
import { type Manifest, readChecked, readManifest, refuse } from './manifest';
import { isCheckpointName } from './names';
import { fileSystemSchema, warnSchema } from './options';

/** A checkpoint that was read whole. */
export interface Checkpoint {
  /** Its directory. */
  readonly path: string;
  readonly step: number;
  /** The caller's description of the run at the time of saving. */
  readonly about: Readonly<Record<string, unknown>>;
  /** The version of @coplay/trainers that wrote it. */
  readonly library: string;
  /** The state, exactly as it was saved. */
  readonly saved: SavedState;
}

/** A directory that looks like a checkpoint and can't be used. */
export interface SkippedCheckpoint {
  readonly path: string;
  /** Its fault: `a damaged state.json (its checksum differs)`. */
  readonly reason: string;
}

/** What {@link latestCheckpoint} found. */
export interface LatestCheckpoint {
  /** The newest complete and undamaged one; absent if there is none. */
  readonly checkpoint?: Checkpoint;
  /** The checkpoints that were refused on the way, newest first. */
  readonly skipped: readonly SkippedCheckpoint[];
}

/** Options of {@link loadCheckpoint} and {@link latestCheckpoint}. */
export interface LoadCheckpointOptions {
  /** Receives a line for each checkpoint that is refused on the way to the newest good one. Default: none */
  readonly warn?: (line: string) => void;
  /** Default: the machine's, through Node. */
  readonly fileSystem?: FileSystem;
}

const schema = z.strictObject({ warn: warnSchema.optional(), fileSystem: fileSystemSchema.optional() });

/**
 * Reads one checkpoint, every byte of it checked. This restores nothing by itself: give `saved` to the `restore` of the
 * saved object, or use `loadRun`.
 *
 * @param path  the directory of a run, of its `checkpoints`: the newest good one; or that of one checkpoint, such as
 *              `runs/a/checkpoints/step-000000012345`
 * @throws CoplayError if it's unfinished, damaged, foreign or of another version; it says which
 */
export async function loadCheckpoint(path: string, options: LoadCheckpointOptions = {}): Promise<Checkpoint> {
  checkText('loadCheckpoint', 'path', path);
  const { fileSystem, warn } = checkOptions('loadCheckpoint', schema, options);
  const files = fileSystem ?? (await nodeFileSystem());
  const folder = await folderOfCheckpoints(files, path);
  if (folder === undefined) return readCheckpoint(files, path, await readManifest(files, path));
  const { checkpoint, skipped } = await newestGood(files, folder, warn);
  if (checkpoint) return checkpoint;
  const [first] = skipped;
  const got = first ? `${first.path}, with ${first.reason}` : 'none';
  const remedy = first ? 'Mend it, or use another run.' : 'Train it further, until one is saved.';
  return fail('loadCheckpoint', `a good checkpoint in ${folder}`, got, remedy);
}

/** The folder of a run's checkpoints where `path` is a run or that folder; undefined for anything else. */
async function folderOfCheckpoints(files: FileSystem, path: string): Promise<string | undefined> {
  // What can't be listed is refused as a checkpoint.
  const names = await files.list(path).catch((): readonly string[] => []);
  if (names.includes('manifest.json')) return undefined;
  if (names.includes('checkpoints')) return `${path}/checkpoints`;
  return names.some(isCheckpointName) ? path : undefined;
}

/**
 * Finds the checkpoint to go on from, by reading: the one saved last that is complete and undamaged. Other ones are
 * refused by name, and the previous one is tried.
 *
 * @param directory  where {@link saveCheckpoint} put them; it need not exist
 * @throws CoplayError if it can't be listed, such as a file
 */
export async function latestCheckpoint(
  directory: string,
  options: LoadCheckpointOptions = {},
): Promise<LatestCheckpoint> {
  checkText('latestCheckpoint', 'directory', directory);
  const { fileSystem, warn } = checkOptions('latestCheckpoint', schema, options);
  return newestGood(fileSystem ?? (await nodeFileSystem()), directory, warn);
}

async function newestGood(
  files: FileSystem,
  directory: string,
  warn?: (line: string) => void,
): Promise<LatestCheckpoint> {
  const skipped: SkippedCheckpoint[] = [];
  const skip = (path: string, error: unknown): void => {
    const reason = error instanceof CoplayError ? error.complaint.got : String(error);
    skipped.push({ path, reason });
    warn?.(`The checkpoint ${path} is refused: ${reason}.`);
  };
  const { readable, unreadable } = await findCheckpoints(files, directory).catch((error: unknown) => {
    throw writeError('latestCheckpoint', `to list ${directory}`, error, 'Give a directory of checkpoints.');
  });
  for (const { path, error } of unreadable) skip(path, error);
  for (const { path, manifest } of readable) {
    try {
      return { checkpoint: await readCheckpoint(files, path, manifest), skipped };
    } catch (error) {
      skip(path, error);
    }
  }
  return { skipped };
}

async function readCheckpoint(files: FileSystem, path: string, manifest: Manifest): Promise<Checkpoint> {
  const arrays = await readChecked(files, path, 'arrays.safetensors', manifest);
  const json = await readChecked(files, path, 'state.json', manifest);
  return {
    path,
    step: manifest.step,
    about: manifest.about,
    library: manifest.library,
    saved: decode(path, arrays, json),
  };
}

/** A saved tree has at most 100 levels, each of which may be a record of a mark and entries: two levels of JSON. */
const STATE_LEVELS = 250;

/** What passed its checksum is as it was written; this only fails for files that we didn't write. */
function decode(path: string, arrays: Uint8Array, json: Uint8Array): SavedState {
  try {
    const tree = parseJson(path, new TextDecoder().decode(json), { levels: STATE_LEVELS }) as Json;
    return unflattenState({ arrays: decodeSafetensors(arrays).arrays, json: tree });
  } catch (error) {
    return refuse(path, error instanceof CoplayError ? error.complaint.got : String(error));
  }
}
