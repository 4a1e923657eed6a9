import { CoplayError, checkOptions, fail, type SavedState, show } from '@coplay/core';
import { checkRecord, checkText } from '@coplay/core/checks';
import { writeError } from '@coplay/core/node';
import { z } from 'zod';
import { type FileSystem, nodeFileSystem, sha256 } from './file-system';
import { findCheckpoints } from './find';
import { flattenState } from './flatten';
import { clean, moveIntoPlace, prune } from './housekeeping';
import { createManifest, FILES, type FileRecord, writeManifest } from './manifest';
import { checkpointName, withName } from './names';
import { fileSystemSchema, keepSchema, warnSchema } from './options';
import { encodeSafetensors } from './safetensors';

/** Options of {@link saveCheckpoint}. */
export interface SaveOptions {
  /** How many checkpoints stay, the new one included; at least 1, or Infinity. Default 3 */
  readonly keep?: number;
  /**
   * What to say of the run, as JSON: the game, options, counters, the time; for people and for {@link resumeFits}.
   * Default {}
   */
  readonly about?: Readonly<Record<string, unknown>>;
  /** Told if an older checkpoint can't be removed; the new one is safe then. Default `console.warn` */
  readonly warn?: (line: string) => void;
  /** Default: the machine's, through Node. */
  readonly fileSystem?: FileSystem;
}

const schema = z.strictObject({
  keep: keepSchema.default(3),
  about: z.record(z.string(), z.unknown()).default({}),
  warn: warnSchema.default(() => (line: string) => console.warn(line)),
  fileSystem: fileSystemSchema.optional(),
});

/**
 * Saves a state as `directory/step-000000012345`, so that a kill or a power cut at any moment leaves the older
 * checkpoints and either the whole new one or nothing: everything is written under another name and forced to the
 * disk, the manifest last, before the directory gets its name. Then the oldest are removed, all but `keep`.
 *
 * A checkpoint of the same step is replaced. Steps may also go back: the one saved last is the newest.
 *
 * One process at a time may save in a directory.
 *
 * @param directory  made if it isn't there
 * @param step       0 or more, such as the environment steps done
 * @param saved      must not change until the promise resolves
 * @returns the path of the checkpoint
 * @throws CoplayError if the state holds a value that can't be saved, or the disk is full or refuses: then the new
 *         files are removed again and the older checkpoints are unchanged
 */
export async function saveCheckpoint(
  directory: string,
  step: number,
  saved: SavedState,
  options: SaveOptions = {},
): Promise<string> {
  checkText('saveCheckpoint', 'directory', directory);
  const { keep, about, warn, fileSystem } = checkOptions('saveCheckpoint', schema, options);
  if (!Number.isSafeInteger(step) || step < 0) {
    fail('saveCheckpoint', 'step to be a whole number from 0 on', show(step), 'Give the environment steps done.');
  }
  const contents = { step, about: toJson(about), pieces: encodeSaved(saved) };
  const files = fileSystem ?? (await nodeFileSystem());
  const path = `${directory}/${checkpointName(step)}`;
  try {
    await files.makeDirectory(directory);
    await clean(files, directory);
    await withName(checkpointName(step), 'writing', (name) => writeAs(files, directory, name, contents));
  } catch (error) {
    const remedy = 'The older ones are intact: mend that and save again.';
    throw writeError('saveCheckpoint', `to write the checkpoint ${path}`, error, remedy);
  }
  await prune(files, directory, keep).catch((error: unknown) => {
    warn(`The checkpoint ${path} is complete, but an older one could not be removed: ${String(error)}`);
  });
  return path;
}

/** The files' bytes; a value that a checkpoint can't hold is refused in the name of the called function. */
function encodeSaved(saved: SavedState) {
  checkRecord('saveCheckpoint', 'saved', saved);
  try {
    return encode(saved);
  } catch (error) {
    if (!(error instanceof CoplayError)) throw error;
    throw new CoplayError({ ...error.complaint, where: 'saveCheckpoint: saved' });
  }
}

interface Contents {
  readonly step: number;
  readonly about: Readonly<Record<string, unknown>>;
  /** The bytes of each file. */
  readonly pieces: Readonly<Record<(typeof FILES)[number], readonly Uint8Array[]>>;
}

function encode(saved: SavedState): Contents['pieces'] {
  const { arrays, json } = flattenState(saved);
  return {
    'arrays.safetensors': encodeSafetensors(arrays),
    'state.json': [new TextEncoder().encode(JSON.stringify(json))],
  };
}

function toJson(about: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(JSON.stringify(about)) as Record<string, unknown>;
  } catch (error) {
    return fail('saveCheckpoint', 'about to be JSON', String(error), 'Leave out what JSON has no word for.');
  }
}

/** Writes a checkpoint under `name`, then gives it its own; after a failure nothing of it is left. */
async function writeAs(files: FileSystem, directory: string, name: string, contents: Contents): Promise<void> {
  const temporary = `${directory}/${name}`;
  try {
    await files.makeDirectory(temporary);
    await writeContents(files, temporary, contents, await nextSequence(files, directory));
    await files.syncDirectory(temporary);
    await moveIntoPlace(files, directory, temporary, checkpointName(contents.step));
  } catch (error) {
    // The first failure is the one to tell; a second one here leaves a directory that the next save removes.
    await files.remove(temporary).catch(() => undefined);
    throw error;
  }
}

async function writeContents(files: FileSystem, path: string, contents: Contents, sequence: number): Promise<void> {
  const { step, about, pieces } = contents;
  const [arrays, state] = FILES;
  const records = {
    [arrays]: await writeRecorded(files, `${path}/${arrays}`, pieces[arrays]),
    [state]: await writeRecorded(files, `${path}/${state}`, pieces[state]),
  };
  await writeManifest(files, path, createManifest({ step, sequence, about, files: records }));
}

async function writeRecorded(files: FileSystem, path: string, pieces: readonly Uint8Array[]): Promise<FileRecord> {
  await files.write(path, pieces);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { bytes, sha256: await sha256(pieces) };
}

async function nextSequence(files: FileSystem, directory: string): Promise<number> {
  const { readable } = await findCheckpoints(files, directory);
  return readable.length === 0 ? 1 : readable[0].manifest.sequence + 1;
}
