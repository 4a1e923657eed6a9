import { CoplayError, checkOptions, fail, type NamedArrays, type SavedState } from '@coplay/core';
import { checkText } from '@coplay/core/checks';
import { concatRows, sliceRows } from '@coplay/core/rows';
import { z } from 'zod';
import { inTurn, readChunk } from './chunk-files';
import { type ChunkEntry, type ChunkIndex, INDEX, readIndex } from './chunk-index';
import { heldSteps } from './ring-state';

/** Options of {@link loadReplay}. */
export interface LoadReplayOptions {
  /**
   * Capacity of the replay that it is for; the newest steps of each stream that fit are loaded. Default: that of the
   * one that was saved
   */
  readonly capacity?: number | undefined;
  /**
   * Receives each missing or damaged chunk; of its stream, the longest run of steps without a gap is loaded then, and
   * the newest of several longest runs. Default: the first such chunk is refused
   */
  readonly onDamaged?: ((error: CoplayError) => void) | undefined;
}

/** Steps of one stream that follow each other, from `first` on. */
interface Piece {
  readonly first: number;
  /** Number of the step after the last one */
  readonly end: number;
  readonly rows: NamedArrays;
}

const schema = z.strictObject({
  capacity: z.int().min(1).optional(),
  onDamaged: z
    .custom<(error: CoplayError) => void>((value) => typeof value === 'function', { error: 'a function of an error' })
    .optional(),
});

/**
 * Reads what `saveReplay` wrote: `replay.restore(await loadReplay(directory))`. Steps, their numbers and the queue are
 * as saved, so that the same generator draws the same samples. Node only.
 *
 * @param options  for a replay of another capacity, or a directory that isn't whole
 * @returns the state of a replay of the same streams
 * @throws CoplayError naming the file that is missing, damaged, or of a newer version
 */
export async function loadReplay(directory: string, options: LoadReplayOptions = {}): Promise<SavedState> {
  checkText('loadReplay', 'directory', directory);
  const where = `loadReplay(${directory})`;
  const { capacity, onDamaged } = checkOptions('loadReplay', schema, options);
  return inTurn(async () => {
    const found = await readIndex(where, directory);
    const index = found ?? fail(where, `a replay in ${directory}`, `no ${INDEX}`, 'Give what saveReplay wrote.');
    const ring = ringOf(index, capacity);
    const pushed = Float64Array.from(index.pushed);
    const begun = Float64Array.from(index.begun);
    const pieces: Piece[] = [];
    for (let stream = 0; stream < pushed.length; stream++) {
      const run = longestRun(await readStream(where, directory, index, stream, ring, onDamaged));
      const end = run.at(-1)?.end ?? pushed[stream];
      const first = run.at(0)?.first ?? end;
      // As saved, unless the ring would seem to hold more than there is.
      if (heldSteps(end, begun[stream], ring) !== end - first) begun[stream] = first;
      pushed[stream] = end;
      pieces.push(...run);
    }
    const rows = pieces.length === 0 ? {} : concatRows(pieces.map((piece) => piece.rows));
    const { queue, length, renewed } = index;
    return {
      buffer: { pushed, begun, ring, rows },
      queue: Float64Array.from(queue),
      ...(length && { length }),
      renewed,
    };
  });
}

function ringOf({ ring, pushed }: ChunkIndex, capacity: number | undefined): number {
  if (capacity === undefined) return ring;
  if (capacity >= pushed.length) return Math.floor(capacity / pushed.length);
  const expected = `a capacity of at least ${pushed.length}, one step for each stream`;
  return fail('loadReplay', expected, String(capacity), 'Give more capacity.');
}

/** What there is of the steps of a stream that fit. */
async function readStream(
  where: string,
  directory: string,
  index: ChunkIndex,
  stream: number,
  ring: number,
  onDamaged: ((error: CoplayError) => void) | undefined,
): Promise<Piece[]> {
  const pushed = index.pushed[stream];
  const oldest = pushed - heldSteps(pushed, index.begun[stream], Math.min(ring, index.ring));
  const pieces: Piece[] = [];
  for (const entry of index.chunks) {
    if (entry.stream !== stream || entry.end <= oldest) continue;
    try {
      pieces.push(await readPiece(where, directory, entry, oldest));
    } catch (error) {
      if (!onDamaged || !(error instanceof CoplayError)) throw error;
      onDamaged(error);
    }
  }
  return pieces;
}

/** The fields of a chunk, put together from its files, without steps before `oldest`. */
async function readPiece(where: string, directory: string, { files, end }: ChunkEntry, oldest: number): Promise<Piece> {
  const first = Math.max(oldest, ...files.map((file) => file.first));
  const rows: NamedArrays = {};
  for (const file of files) {
    Object.assign(rows, sliceRows(await readChunk(where, directory, file), first - file.first, end - file.first));
  }
  return { first, end, rows };
}

/** Pieces that follow each other without a gap; of runs of a length the newest. */
function longestRun(pieces: readonly Piece[]): Piece[] {
  let best: Piece[] = [];
  let run: Piece[] = [];
  for (const piece of pieces) {
    run = run.at(-1)?.end === piece.first ? [...run, piece] : [piece];
    if (stepsOf(run) >= stepsOf(best)) best = run;
  }
  return best;
}

function stepsOf(run: readonly Piece[]): number {
  return run.reduce((sum, { first, end }) => sum + end - first, 0);
}
