import { inflateSync } from 'fflate';
import { crc32 } from './crc32';
import { checkSize, damaged } from './npy';

/*
 * fflate inflates; its reader of zip files (unzipSync, 0.8.3) can't be used: it needs the whole file in memory, where
 * arrays are read one by one here, and compares no checksum: of a stored file with one bit flipped it gives the changed
 * bytes without an error. Listings that overlap, or lie about their sizes, are refused here before anything is
 * unpacked.
 */

/** Bytes that can be read anywhere: a file, or memory. */
export interface ByteSource {
  readonly size: number;
  /** Exactly `length` bytes from `offset` on; both lie within the size. */
  read(offset: number, length: number): Uint8Array;
}

/** A file in a zip. */
export interface ZipFile {
  readonly name: string;
  /** Reads and checks the contents. */
  contents(): Uint8Array;
}

interface Listing {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

const LARGEST32 = 0xffffffff;
const END_SIZE = 22;
const LOCATOR_SIZE = 20;

/** Bytes that deflate can make of one: more than this, and the listing lies. */
const MOST_INFLATED = 1032;

/**
 * The files of a zip, stored or deflated, zip64 or not. Files may not overlap: so all together unpack to no more than
 * the source's size allows.
 *
 * @param where  a name of the source, for messages
 * @throws CoplayError naming the source and the fault
 */
export function readZip(source: ByteSource, where: string): ZipFile[] {
  const { count, start, size } = findDirectory(source, where);
  const directory = viewOf(source, start, size, where);
  const listings: Listing[] = [];
  let at = 0;
  while (listings.length < count) {
    const next = nextListing(directory, at);
    if (next > size) damaged(where, `a directory of ${count} files`, `${listings.length} of them and something else`);
    listings.push(readListing(directory, at));
    at = next;
  }
  refuseOverlap(listings, start, where);
  return listings.map((listing) => ({ name: listing.name, contents: () => readContents(source, listing, where) }));
}

/** Refuses files that share bytes, or are said to unpack to more than they can. Each has a head of 30 bytes or more. */
function refuseOverlap(listings: readonly Listing[], end: number, where: string): void {
  const sorted = [...listings].sort((a, b) => a.offset - b.offset);
  for (const [i, { name, offset, packed, size, method }] of sorted.entries()) {
    const next = sorted[i + 1]?.offset ?? end;
    if (offset + 30 + packed > next)
      damaged(where, 'files that lie one after the other', `${name}, which overlaps another`);
    const most = method === 0 ? packed : packed * MOST_INFLATED;
    if (size > most) damaged(where, `at most ${most} bytes in ${name}`, `${size}`);
  }
}

/** Where the listing after the one at `at` begins; Infinity where there is none. */
function nextListing(directory: DataView, at: number): number {
  if (at + 46 > directory.byteLength || directory.getUint32(at, true) !== 0x02014b50) return Infinity;
  const lengths = [28, 30, 32].map((field) => directory.getUint16(at + field, true)); // name, extra fields, comment
  return at + 46 + lengths[0] + lengths[1] + lengths[2];
}

function findDirectory(source: ByteSource, where: string) {
  // The end record is followed by a comment of at most 65,535 bytes, usually none.
  const tailSize = Math.min(source.size, END_SIZE + 0xffff + LOCATOR_SIZE);
  const tail = viewOf(source, source.size - tailSize, tailSize, where);
  let end = tailSize - END_SIZE;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) damaged(where, 'a zip file, whole to its end', `${source.size} bytes without the end record`);
  const small = {
    count: tail.getUint16(end + 10, true),
    size: tail.getUint32(end + 12, true),
    start: tail.getUint32(end + 16, true),
  };
  const isSmall = small.count !== 0xffff && small.size !== LARGEST32 && small.start !== LARGEST32;
  const locator = end - LOCATOR_SIZE;
  if (isSmall || locator < 0 || tail.getUint32(locator, true) !== 0x07064b50) return small;
  const record = viewOf(source, u64(tail, locator + 8), 56, where);
  if (record.getUint32(0, true) !== 0x06064b50) damaged(where, 'a zip64 end record', 'something else');
  return { count: u64(record, 32), size: u64(record, 40), start: u64(record, 48) };
}

function readListing(view: DataView, at: number): Listing {
  const nameLength = view.getUint16(at + 28, true);
  const nameBytes = new Uint8Array(view.buffer, view.byteOffset + at + 46, nameLength);
  const large = zip64Values(view, at + 46 + nameLength, view.getUint16(at + 30, true));
  // The 64 bit values stand in this order, each only where its 32 bit field is full.
  const wide = (value: number) => (value === LARGEST32 ? (large.shift() ?? value) : value);
  const size = wide(view.getUint32(at + 24, true));
  const packed = wide(view.getUint32(at + 20, true));
  const offset = wide(view.getUint32(at + 42, true));
  const name = new TextDecoder().decode(nameBytes);
  return { name, method: view.getUint16(at + 10, true), crc: view.getUint32(at + 16, true), packed, size, offset };
}

function zip64Values(view: DataView, start: number, length: number): number[] {
  const values: number[] = [];
  for (let at = start; at + 4 <= start + length; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    const end = Math.min(start + length, at + 4 + view.getUint16(at + 2, true));
    for (let i = at + 4; i + 8 <= end; i += 8) values.push(u64(view, i));
  }
  return values;
}

function readContents(
  source: ByteSource,
  { name, method, crc, packed, size, offset }: Listing,
  where: string,
): Uint8Array {
  checkSize(`${where}: ${name}`, Math.max(packed, size));
  const local = viewOf(source, offset, 30, where);
  if (local.getUint32(0, true) !== 0x04034b50) damaged(where, `the file ${name}`, 'something else');
  const start = offset + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  const bytes = bytesOf(source, start, packed, where);
  const contents = method === 0 ? bytes : inflate(bytes, size, method, `${where}: ${name}`);
  if (contents.length !== size) damaged(where, `${size} bytes in ${name}`, `${contents.length}`);
  if (crc32([contents]) !== crc) damaged(where, `${name} with the checksum it was written with`, 'another checksum');
  return contents;
}

function inflate(bytes: Uint8Array, size: number, method: number, where: string): Uint8Array {
  if (method !== 8) damaged(where, 'stored or deflated data', `compression method ${method}`);
  try {
    return inflateSync(bytes, { out: new Uint8Array(size) });
  } catch (error) {
    return damaged(where, 'deflated data', (error as Error).message);
  }
}

function viewOf(source: ByteSource, offset: number, length: number, where: string): DataView {
  const bytes = bytesOf(source, offset, length, where);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function bytesOf(source: ByteSource, offset: number, length: number, where: string): Uint8Array {
  if (offset + length > source.size) damaged(where, `${offset + length} bytes`, `${source.size}`);
  return source.read(offset, length);
}

function u64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}
