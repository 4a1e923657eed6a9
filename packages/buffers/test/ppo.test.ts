import { createPpoBuffer, type PpoBuffer } from '@coplay/buffers';
import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MinibatchOptions } from '../src/minibatches/plan';

/** Rows of which every field holds the row's number. */
function rows(from: number, count: number, isImagined = false): NamedArrays {
  const ids = Array.from({ length: count }, (_, i) => from + i);
  return {
    id: ndarray(Int32Array.from(ids)),
    sequence: ndarray(Float32Array.from(ids.flatMap((id) => [id, id, id, id, id, id])), [count, 3, 2]),
    isImagined: ndarray(new Uint8Array(count).fill(isImagined ? 1 : 0)),
  };
}

function filled(real: number, imagined: number): PpoBuffer {
  const buffer = createPpoBuffer();
  if (real > 0) buffer.push('agent_0', rows(0, real));
  if (imagined > 0) buffer.push('agent_0', rows(1000, imagined, true));
  return buffer;
}

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

function epoch(buffer: PpoBuffer, options: MinibatchOptions, seed = 1): NamedArrays[] {
  return [...buffer.minibatches(createGenerator(seed), options)];
}

/** The numbers of all rows in an epoch, sorted; checks that the fields of each row agree. */
function idsOf(batches: NamedArrays[]): number[] {
  const ids = batches.flatMap(({ id, sequence, isImagined, weights }) => {
    expect(weights.shape).toEqual(id.shape);
    Array.from(id.data).forEach((value, b) => {
      expect([...sequence.data.subarray(b * 6, b * 6 + 6)]).toEqual(new Array(6).fill(value));
      expect(isImagined.data[b]).toBe(value >= 1000 ? 1 : 0);
    });
    return [...id.data];
  });
  return ids.sort((a, b) => a - b);
}

const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
const division = fc.oneof(
  fc.record({ size: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ count: fc.integer({ min: 1, max: 12 }) }),
  fc.constant({}),
);

describe('minibatches', () => {
  it('have every row exactly once, in sizes that differ by at most one (P14)', () => {
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.nat(40),
        division,
        fc.option(fc.double({ min: 0.01, max: 0.99, noNaN: true })),
        (real, imagined, options, ratio) => {
          const batches = epoch(filled(real, imagined), {
            ...options,
            ...(ratio === null ? {} : { realRatio: ratio }),
          });
          expect(idsOf(batches)).toEqual([...range(0, real), ...range(1000, imagined)]);
          const sizes = batches.map(({ id }) => id.shape[0]);
          if (batches.length === 0) return;
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
          const reals = batches.map(({ isImagined }) => isImagined.data.filter((flag) => flag === 0).length);
          expect(Math.max(...reals) - Math.min(...reals)).toBeLessThanOrEqual(1);
          // A single row only where it was asked for or is all there is (P05).
          if (real + imagined > 1 && !('size' in options && options.size === 1))
            expect(Math.min(...sizes)).toBeGreaterThan(1);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('weigh real rows by exactly realRatio in every minibatch, for any numbers', () => {
    const some = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(
        some,
        some,
        division,
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (real, imagined, options, realRatio) => {
          for (const { weights, isImagined } of epoch(filled(real, imagined), { ...options, realRatio })) {
            const total = sum(weights.data);
            const share = sum(Array.from(weights.data).filter((_, b) => isImagined.data[b] === 0)) / total;
            expect(share).toBeCloseTo(realRatio, 6);
            expect(total).toBeCloseTo(weights.data.length, 4);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('mix 6 real and 2 imagined rows half and half: weights 2/3 and 2', () => {
    const [{ weights, isImagined }] = epoch(filled(6, 2), { realRatio: 0.5 });
    // 0.5 x 8 / 6 and 0.5 x 8 / 2
    Array.from(weights.data).forEach(
      (weight, b) => void expect(weight).toBeCloseTo(isImagined.data[b] === 1 ? 2 : 2 / 3, 6),
    );
  });

  it('take one kind alone at the ends of the ratio, and where there is only one', () => {
    expect(idsOf(epoch(filled(5, 7), { realRatio: 1, size: 2 }))).toEqual(range(0, 5));
    expect(idsOf(epoch(filled(5, 7), { realRatio: 0, size: 2 }))).toEqual(range(1000, 7));
    expect(epoch(filled(0, 7), { realRatio: 1 })).toEqual([]);
    for (const [real, imagined] of [
      [4, 0],
      [0, 4],
    ]) {
      const [batch] = epoch(filled(real, imagined), { realRatio: 0.3 });
      expect([...batch['weights'].data]).toEqual([1, 1, 1, 1]);
    }
    expect(epoch(filled(0, 0), {})).toEqual([]);
  });

  it('follow the rule for sizes: at most size, all nearly equal, none of one row', () => {
    const sizesOf = (real: number, options: MinibatchOptions) =>
      epoch(filled(real, 0), options).map(({ id }) => id.shape[0]);
    expect(sizesOf(129, { size: 128 })).toEqual([65, 64]);
    expect(sizesOf(128, { size: 128 })).toEqual([128]);
    expect(sizesOf(10, { count: 4 })).toEqual([3, 3, 2, 2]);
    expect(sizesOf(5, { size: 2 })).toEqual([3, 2]); // not 2, 2, 1
    expect(sizesOf(3, { count: 3 })).toEqual([3]);
    expect(sizesOf(3, { size: 1 })).toEqual([1, 1, 1]);
    expect(sizesOf(1, { size: 8 })).toEqual([1]);
  });

  it('come in an order of the generator: another epoch, another order; the same seed, the same', () => {
    const buffer = filled(30, 0);
    const orderOf = (seed: number) => epoch(buffer, { size: 8 }, seed).flatMap(({ id }) => [...id.data]);
    expect(orderOf(1)).toEqual(orderOf(1));
    expect(orderOf(1)).not.toEqual(orderOf(2));
    const generator = createGenerator(1);
    const [first, second] = [0, 1].map(() => [...buffer.minibatches(generator)].flatMap(({ id }) => [...id.data]));
    expect(first).not.toEqual(second);
  });

  it('of real rows are the same bits whether or not there are imagined ones', () => {
    expect(epoch(filled(9, 5), { realRatio: 1, size: 4 })).toEqual(epoch(filled(9, 0), { realRatio: 1, size: 4 }));
  });

  it('are filled up to one size with copies of weight 0', () => {
    for (const realRatio of [undefined, 0.25]) {
      const batches = epoch(filled(7, 3), { size: 4, padTo: 4, realRatio });
      const shapes = batches.map(({ id, sequence }) => [id.shape, sequence.shape]);
      expect(shapes).toEqual(new Array(3).fill([[4], [4, 3, 2]]));
      const kept = batches.flatMap(({ id, weights }) => Array.from(id.data).filter((_, b) => weights.data[b] > 0));
      expect(kept.sort((a, b) => a - b)).toEqual([...range(0, 7), ...range(1000, 3)]);
      idsOf(batches); // copies are whole rows
    }
    expect(() => epoch(filled(7, 0), { size: 4, padTo: 3 })).toThrow(
      /padTo of at least the 4 rows of a minibatch, got 3/,
    );
  });

  it('multiply the weights that rows bring along, and mix by their sums', () => {
    const buffer = createPpoBuffer();
    // One real sequence with 1 of 2 steps filled, two imagined ones with 2 each: sums 1 and 4.
    const sequences = (count: number, weights: number[], isImagined: number) => ({
      isImagined: ndarray(new Uint8Array(count).fill(isImagined)),
      weights: ndarray(Float32Array.from(weights), [count, 2]),
    });
    buffer.push('agent_0', sequences(1, [1, 0], 0));
    buffer.push('agent_0', sequences(2, [1, 1, 1, 1], 1));
    const [{ weights }] = epoch(buffer, { realRatio: 0.5 });
    expect(weights.shape).toEqual([3, 2]);
    // 0.5 x 5 / 1 and 0.5 x 5 / 4
    expect([...weights.data]).toEqual([2.5, 0, 0.625, 0.625, 0.625, 0.625]);
  });

  it('belong to the caller', () => {
    const buffer = filled(4, 0);
    for (const { id } of buffer.minibatches(createGenerator(1))) id.data.fill(-1);
    expect(idsOf(epoch(buffer, {}))).toEqual(range(0, 4));
  });

  it('refuse contradictory options, by name', () => {
    expect(() => epoch(filled(4, 0), { size: 2, count: 2 })).toThrow(/size or count, got both/);
    expect(() => epoch(filled(4, 0), { size: 0 })).toThrow(/ppoBuffer.minibatches: option size/);
    expect(() => epoch(filled(4, 0), { realRatio: 1.5 })).toThrow(/option realRatio/);
    expect(() => epoch(filled(4, 0), { batchSize: 2 } as never)).toThrow(/unknown option "batchSize"/);
  });
});

describe('the buffer', () => {
  it('counts what was pushed by agent and kind; clear forgets rows alone', () => {
    const buffer = createPpoBuffer({ agents: ['agent_0', 'agent_1'] });
    buffer.push('agent_0', rows(0, 3));
    buffer.push('agent_1', rows(3, 2));
    buffer.push('agent_1', rows(1000, 4, true));
    expect(buffer.rows).toEqual({ real: 5, imagined: 4 });
    buffer.clear();
    expect(buffer.rows).toEqual({ real: 0, imagined: 0 });
    expect(epoch(buffer, {})).toEqual([]);
    buffer.push('agent_0', rows(7, 1));
    expect(idsOf(epoch(buffer, {}))).toEqual([7]);
    expect(buffer.pushed).toEqual({ agent_0: { real: 4, imagined: 0 }, agent_1: { real: 2, imagined: 4 } });
  });

  it('sorts rows of both kinds that are pushed together', () => {
    const buffer = createPpoBuffer();
    const mixed = { ...rows(0, 3), isImagined: ndarray(Uint8Array.of(0, 1, 0)) };
    buffer.push('agent_0', mixed);
    expect(buffer.rows).toEqual({ real: 2, imagined: 1 });
    expect(epoch(buffer, { realRatio: 0 })[0]['id'].data).toEqual(Int32Array.of(1));
  });

  it('copies what it is given', () => {
    const buffer = createPpoBuffer();
    const given = rows(0, 4);
    buffer.push('agent_0', given);
    for (const { data } of Object.values(given)) data.fill(99);
    expect(idsOf(epoch(buffer, {}))).toEqual(range(0, 4));
  });

  it('refuses rows of others, and rows unlike those before, by field', () => {
    const buffer = createPpoBuffer({ agents: ['agent_0'] });
    expect(() => buffer.push('agent_1', rows(0, 1))).toThrow(/expected rows of agent_0, got rows of "agent_1"/);
    buffer.push('agent_0', rows(0, 1));
    const { id, ...rest } = rows(0, 1);
    expect(() => buffer.push('agent_0', rest)).toThrow(/expected id of int32 \[B\], got no field id/);
    expect(() => buffer.push('agent_0', { ...rest, id, extra: id })).toThrow(/expected no field extra/);
    expect(() => buffer.push('agent_0', { id })).toThrow(/a field isImagined of shape \[B\], got none/);
    expect(() => buffer.push('agent_0', { ...rest, id: ndarray(new Int32Array(2)) })).toThrow(/with as many values/);
    expect(() => buffer.push('agent_0', { ...rows(0, 1), weights: ndarray(Float32Array.of(-1)) })).toThrow(
      /at least 0/,
    );
    expect(buffer.rows.real).toBe(1);
  });

  it('goes on from a saved state to the bit, counters included', () => {
    const first = filled(11, 6);
    first.clear();
    first.push('agent_0', rows(20, 9));
    first.push('agent_0', rows(1020, 4, true));
    const second = createPpoBuffer();
    second.restore(structuredClone(first.state()));
    for (const buffer of [first, second]) buffer.push('agent_0', rows(50, 2));
    const options = { size: 4, realRatio: 0.7 };
    expect(epoch(second, options)).toEqual(epoch(first, options));
    expect(second.pushed).toEqual({ agent_0: { real: 22, imagined: 10 } });
    expect(second.state()).toEqual(first.state());
    expect(() => createPpoBuffer({ agents: ['agent_1'] }).restore(first.state())).toThrow(
      /a buffer of agent_1, got agent_0/,
    );
    expect(() => second.restore({})).toThrow(/ppoBuffer.restore/);
  });
});
