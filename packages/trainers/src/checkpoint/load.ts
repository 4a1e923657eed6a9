import { CoplayError, checkOptions, type SavedState } from '@coplay/core';
import { checkText, parseJson } from '@coplay/core/checks';
import { writeError } from '@coplay/core/node';
import { z } from 'zod';
import { decodeSafetensors } from './decode-safetensors';
import { type FileSystem, nodeFileSystem } from './file-system';
import { findCheckpoints } from './find';
import { type Json, unflattenState } from './flatten';
import { type Manifest, readChecked, readManifest, refuse } from './manifest';
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

/** Options of {@link loadCheckpoint}. */
export interface LoadOptions {
  /** Default: the machine's, through Node. */
  readonly fileSystem?: FileSystem;
}

/** Options of {@link latestCheckpoint}. */
export interface LatestOptions extends LoadOptions {
  /** Told a line for each checkpoint that is refused. Default: none; `skipped` has the same content. */
  readonly warn?: (line: string) => void;
}

const loadSchema = z.strictObject({ fileSystem: fileSystemSchema.optional() });
const latestSchema = loadSchema.extend({ warn: warnSchema.optional() });

/**
 * Reads one checkpoint, every byte of it checked. This restores nothing by itself: give `saved` to the `restore` of the
 * saved object.
 *
 * @param path  the directory of the checkpoint, such as `runs/a/checkpoints/step-000000012345`
 * @throws CoplayError if it's unfinished, damaged, foreign or of another version; it says which
 */
export async function loadCheckpoint(path: string, options: LoadOptions = {}): Promise<Checkpoint> {
  checkText('loadCheckpoint', 'path', path);
  const { fileSystem } = checkOptions('loadCheckpoint', loadSchema, options);
  const files = fileSystem ?? (await nodeFileSystem());
  return readCheckpoint(files, path, await readManifest(files, path));
}

/**
 * Finds the checkpoint to go on from, by reading: the one saved last that is complete and undamaged. Other ones are
 * refused by name, and the previous one is tried.
 *
 * @param directory  where {@link saveCheckpoint} put them; it need not exist
 * @throws CoplayError if it can't be listed, such as a file
 */
export async function latestCheckpoint(directory: string, options: LatestOptions = {}): Promise<LatestCheckpoint> {
  checkText('latestCheckpoint', 'directory', directory);
  const { fileSystem, warn } = checkOptions('latestCheckpoint', latestSchema, options);
  const files = fileSystem ?? (await nodeFileSystem());
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
