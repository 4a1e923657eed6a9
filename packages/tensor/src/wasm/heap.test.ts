import { expect, it } from 'vitest';
import { Heap } from './heap';

it('keeps the shared area for graphs that use it where a larger one has no room', () => {
  const heap = new Heap();
  heap.share(4096);
  const before = heap.scratch;
  expect(() => heap.share(5e9)).toThrow(RangeError);
  expect(heap.scratch).toBe(before);
  const block = heap.allocate(1024);
  expect(block >= before + 4096 || block + 1024 <= before).toBe(true);
  heap.share(8192);
  heap.free(block);
  expect(heap.allocate(64)).not.toBe(heap.scratch);
});
