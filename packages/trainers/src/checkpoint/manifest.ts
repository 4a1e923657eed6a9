import { fail, show } from '@coplay/core';
import { parseJson } from '@coplay/core/checks';
import { codeOf } from '@coplay/core/node';
import { z } from 'zod';
import { type FileSystem, sha256 } from './file-system';
import { FORMAT_VERSION, LIBRARY_VERSION } from './version';

/** The files of a checkpoint, without the manifest. */
export const FILES = ['arrays.safetensors', 'state.json'] as const;
const MANIFEST = 'manifest.json';
const FORMAT = 'coplay-checkpoint';

/** A description of the files, to check that they are complete. */
export interface FileRecord {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/**
 * A checkpoint's description of itself, in `manifest.json`. It's written last: without it a checkpoint isn't finished.
 */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly formatVersion: number;
  /** The version of @coplay/trainers that wrote it. */
  readonly library: string;
  /** The step that names the directory. */
  readonly step: number;
  /** How many checkpoints its directory had seen, this one included: the newest has the highest, for any step. */
  readonly sequence: number;
  /** The caller's description of the run: the game, options, counters. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<(typeof FILES)[number], FileRecord>>;
}

const fileSchema = z.object({ bytes: z.int().min(0), sha256: z.string() });
const schema = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.int().min(1),
  library: z.string(),
  step: z.int().min(0),
  sequence: z.int().min(0),
  about: z.record(z.string(), z.unknown()),
  files: z.object({ 'arrays.safetensors': fileSchema, 'state.json': fileSchema }),
});

/** A manifest with the fields that are the same in all. */
export function createManifest(fields: Pick<Manifest, 'step' | 'sequence' | 'about' | 'files'>): Manifest {
  return { format: FORMAT, formatVersion: FORMAT_VERSION, library: LIBRARY_VERSION, ...fields };
}

/** Writes the manifest of a checkpoint. */
export async function writeManifest(files: FileSystem, path: string, manifest: Manifest): Promise<void> {
  const text = await seal(manifest);
  await files.write(`${path}/${MANIFEST}`, [new TextEncoder().encode(text)]);
}

/**
 * Reads the manifest of a checkpoint.
 *
 * @param path  the checkpoint's directory
 * @throws CoplayError that names the path and the fault: unfinished, foreign, of another version, damaged
 */
export async function readManifest(files: FileSystem, path: string): Promise<Manifest> {
  const bytes = await readFile(files, path, MANIFEST);
  const { text, content } = parse(path, bytes);
  if (content['format'] !== FORMAT) refuse(path, `${MANIFEST} of something else (format ${show(content['format'])})`);
  checkVersion(path, content);
  const { sha256: _, ...body } = content;
  if ((await seal(body)) !== text) refuse(path, `a damaged ${MANIFEST} (its checksum differs)`);
  const result = schema.safeParse(body);
  return result.success ? result.data : refuse(path, `${MANIFEST} with another content than its format has`);
}

/**
 * Reads a file of a checkpoint and compares it with the manifest.
 *
 * @throws CoplayError if it's missing, cut or damaged
 */
export async function readChecked(
  files: FileSystem,
  path: string,
  name: (typeof FILES)[number],
  manifest: Manifest,
): Promise<Uint8Array> {
  const expected = manifest.files[name];
  const bytes = await readFile(files, path, name);
  if (bytes.length !== expected.bytes) refuse(path, `${name} of ${bytes.length} bytes instead of ${expected.bytes}`);
  if ((await sha256([bytes])) !== expected.sha256) refuse(path, `a damaged ${name} (its checksum differs)`);
  return bytes;
}

/** Throws the error for a checkpoint that can't be used. */
export function refuse(
  path: string,
  got: string,
  remedy = 'Use the one before it, which stands in the same folder.',
): never {
  fail('loadCheckpoint', `a complete checkpoint at ${path}`, got, remedy);
}

async function readFile(files: FileSystem, path: string, name: string): Promise<Uint8Array> {
  try {
    return await files.read(`${path}/${name}`);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const missing = name === MANIFEST ? `no ${name} (unfinished, or no checkpoint)` : `no ${name}`;
    return refuse(path, codeOf(error) === 'ENOENT' ? missing : `${name} that can't be read (${said})`);
  }
}

function checkVersion(path: string, manifest: Readonly<Record<string, unknown>>): void {
  const version = manifest['formatVersion'];
  if (!Number.isSafeInteger(version) || version === FORMAT_VERSION) return;
  const isNewer = Number(version) > FORMAT_VERSION;
  const writer = `version ${show(version)}, written by @coplay/trainers ${show(manifest['library'])}`;
  const advice = isNewer ? 'update it' : 'train again, or load it with the version that wrote it';
  const remedy = `This is @coplay/trainers ${LIBRARY_VERSION}, which reads version ${FORMAT_VERSION}: ${advice}.`;
  refuse(path, `${isNewer ? 'a newer' : 'an older'} form (${writer})`, remedy);
}

function parse(path: string, bytes: Uint8Array): { text: string; content: Record<string, unknown> } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const content = parseJson(path, text);
    if (content !== null && typeof content === 'object') return { text, content: content as Record<string, unknown> };
  } catch {
    // Refused below, like JSON of another kind.
  }
  return refuse(path, `a damaged ${MANIFEST} (not a JSON object)`);
}

/**
 * The text of a manifest, which ends with the checksum of all that comes before. Reading seals the parsed manifest
 * again and compares the texts, so that no byte can differ.
 */
async function seal(content: object): Promise<string> {
  const digest = await sha256([new TextEncoder().encode(JSON.stringify(content))]);
  return `${JSON.stringify({ ...content, sha256: digest }, null, 2)}\n`;
}
