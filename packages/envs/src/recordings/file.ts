import { CoplayError, fail, show } from '@coplay/core';
import { checkArgument, checkText, parseJson, typedArrays } from '@coplay/core/checks';
import { writeWhole } from '@coplay/core/node';
import { checkRecording } from './check';
import type { Recording } from './recording';

/** Of a recording's JSON: a few hundred bytes of gzip can hold many gigabytes. */
const MOST_BYTES = 256 * 2 ** 20;

// Bundlers for browsers look for modules by their literal names, and this one is only there in Node.
const FS = 'node:fs/promises';

/** The part of Node's files that is used; its own types would make the package one for Node. */
interface Files {
  readFile(path: string): Promise<Uint8Array>;
}

/**
 * A recording as the bytes of a file: JSON, compressed by gzip, whose checksum tells damage.
 *
 * @throws CoplayError if it isn't a whole recording
 */
export async function encodeRecording(recording: Recording): Promise<Uint8Array> {
  checkRecording('encodeRecording', recording);
  return through(new TextEncoder().encode(JSON.stringify(recording)), new CompressionStream('gzip'));
}

/**
 * The recording in the bytes of a file: what {@link encodeRecording} made, or plain JSON.
 *
 * @param where  what to call it in a message. Default `decodeRecording`
 * @throws CoplayError for bytes that are damaged, no recording, or one of another version
 */
export async function decodeRecording(bytes: Uint8Array, where = 'decodeRecording'): Promise<Recording> {
  if (typeof where !== 'string') fail('decodeRecording: where', 'a text', show(where), 'Name the text that is read.');
  checkArgument(where, 'bytes', typedArrays('uint8'), bytes);
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  let value: unknown;
  try {
    const plain = isZipped ? await through(bytes, new DecompressionStream('gzip'), MOST_BYTES) : bytes;
    value = parseJson(where, new TextDecoder().decode(plain));
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    const complaint = { where, expected: 'a recording: JSON, or JSON in gzip', got };
    throw new CoplayError({ ...complaint, remedy: 'It is damaged: record the episode again.' }, { cause: error });
  }
  return checkRecording(where, value);
}

/**
 * Writes a recording to a file, such as `episode.coplay`. The file appears whole or not at all. Node only; elsewhere
 * keep the bytes of {@link encodeRecording}.
 *
 * @throws CoplayError naming the path, where it can't be written; a file that was there before is untouched
 */
export async function writeRecording(path: string, recording: Recording): Promise<void> {
  checkText('writeRecording', 'path', path);
  checkRecording('writeRecording', recording);
  await writeWhole(path, await encodeRecording(recording), { where: 'writeRecording' });
}

/**
 * Reads what {@link writeRecording} wrote. Node only; elsewhere give the bytes to {@link decodeRecording}.
 *
 * @throws CoplayError naming the path, for a file that can't be read, is damaged, or is of another version
 */
export async function readRecording(path: string): Promise<Recording> {
  checkText('readRecording', 'path', path);
  const fs = await files('readRecording');
  const bytes = await fs.readFile(path).catch((error: unknown) => {
    const complaint = { where: 'readRecording', expected: `to read ${path}`, got: (error as Error).message };
    throw new CoplayError({ ...complaint, remedy: 'Check the path.' }, { cause: error });
  });
  return decodeRecording(bytes, `readRecording(${path})`);
}

/** All that comes out of a stream; no more than `most` bytes are ever held. */
async function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  const piped = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(stream);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const reader = piped.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new Error(`more than ${most} bytes in ${bytes.length} compressed ones`);
    }
    pieces.push(value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

async function files(where: string): Promise<Files> {
  return (await import(FS).catch(() => {
    fail(where, 'Node, for files', 'a browser', 'Use encodeRecording() and decodeRecording() for bytes.');
  })) as Files;
}
