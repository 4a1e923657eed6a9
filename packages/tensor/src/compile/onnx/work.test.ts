import { describe, expect, it } from 'vitest';
import type { Attributes, Node, Value } from '../../graph';
import { fixedThreads, isWorthThreads, workOf } from './work';

const value = (...shape: number[]): Value => ({ shape, dtype: 'float32' });
const node = (op: string, inputs: Value[], output: Value, attributes: Attributes = {}): Node => ({
  op,
  inputs,
  outputs: [output],
  attributes,
});

describe('workOf', () => {
  it.each<[string, Node, number]>([
    [
      '[4, 3] x [3, 5]: 3 products and sums for each of 20',
      node('MatMul', [value(4, 3), value(3, 5)], value(4, 5)),
      120,
    ],
    [
      'the same, the first operand transposed',
      node('Gemm', [value(3, 4), value(3, 5)], value(4, 5), { transA: 1 }),
      120,
    ],
    ['two of them in a batch', node('MatMul', [value(2, 4, 3), value(2, 3, 5)], value(2, 4, 5)), 240],
    // 2 x 8 x 6 x 6 numbers, each of 7 x 3 x 3 products.
    ['a convolution', node('Conv', [value(2, 7, 8, 8), value(8, 7, 3, 3)], value(2, 8, 6, 6)), 2 * 576 * 63],
    // Each of 2 x 8 x 6 x 6 numbers that enter is spread over 7 x 3 x 3.
    ['its transpose', node('ConvTranspose', [value(2, 8, 6, 6), value(8, 7, 3, 3)], value(2, 7, 8, 8)), 2 * 576 * 63],
    ['a sum, by the numbers that enter', node('ReduceSum', [value(10, 10)], value()), 800],
  ])('counts %s', (_, given, operations) => {
    expect(workOf(given)).toBe(operations);
  });
});

describe('isWorthThreads', () => {
  const product = (rows: number) => node('MatMul', [value(rows, 128), value(128, 128)], value(rows, 128));

  it('tells few large products from many small ones of the same work', () => {
    // 256 rows: 2 x 256 x 128 x 128 = 2^23; 8 rows: 2^18 each, too little to be split.
    expect(isWorthThreads({ inputs: [], outputs: [], nodes: [product(256)] })).toBe(true);
    expect(isWorthThreads({ inputs: [], outputs: [], nodes: Array.from({ length: 32 }, () => product(8)) })).toBe(
      false,
    );
  });
});

describe('fixedThreads', () => {
  /** 2 x rows x 128 x 128 = rows x 2^15 operations. */
  const product = (rows: number) => node('MatMul', [value(rows, 128), value(128, 128)], value(rows, 128));
  const graph = (...nodes: Node[]) => ({ inputs: [], outputs: [], nodes });

  it.each([
    [
      'one for 2^22 operations in a node, however many nodes',
      graph(...Array.from({ length: 8 }, () => product(128))),
      1,
    ],
    ['two for 2^23', graph(product(256)), 2],
    ['all cores for more', graph(product(1024)), 4],
    // (2^25 2^25 + 16 2^20 2^20) / (2^25 + 16 2^20) = (2^50 + 2^44) / (3 2^24) = 22.7 million: 5 x 2^22
    ['by the mean over the work', graph(product(1024), ...Array.from({ length: 16 }, () => product(32))), 5],
    ['one where little work is in large nodes', graph(product(8), product(8)), 1],
  ])('gives %s', (title, given, threads) => {
    expect(fixedThreads(given, title.startsWith('by') ? 64 : 4)).toBe(threads);
  });

  it('looks into loops', () => {
    const loop = { ...node('Scan', [value(3)], value(3)), body: graph(product(512)) };
    expect(fixedThreads(graph(loop), 64)).toBe(4);
  });
});
