import { crc32c } from './checksums';

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
