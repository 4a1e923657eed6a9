import { describe, expect, it } from 'vitest';
import { crc32, crc32c } from './checksums';
import { tfRecord } from './tfrecord';

describe('crc32c', () => {
  it('has the values that RFC 3720, appendix B.4 gives', () => {
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(255))).toBe(0x62a8ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i))).toBe(0x113fdb5c);
  });

  it('is 0 for nothing', () => {
    expect(crc32c(new Uint8Array(0))).toBe(0);
  });
});

describe('crc32', () => {
  it('has the check value of the catalogue of CRC algorithms', () => {
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
  });
});

describe('tfRecord', () => {
  it('is 16 bytes longer than its content, and frames it', () => {
    const record = tfRecord(Uint8Array.of(7, 8, 9));
    expect(record.length).toBe(19);
    expect([...record.subarray(0, 8)]).toEqual([3, 0, 0, 0, 0, 0, 0, 0]);
    expect([...record.subarray(12, 15)]).toEqual([7, 8, 9]);
  });
});
