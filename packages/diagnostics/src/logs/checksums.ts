const CRC32 = table(0xedb88320);
const CRC32C = table(0x82f63b78);

/** The CRC-32 checksum of some bytes, as zip files have it, in [0, 2^32). */
export function crc32(bytes: Uint8Array): number {
  return checksum(CRC32, bytes);
}

/** The CRC-32C (Castagnoli) checksum of some bytes, in [0, 2^32). */
export function crc32c(bytes: Uint8Array): number {
  return checksum(CRC32C, bytes);
}

function checksum(remainders: Uint32Array, bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ remainders[(crc ^ byte) & 0xff];
  return ~crc >>> 0;
}

/** The remainder of each byte by a polynomial, both with their bits reversed. */
function table(polynomial: number): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    return crc;
  });
}
