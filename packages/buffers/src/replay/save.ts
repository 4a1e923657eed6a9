import { checkOptions, fail, type NamedArrays, type SavedState, show } from '@coplay/core';
import { isArrayOf } from '@coplay/core/arrays';
import { checkText } from '@coplay/core/checks';
import { TEMPORARY_ENDING } from '@coplay/core/node';
import { sliceRows } from '@coplay/core/rows';
import { z } from 'zod';
import { checksumOf, fileOf, inTurn, isWhole, readChunk, writeChunk } from './chunk-files';
import { CHUNK_FILE, type ChunkEntry, type ChunkFile, INDEX, readIndex, writeIndex } from './chunk-index';
import { type Chunk, chunksOf } from './chunks';
import { attempt, nodeFs } from './node-modules';
import type { SequenceState } from './sequence-replay';

/** Options of {@link saveReplay}. */
export interface SaveReplayOptions {
  /** Steps of one stream in a file, at least 1. With another number than before all is written anew. Default 1,024 */
  readonly chunk?: number | undefined;
}

/** What {@link saveReplay} did. */
export interface ReplaySaving {
  /** Files that were written, without the index. */
  readonly written: number;
  /** Files that stayed as they were. */
  readonly kept: number;
  /** Files of earlier saves that are gone. */
  readonly removed: number;
}

/** A directory of chunks, while it's written to. */
interface Folder {
  readonly directory: string;
  /** Chunks that the last index named */
  readonly earlier: readonly ChunkEntry[];
}

/** Chunks that are written at a time: most of it is waiting for the disk. */
const AT_ONCE = 16;

const schema = z.strictObject({ chunk: z.int().min(1).default(1024) });

/**
 * Writes a sequence replay to a directory of its own, in chunks: .npz files of so many steps of one stream, and
 * `replay.json`, which names them with their checksums. Saving again writes only chunks that changed: those with new
 * steps, and those with renewed fields (see `overwrite`), which are kept in files of their own so that the others
 * needn't be written with them. Until the new index is in place the old one and all that it names stay, so that a kill
 * at any moment leaves the one state or the other. Then files of chunks that it doesn't name are removed; nothing else
 * in the directory is touched. A chunk that is gone or of another length than it was written with is written again; one
 * with other bytes of the same length `loadReplay` refuses. One process at a time may write there. Node only.
 *
 * @param directory  made if it isn't there
 * @param saved      `replay.state()`, which belongs to one moment, even if steps are pushed or sampled meanwhile
 * @throws CoplayError naming the path, where something can't be written or the directory's index is damaged; the
 *         previous save is whole then
 */
export async function saveReplay(
  directory: string,
  saved: SavedState,
  options: SaveReplayOptions = {},
): Promise<ReplaySaving> {
  checkText('saveReplay', 'directory', directory);
  const { chunk } = checkOptions('saveReplay', schema, options);
  const state = checkState(saved);
  return inTurn(async () => {
    const folder = await openFolder(directory, chunk);
    const { chunks, written } = await saveChunks(folder, chunksOf(state, chunk));
    await writeIndex(directory, { chunk, ...numbersOf(state), chunks });
    const named = chunks.flatMap(({ files }) => files);
    return { written, kept: named.length - written, removed: await removeOthers(directory, named) };
  });
}

function checkState(saved: SavedState): SequenceState {
  const state = saved as unknown as Partial<SequenceState> | null;
  const isState = isArrayOf('float64', state?.buffer?.pushed) && isArrayOf('float64', state.queue);
  if (!isState) fail('saveReplay', 'the state of a sequence replay', show(saved), 'Give replay.state().');
  return state as SequenceState;
}

/** The index's description of a state, without its steps. */
function numbersOf({ buffer, queue, length, renewed = [] }: SequenceState) {
  const { pushed, ring, begun = new Float64Array(pushed.length) } = buffer;
  return { ring, length, renewed: [...renewed], pushed: [...pushed], begun: [...begun], queue: [...queue] };
}

async function openFolder(directory: string, chunk: number): Promise<Folder> {
  const fs = await nodeFs();
  const make = () => fs.mkdir(directory, { recursive: true });
  await attempt('saveReplay', `write to ${directory}`, 'Mend the cause and save again.', make);
  const index = await readIndex('saveReplay', directory);
  return { directory, earlier: index?.chunk === chunk ? index.chunks : [] };
}

/** Sees to it that chunks are in the directory; `written` counts the files that it took. */
async function saveChunks(folder: Folder, chunks: readonly Chunk[]) {
  const entries: ChunkEntry[] = [];
  let written = 0;
  for (let start = 0; start < chunks.length; start += AT_ONCE) {
    const saves = chunks.slice(start, start + AT_ONCE).map((chunk) => saveChunk(folder, chunk));
    // All have ended when one of them throws, so that nothing is still written afterwards.
    await Promise.allSettled(saves);
    for (const { entry, writes } of await Promise.all(saves)) {
      entries.push(entry);
      written += writes;
    }
  }
  return { chunks: entries, written };
}

async function saveChunk(folder: Folder, { stream, first, count, parts }: Chunk) {
  const end = first + count;
  const earlier = folder.earlier.find((entry) => entry.stream === stream && entry.end === end);
  const files: ChunkFile[] = [];
  let writes = 0;
  for (const [i, rows] of parts.entries()) {
    const { file, isNew } = await savePart(folder, earlier?.files[i], stream, first, rows);
    files.push(file);
    if (isNew) writes++;
  }
  return { entry: { stream, end, files }, writes };
}

async function savePart(
  folder: Folder,
  earlier: ChunkFile | undefined,
  stream: number,
  first: number,
  rows: NamedArrays,
): Promise<{ readonly file: ChunkFile; readonly isNew: boolean }> {
  if (earlier && (await endsWith(folder, earlier, first, rows))) return { file: earlier, isNew: false };
  const file = await fileOf(stream, first, rows);
  const isThere = earlier?.name === file.name && (await isWhole(folder.directory, earlier));
  return { file: isThere ? earlier : await writeChunk(folder.directory, file, rows), isNew: !isThere };
}

/**
 * Whether a file that begins earlier still holds the same steps: the oldest chunk of a stream loses steps with every
 * push.
 */
async function endsWith({ directory }: Folder, file: ChunkFile, first: number, rows: NamedArrays): Promise<boolean> {
  if (file.first >= first) return false;
  try {
    const whole = await readChunk('saveReplay', directory, file);
    const skipped = first - file.first;
    const count = Object.values(rows)[0].shape[0];
    return (await checksumOf(sliceRows(whole, skipped, skipped + count))) === (await checksumOf(rows));
  } catch {
    // Missing or damaged: it's written again.
    return false;
  }
}

/** Removes chunks that no index names any more, and the remains of interrupted writes. */
async function removeOthers(directory: string, named: readonly ChunkFile[]): Promise<number> {
  const fs = await nodeFs();
  const keep = new Set(named.map(({ name }) => name));
  const gone = (await fs.readdir(directory)).filter((name) => {
    const whole = name.replace(TEMPORARY_ENDING, '');
    return whole === name ? CHUNK_FILE.test(name) && !keep.has(name) : whole === INDEX || CHUNK_FILE.test(whole);
  });
  for (const name of gone) {
    const remove = () => fs.rm(`${directory}/${name}`, { force: true, recursive: true });
    await attempt('saveReplay', `remove ${directory}/${name}`, 'Remove it; the save is whole.', remove);
  }
  return gone.length;
}
