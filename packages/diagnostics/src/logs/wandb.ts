import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkOptions, type Log, type RunInfo } from '@coplay/core';
import { functions } from '@coplay/core/checks';
import { z } from 'zod';
import { crc32 } from './checksums';
import { type AppendFile, openAppend } from './files';
import { checkDescription, checkDirectory, checkEntry, checkStart, notStarted } from './options';
import { bytesField, varintField } from './protobuf';

/** Options of {@link wandb}. */
export interface WandbOptions {
  /** The project on the server. Default `coplay` */
  readonly project?: string;
  /** The user or team of the project. Default: the user of `wandb sync` */
  readonly entity?: string;
  /** Name of the run. Default: the game's name */
  readonly runName?: string;
  /** Milliseconds since 1970. Default: performance.timeOrigin + performance.now() */
  readonly clock?: () => number;
}

const schema = z.strictObject({
  project: z.string().min(1).default('coplay'),
  entity: z.string().min(1).optional(),
  runName: z.string().min(1).optional(),
  clock: functions<() => number>().default(() => () => performance.timeOrigin + performance.now()),
});

/** Clients older than this are told to upgrade. */
const OLDEST_CLIENT = '0.13.0';

/** Numbers of the kinds of record in wandb_internal.proto. */
const KIND = { history: 2, summary: 3, run: 17, exit: 18, header: 21 } as const;

/**
 * Writes files that `wandb sync` of the Weights & Biases client uploads, as its offline runs: the configuration, and
 * each entry's metrics with `envSteps` as their step. Needs no network, no account and no Python.
 *
 * Every start opens a new file in `directory/wandb/offline-run-TIME-ID`. A run that goes on from an earlier step has
 * the id of the latest run in the directory; the client puts files with one id together, in the order of their times.
 *
 * @throws CoplayError for a directory that is no path, or wrong options
 */
export function wandb(directory: string, options: WandbOptions = {}): Log {
  checkDirectory('wandb', directory);
  const { project, entity, runName, clock } = checkOptions('wandb', schema, options);
  const folder = join(directory, 'wandb');
  let file: RunFile | undefined;
  let begun = 0; // milliseconds since 1970

  return {
    start(info) {
      const startedAt = checkStart('wandb', info);
      checkDescription('wandb', info);
      file?.close();
      begun = clock();
      const id = (startedAt > 0 && latestId(folder)) || newId();
      file = new RunFile(newPath(folder, id, begun));
      file.append(KIND.header, bytesField(1, bytesField(1, 'coplay'), bytesField(2, OLDEST_CLIENT)));
      file.append(
        KIND.run,
        bytesField(1, id),
        ...(entity === undefined ? [] : [bytesField(2, entity)]),
        bytesField(3, project),
        bytesField(4, ...configFields(info.config)),
        bytesField(8, runName ?? info.name),
        bytesField(17, varintField(1, Math.floor(begun / 1000)), varintField(2, Math.floor((begun % 1000) * 1e6))),
      );
    },
    write(entry) {
      const open = file ?? notStarted('wandb');
      const { envSteps, metrics } = checkEntry('wandb', entry);
      const [now, seconds] = [clock() / 1000, (clock() - begun) / 1000];
      const items = Object.entries({ ...metrics, _step: envSteps, _timestamp: now, _runtime: seconds }).map(
        ([key, value]) => bytesField(1, bytesField(2, key), bytesField(16, jsonOf(value))),
      );
      open.append(KIND.history, ...items, bytesField(2, varintField(1, envSteps)));
      open.append(KIND.summary, ...items);
    },
    close() {
      file?.append(KIND.exit, varintField(2, Math.max(0, Math.round((clock() - begun) / 1000)))); // exit code 0
      file?.close();
      file = undefined;
    },
  };
}

function configFields(config: RunInfo['config']): Uint8Array[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const json = JSON.stringify(value);
    return json === undefined ? [] : [bytesField(1, bytesField(1, key), bytesField(16, json))];
  });
}

/** Numbers as Python's json writes and reads them, which has words for NaN and infinities. */
function jsonOf(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : String(value);
}

/** LevelDB's log format: pieces of records in blocks; each piece has a header of CRC-32, length and kind. */
const BLOCK = 32_768;
const HEADER = 7;
const PIECE = { whole: 1, first: 2, middle: 3, last: 4 } as const;
/** `:W&B`, a magic number, and version 0. */
const START = Uint8Array.of(0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0);

/** A file of records of one run. */
class RunFile {
  private readonly file: AppendFile;
  private size = START.length;
  private records = 0;

  constructor(path: string) {
    this.file = openAppend(path, 'ax');
    this.file.append(START);
    mkdirSync(join(dirname(path), 'files')); // where the client puts its summary
  }

  /** Appends a record as a whole: one that fails to be written leaves the file as it was. */
  append(kind: number, ...fields: readonly Uint8Array[]): void {
    const record = Buffer.concat([varintField(1, this.records + 1), bytesField(kind, ...fields)]);
    const pieces = inBlocks(record, this.size);
    this.file.append(pieces);
    this.records++;
    this.size += pieces.length;
  }

  close(): void {
    this.file.close();
  }
}

/** The bytes of a record at a place of a file: pieces that end where blocks end. */
function inBlocks(record: Uint8Array, position: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let room = BLOCK - (position % BLOCK);
  for (let start = 0; start < record.length; room = BLOCK) {
    if (room < HEADER) {
      parts.push(new Uint8Array(room)); // too little for a header: zeros until the next block
      continue;
    }
    const end = Math.min(record.length, start + room - HEADER);
    const isLast = end === record.length;
    const kind = start === 0 ? (isLast ? PIECE.whole : PIECE.first) : isLast ? PIECE.last : PIECE.middle;
    const piece = new Uint8Array(HEADER + end - start);
    piece[6] = kind;
    piece.set(record.subarray(start, end), HEADER);
    const view = new DataView(piece.buffer);
    view.setUint32(0, crc32(piece.subarray(6)), true); // of kind and content
    view.setUint16(4, end - start, true);
    parts.push(piece);
    start = end;
  }
  return Buffer.concat(parts);
}

/** Eight digits and letters, as the client draws them. */
function newId(): string {
  return Array.from(randomBytes(8), (byte) => (byte % 36).toString(36)).join('');
}

const NAME = /^offline-run-\d{8}_\d{6}-([0-9a-z]{8})$/;

function latestId(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter((name) => NAME.test(name));
  return NAME.exec(names.sort().at(-1) ?? '')?.[1];
}

/** Where no run is yet: two starts within a second have different names. */
function newPath(folder: string, id: string, milliseconds: number): string {
  const stamp = new Date(milliseconds).toISOString().replaceAll(/[-:]/g, '').replace('T', '_').slice(0, 15);
  const path = join(folder, `offline-run-${stamp}-${id}`, `run-${id}.wandb`);
  return existsSync(path) ? newPath(folder, id, milliseconds + 1000) : path;
}
