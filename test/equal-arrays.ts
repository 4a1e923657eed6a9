import { expect } from 'vitest';

// Arrays of equal bytes are equal. vitest compares the elements one by one, which takes a second for large networks. It
// still does so for other arrays, and shows where they differ. The file setup.ts runs for each test file, this one only
// once in a process.

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => Buffer.from(buffer, byteOffset, byteLength);

expect.addEqualityTesters([
  (a: unknown, b: unknown) =>
    ArrayBuffer.isView(a) && ArrayBuffer.isView(b) && a.constructor === b.constructor && bytesOf(a).equals(bytesOf(b))
      ? true
      : undefined,
]);
