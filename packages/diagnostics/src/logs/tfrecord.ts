/** CRC-32C (Castagnoli), by bytes, polynomial 0x82f63b78 reflected. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** The CRC-32C checksum of some bytes, in [0, 2^32). */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff];
  return ~crc >>> 0;
}

/** TensorFlow masks checksums, so that the checksum of data that holds checksums stays a good one. */
function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/**
 * One record of a TFRecord file: the length (8 bytes, little-endian), its masked CRC (4), the bytes, their masked CRC
 * (4).
 */
export function tfRecord(bytes: Uint8Array): Uint8Array {
  const record = new Uint8Array(bytes.length + 16);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(bytes.length), true);
  view.setUint32(8, maskedCrc(record.subarray(0, 8)), true);
  record.set(bytes, 12);
  view.setUint32(12 + bytes.length, maskedCrc(bytes), true);
  return record;
}
