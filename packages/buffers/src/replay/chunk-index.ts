import { fail, show } from '@coplay/core';
import { parseJson } from '@coplay/core/checks';
import { writeWhole } from '@coplay/core/node';
import { z } from 'zod';
import { attempt, isAbsent, nodeFs, sha256 } from './node-modules';

/** The name of the index in its directory. */
export const INDEX = 'replay.json';
/** The names of chunks. */
export const CHUNK_FILE = /^stream-\d+-step-\d+-[0-9a-f]{16}\.npz$/;

const FORMAT = 'coplay-replay';
const VERSION = 1;

const whole = z.int().min(0);
const fileSchema = z.strictObject({
  /** Says stream and first step, and the first digits of the checksum: other contents have another name */
  name: z.string().regex(CHUNK_FILE),
  /** Of the rows in it, in hexadecimal */
  sha256: z.string(),
  /** Length of the file */
  bytes: whole,
  /** Number of its first step: the replay may hold later ones only */
  first: whole,
});
const entrySchema = z.strictObject({
  stream: whole,
  /** Number of the step after its last one */
  end: z.int().min(1),
  /** The chunk's fields, all in one file, or those apart that are renewed */
  files: z.array(fileSchema).min(1).max(2),
});
const schema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  /** Steps of a whole chunk */
  chunk: z.int().min(1),
  /** Steps that one stream may hold */
  ring: z.int().min(1),
  /** Steps of a window */
  length: z.int().min(1).optional(),
  /** As in the replay's state, and so are the following ones. */
  renewed: z.array(z.string()),
  pushed: z.array(whole),
  begun: z.array(whole),
  queue: z.array(whole),
  chunks: z.array(entrySchema),
});

/** One file of a chunk. */
export type ChunkFile = z.infer<typeof fileSchema>;
/** What holds one chunk. */
export type ChunkEntry = z.infer<typeof entrySchema>;
/** A directory's description of its replay, without the steps. */
export type ChunkIndex = z.infer<typeof schema>;

/** Puts an index in the place of the one before, in one step; when this resolves it's on the disk. */
export async function writeIndex(directory: string, fields: Omit<ChunkIndex, 'format' | 'version'>): Promise<void> {
  const text = await seal({ format: FORMAT, version: VERSION, ...fields });
  const path = `${directory}/${INDEX}`;
  const remedy = 'Mend the cause and save again; the previous save is whole.';
  await writeWhole(path, text, { where: 'saveReplay', remedy });
}

/**
 * The index of a directory; undefined where there is none.
 *
 * @param where  who asks, for messages
 * @throws CoplayError where it's damaged, of a newer version or of something else
 */
export async function readIndex(where: string, directory: string): Promise<ChunkIndex | undefined> {
  const path = `${directory}/${INDEX}`;
  const text = await readText(where, path);
  if (text === undefined) return undefined;
  const { sha256: _, ...body } = parse(where, path, text);
  if (body['format'] !== FORMAT) refuse(where, path, `the format ${show(body['format'])}`);
  if (Number(body['version']) > VERSION)
    refuse(where, path, `version ${show(body['version'])}`, 'Update @coplay/buffers.');
  if ((await seal(body)) !== text) refuse(where, path, 'another checksum than was written');
  const { success, data } = schema.safeParse(body);
  return success ? data : refuse(where, path, 'other fields than its version has');
}

async function readText(where: string, path: string): Promise<string | undefined> {
  const fs = await nodeFs();
  return attempt(where, `read ${path}`, 'Check the path.', async () => {
    return fs.readFile(path, 'utf8').catch((error) => (isAbsent(error) ? undefined : Promise.reject(error)));
  });
}

function parse(where: string, path: string, text: string): Record<string, unknown> {
  try {
    return { ...(parseJson(where, text) as object) };
  } catch {
    return refuse(where, path, 'no JSON');
  }
}

/** The text of an index, which ends with the checksum of all that comes before. */
async function seal(content: object): Promise<string> {
  return `${JSON.stringify({ ...content, sha256: await sha256([JSON.stringify(content)]) })}\n`;
}

function refuse(
  where: string,
  path: string,
  got: string,
  remedy = 'Take another directory, or a copy of this one; files of no use can be removed.',
): never {
  fail(where, `the index of a replay in ${path}`, got, remedy);
}
