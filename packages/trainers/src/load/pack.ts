/*
 * A file of agents has what they need to play: parameters, normalisers, models of others and memories, without
 * optimisers and experience. It is a safetensors file; its texts say how the agents are made. The text `sha256` is of
 * the texts `config`, `state` and `halves`, followed by the bytes of all arrays in the order of their names.
 */
import {
  type ActionSpaces,
  type AnyGame,
  checkGame,
  checkOptions,
  fail,
  type NamedArrays,
  type NDArray,
  type Saved,
  type SavedState,
  show,
} from '@coplay/core';
import { checkArgument, checkText, isPlainRecord, parseJson, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { decodeSafetensors } from '../checkpoint/decode-safetensors';
import { flattenState, type Json, unflattenState } from '../checkpoint/flatten';
import { encodeSafetensors } from '../checkpoint/safetensors';
import { LIBRARY_VERSION } from '../checkpoint/version';
import { fromHalves, toHalves } from './half';
import { checkpointOf, configOf, configSchema, gameOf, type LoadedRun, type RunConfig, SeatFiller } from './load-run';

const FORMAT = 'coplay-agents';
const VERSION = 1;
const WHERE = 'unpackAgents';

/** Parts of learners' states that only training needs, in addition to the slots of optimisers. */
const TRAINING: ReadonlySet<string> = new Set([
  ...['buffer', 'collector', 'replay', 'store', 'outcomes', 'streams', 'fresh', 'last', 'standings'],
]);

const isOfTraining = (name: string) => TRAINING.has(name) || /slots$/i.test(name);

/** Options of {@link packAgents}. */
export interface PackOptions {
  /** The step of the checkpoint, or `best` of a run with `keepBest`. Default: the newest good one */
  readonly step?: number | 'best';
  /**
   * Bits of each parameter, 16 or 32. With 16 the file is half as large, and actions hardly differ. Statistics of
   * normalised inputs, and arrays with numbers above 65504, always have 32. Default 16
   */
  readonly bits?: 16 | 32;
}

const packSchema = z.strictObject({
  step: z.union([z.int().min(0), z.literal('best')]).optional(),
  bits: z.union([z.literal(16), z.literal(32)]).default(16),
});

/**
 * The trained agents of a run as one small file, which {@link unpackAgents} reads anywhere, also in a page.
 *
 * @param directory  of the run, with its `config.json`
 * @returns the bytes of a safetensors file
 * @throws CoplayError for a directory without a run, or a damaged checkpoint
 */
export async function packAgents(directory: string, options: PackOptions = {}): Promise<Uint8Array> {
  checkText('packAgents', 'directory', directory);
  const { step, bits } = checkOptions('packAgents', packSchema, options);
  const config = await configOf(directory);
  const { saved } = await checkpointOf(directory, config, { step, warn: (line) => console.warn(line) });
  const { learners = {}, memories = {} } = saved as Readonly<Record<string, SavedState>>;
  const { arrays, json } = flattenState({ learners: withoutTraining(learners), memories });
  const halves = bits === 16 ? Object.keys(arrays).filter((name) => fitsHalves(name, arrays[name])) : [];
  const written = { ...arrays };
  for (const name of halves) {
    const { data, shape } = arrays[name];
    written[name] = { data: toHalves(data as Float32Array), shape };
  }
  const { game, agents, learners: described, agentOptions, partners } = config;
  const parts = { game, agents, learners: described, agentOptions, ...(partners !== undefined && { partners }) };
  const texts = { format: FORMAT, version: String(VERSION), library: LIBRARY_VERSION };
  const trees = { config: JSON.stringify(parts), state: JSON.stringify(json), halves: JSON.stringify(halves) };
  const sum = await checksumOf(trees, written);
  if (sum === undefined) fail('packAgents', 'SHA-256 in globalThis.crypto', 'none', 'Pack in Node 20 or newer.');
  return joined(encodeSafetensors(written, { ...texts, ...trees, sha256: sum }));
}

/** The largest number of 16 bits. */
const LARGEST_HALF = 65504;

/**
 * Whether an array keeps what it says with 16 bits. Statistics of normalised inputs (`normal/…`) don't: where a mean is
 * large compared with the deviation, its rounding is large too.
 */
function fitsHalves(name: string, { data }: NDArray): boolean {
  if (!(data instanceof Float32Array) || name.includes('/normal%2F')) return false;
  return data.every((value) => Math.abs(value) <= LARGEST_HALF);
}

/** In hexadecimal; undefined in a page that isn't served by HTTPS or from this machine: it has no SHA-256. */
async function checksumOf(texts: Readonly<Record<string, string>>, arrays: NamedArrays): Promise<string | undefined> {
  const { config, state, halves } = texts;
  const names = Object.keys(arrays).sort();
  const pieces = names.map((name) => {
    const { buffer, byteOffset, byteLength } = arrays[name].data;
    return new Uint8Array(buffer, byteOffset, byteLength);
  });
  const all = joined([new TextEncoder().encode(`${config}${state}${halves}`), ...pieces]);
  const digest = await globalThis.crypto?.subtle?.digest('SHA-256', all);
  if (digest === undefined) return undefined;
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) {
    bytes.set(piece, end);
    end += piece.length;
  }
  return bytes;
}

/** Options of {@link unpackAgents}. */
export interface UnpackOptions<Spaces extends ActionSpaces = number> {
  /** The game of the agents, such as `remakeGame` makes of its description: it must be the one of the file. */
  readonly game: LoadedRun<Spaces>['game'];
}

const unpackSchema = z.strictObject({ game: z.custom<AnyGame>() });

/** Agents of a file. */
export type UnpackedAgents<Spaces extends ActionSpaces = number> = Omit<LoadedRun<Spaces>, 'checkpoint'>;

/**
 * The agents of a file of {@link packAgents}, ready to play: `unpackAgents(bytes, { game })`. Agents with parts of
 * your own can't be unpacked: load their run with `loadRun`.
 *
 * @param bytes  the whole file
 * @throws CoplayError for another file, a damaged one, one of another version, and another game
 */
export async function unpackAgents<Spaces extends ActionSpaces = number>(
  bytes: Uint8Array,
  options: UnpackOptions<Spaces>,
): Promise<UnpackedAgents<Spaces>> {
  checkArgument(WHERE, 'bytes', typedArrays('uint8'), bytes);
  const { game: given } = checkOptions(WHERE, unpackSchema, options);
  checkGame(`${WHERE}: option game`, given, 'any');
  const { arrays, metadata } = decodeSafetensors(bytes);
  checkForm(metadata);
  await checkSum(metadata, arrays);
  const config = checkOptions(`${WHERE}: config`, configSchema, textOf(metadata, 'config')) as RunConfig;
  const halves = new Set(textOf(metadata, 'halves') as readonly string[]);
  const numbers = Object.entries(arrays).map(([name, { data, shape }]) => {
    return [name, { data: halves.has(name) ? fromHalves(data as Uint16Array) : data, shape }] as const;
  });
  const json = textOf(metadata, 'state') as Json;
  const saved = unflattenState({ arrays: Object.fromEntries(numbers), json });
  const game = await gameOf(WHERE, config, { game: given }, undefined);
  const loading = { agents: {}, parts: {}, learn: false };
  const fill = new SeatFiller({ where: WHERE, config, loading, code: undefined, game, saved, complete: completed });
  const unpacked: UnpackedAgents<ActionSpaces> = { game, agents: await fill.seats(), dispose: () => fill.dispose() };
  return unpacked as unknown as UnpackedAgents<Spaces>;
}

function checkForm(metadata: Readonly<Record<string, string>>): void {
  const { format, version, library } = metadata;
  if (format !== FORMAT) refuse(`a safetensors file of something else (format ${show(format)})`);
  if (Number(version) === VERSION) return;
  const got = `version ${show(version)}, written by @coplay/trainers ${show(library)}`;
  const remedy = `This is @coplay/trainers ${LIBRARY_VERSION}: update it, or pack the agents again with this one.`;
  fail(WHERE, `a file of agents of version ${VERSION}`, got, remedy);
}

async function checkSum(metadata: Readonly<Record<string, string>>, arrays: NamedArrays): Promise<void> {
  for (const name of ['config', 'state', 'halves', 'sha256']) {
    if (metadata[name] === undefined) refuse(`no text ${name}`);
  }
  const sum = await checksumOf(metadata, arrays);
  if (sum !== undefined && sum !== metadata['sha256']) refuse('a damaged file: its checksum differs');
}

function textOf(metadata: Readonly<Record<string, string>>, name: string): unknown {
  return parseJson(WHERE, metadata[name]);
}

function refuse(got: string): never {
  return fail(WHERE, 'a file of packAgents', got, 'Pack the agents again: packAgents(directory).');
}

/** A state without the parts that only training needs. */
function withoutTraining(state: SavedState): SavedState {
  const entries = Object.entries(state).filter(([name]) => !isOfTraining(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, pruned(value)]));
}

function pruned(value: Saved): Saved {
  if (Array.isArray(value)) return value.map(pruned);
  return isRecord(value) ? withoutTraining(value) : value;
}

/** A state with the parts that only training needs, as they are in a new learner. Other parts must be there. */
function completed(kept: SavedState, fresh: SavedState): SavedState {
  const absent = Object.entries(fresh).filter(([name]) => isOfTraining(name) && !Object.hasOwn(kept, name));
  const own = Object.entries(kept).map(([name, value]) => [name, filled(value, fresh[name])] as const);
  return Object.fromEntries([...absent, ...own]);
}

function filled(kept: Saved, fresh: Saved | undefined): Saved {
  if (Array.isArray(kept) && Array.isArray(fresh)) return kept.map((value, i) => filled(value, fresh[i]));
  return isRecord(kept) && isRecord(fresh) ? completed(kept, fresh) : kept;
}

/** Whether it's a record with parts, and no array with a shape. */
function isRecord(value: unknown): value is SavedState {
  return isPlainRecord(value) && !ArrayBuffer.isView(value['data']);
}
