import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One scalar of an event file. */
export interface Scalar {
  readonly step: number;
  readonly wallTime: number;
  readonly tag: string;
  readonly value: number;
}

/** What one event file holds. */
export interface EventFile {
  readonly name: string;
  readonly version: string | undefined;
  /** Steps of the session starts. */
  readonly starts: readonly number[];
  readonly scalars: readonly Scalar[];
  /** Bytes behind the last whole record. */
  readonly torn: number;
}

/** CRC-32C bit by bit, as the definition says: written apart from the library's table. */
export function slowCrc32c(bytes: Uint8Array): number {
  let remainder = 0xffffffffn;
  for (const byte of bytes) {
    remainder ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) remainder = remainder & 1n ? (remainder >> 1n) ^ 0x82f63b78n : remainder >> 1n;
  }
  return Number(remainder ^ 0xffffffffn);
}

function masked(bytes: Uint8Array): number {
  const crc = BigInt(slowCrc32c(bytes));
  const rotated = ((crc >> 15n) | (crc << 17n)) & 0xffffffffn;
  return Number((rotated + 0xa282ead8n) & 0xffffffffn);
}

/** All event files of a directory in the order in which TensorBoard reads them. */
export function readEventFiles(directory: string): EventFile[] {
  const names = readdirSync(directory).filter((name) => name.includes('tfevents'));
  return names.sort().map((name) => ({ name, ...readEvents(readFileSync(join(directory, name))) }));
}

/** Whole records only; a record whose checksum is wrong is an error, not a torn one. */
function readEvents(bytes: Buffer): Omit<EventFile, 'name'> {
  const events: Fields[] = [];
  let at = 0;
  while (at + 12 <= bytes.length) {
    const length = Number(bytes.readBigUInt64LE(at));
    if (bytes.readUInt32LE(at + 8) !== masked(bytes.subarray(at, at + 8))) throw new Error(`length checksum at ${at}`);
    if (at + 16 + length > bytes.length) break;
    const content = bytes.subarray(at + 12, at + 12 + length);
    if (bytes.readUInt32LE(at + 12 + length) !== masked(content)) throw new Error(`data checksum at ${at}`);
    events.push(readMessage(content));
    at += 16 + length;
  }
  return { ...understand(events), torn: bytes.length - at };
}

function understand(events: readonly Fields[]): Pick<EventFile, 'version' | 'starts' | 'scalars'> {
  const scalars: Scalar[] = [];
  const starts: number[] = [];
  let version: string | undefined;
  for (const event of events) {
    const step = Number(event.get(2)?.[0] ?? 0n);
    const wallTime = (event.get(1)![0] as Buffer).readDoubleLE();
    const named = event.get(3)?.[0] as Buffer | undefined;
    if (named) version = named.toString();
    const session = event.get(7)?.[0] as Buffer | undefined;
    if (session && readMessage(session).get(1)?.[0] === 1n) starts.push(step);
    const summary = event.get(5)?.[0] as Buffer | undefined;
    for (const value of summary ? (readMessage(summary).get(1) ?? []) : []) {
      const fields = readMessage(value as Buffer);
      const tag = (fields.get(1)![0] as Buffer).toString();
      scalars.push({ step, wallTime, tag, value: (fields.get(2)![0] as Buffer).readFloatLE() });
    }
  }
  return { version, starts, scalars };
}

/** Values of a protocol buffer's message by field number: integers, or the bytes of anything else. */
type Fields = Map<number, (bigint | Buffer)[]>;

function readMessage(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const wire = key & 7;
    const value = wire === 0 ? varint() : wire === 1 ? take(8) : wire === 5 ? take(4) : take(Number(varint()));
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value]);
  }
  return fields;
}
