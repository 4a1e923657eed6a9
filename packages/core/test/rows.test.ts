import { CoplayError, type NamedArrays, ndarray } from '@coplay/core';
import {
  concatRows,
  drawIndex,
  gatherRows,
  mapColumns,
  mean,
  nonZero,
  paddedCount,
  padRows,
  putSeat,
  reshapeRows,
  rowCount,
  seatRows,
  sliceRows,
  takeRows,
} from '@coplay/core/rows';
import { describe, expect, it } from 'vitest';

/** Three rows: a number and a pair in each. */
const rows: NamedArrays = {
  step: ndarray(Int32Array.of(0, 1, 2)),
  pair: ndarray(Float32Array.of(0, 0.5, 10, 10.5, 20, 20.5), [3, 2]),
};

describe('mapColumns', () => {
  it('keeps the names, also one that objects take for something else', () => {
    const columns = JSON.parse('{"a": 1, "__proto__": 2}') as Record<string, number>;
    const mapped = mapColumns(columns, (value, name) => `${name} ${value}`);
    expect(Object.entries(mapped)).toEqual([
      ['a', 'a 1'],
      ['__proto__', '__proto__ 2'],
    ]);
  });
});

describe('rows', () => {
  it('are gathered in the order of the indices, as copies of the same dtype', () => {
    const gathered = gatherRows(rows, [2, 0, 2]);
    expect(gathered).toEqual({
      step: ndarray(Int32Array.of(2, 0, 2)),
      pair: ndarray(Float32Array.of(20, 20.5, 0, 0.5, 20, 20.5), [3, 2]),
    });
    expect(() => gatherRows(rows, [3])).toThrow(CoplayError);
    const named = Object.fromEntries([...Object.entries(rows), ['__proto__', rows['step']]]);
    expect(() => gatherRows(named, [0])).toThrow('gatherRows: expected fields with names of their own, got __proto__');
  });

  it('are sliced as views', () => {
    const sliced = sliceRows(rows, 1, 3);
    expect(sliced).toEqual({
      step: ndarray(Int32Array.of(1, 2)),
      pair: ndarray(Float32Array.of(10, 10.5, 20, 20.5), [2, 2]),
    });
    expect(sliced['pair'].data.buffer).toBe(rows['pair'].data.buffer);
    expect(sliceRows(rows, 1, 1)['pair']).toEqual({ data: new Float32Array(0), shape: [0, 2] });
  });

  it('are not sliced where columns have different lengths: the error names the column', () => {
    const uneven = { ...rows, short: ndarray(Int32Array.of(0, 1)) };
    expect(() => sliceRows(uneven, 0, 1)).toThrow('sliceRows: expected short of shape [B=3, ...], got [2]');
  });

  it('of parts that were sliced off are joined to the same rows', () => {
    const parts = [sliceRows(rows, 0, 1), sliceRows(rows, 1, 1), sliceRows(rows, 1, 3)];
    expect(concatRows(parts)).toEqual(rows);
  });

  it('of different columns are not joined', () => {
    const { step, pair } = rows;
    expect(() => concatRows([rows, { step }])).toThrow(
      'concatRows: expected pair of float32 [B, 2], got no field pair',
    );
    const whole = { step, pair: ndarray(Int32Array.from(pair.data), [3, 2]) };
    expect(() => concatRows([rows, whole])).toThrow('got pair of int32 [B, 2]');
  });

  it('are counted, unless columns disagree', () => {
    expect(rowCount('test', rows)).toBe(3);
    expect(() => rowCount('test', { ...rows, other: ndarray(Int32Array.of(0)) })).toThrow('other of shape [B=3, ...]');
    expect(() => rowCount('test', {})).toThrow('rows with at least one field');
  });

  it('are filled up with zeros, and single numbers stay', () => {
    const rate = ndarray(Float32Array.of(0.1), []);
    expect(padRows({ ...sliceRows(rows, 1, 3), rate }, 4)).toEqual({
      step: ndarray(Int32Array.of(1, 2, 0, 0)),
      pair: ndarray(Float32Array.of(10, 10.5, 20, 20.5, 0, 0, 0, 0), [4, 2]),
      rate,
    });
    expect(padRows(sliceRows(rows, 0, 0), 1)['pair']).toEqual(ndarray(new Float32Array(2), [1, 2]));
    expect([0, 1, 2, 3, 4, 5, 1024, 1025].map(paddedCount)).toEqual([1, 1, 2, 4, 4, 8, 1024, 2048]);
  });

  it('get other first axes', () => {
    const steps = { a: ndarray(new Float32Array(12), [6, 2]) };
    expect(reshapeRows(steps, [3, 2])['a'].shape).toEqual([3, 2, 2]);
    expect(reshapeRows(reshapeRows(steps, [3, 2]), [6], 2)).toEqual(steps);
    expect(() => reshapeRows(steps, [4, 2])).toThrow('axes [4,2] for a of shape [6,2]');
  });
});

describe('one column', () => {
  it('is taken by indices', () => {
    expect(takeRows(Uint8Array.of(1, 2, 3, 4, 5, 6), [2, 0], 2)).toEqual(Uint8Array.of(5, 6, 1, 2));
  });

  it('of all seats gives one, and takes it back', () => {
    // Two rows of three agents, two numbers each.
    const all = Int32Array.of(0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121);
    const own = seatRows(all, 1, 3, [2]);
    expect(own).toEqual(ndarray(Int32Array.of(10, 11, 110, 111), [2, 2]));
    const others = all.slice();
    putSeat(others, 1, 3, [-1, -2, -3, -4], 2);
    expect(others).toEqual(Int32Array.of(0, 1, -1, -2, 20, 21, 100, 101, -3, -4, 120, 121));
    putSeat(others, 1, 3, own.data, 2);
    expect(others).toEqual(all);
  });

  it('of single numbers needs no shape', () => {
    expect(seatRows(Float32Array.of(1, 2, 3, 4), 0, 2)).toEqual(ndarray(Float32Array.of(1, 3)));
    const target = new Float32Array(4);
    putSeat(target, 1, 2, [5, 6]);
    expect(target).toEqual(Float32Array.of(0, 5, 0, 6));
  });

  it('tells where it is not 0', () => {
    expect(nonZero([0, 1, 0, -2, Number.NaN])).toEqual(Int32Array.of(1, 3, 4));
    expect(nonZero([])).toEqual(new Int32Array(0));
  });

  it('has a mean', () => {
    expect(mean(Float32Array.of(1, 2, 6))).toBe(3);
    expect(mean([])).toBeNaN();
  });
});

describe('drawIndex', () => {
  /** A generator of these uniform numbers, which counts how many were drawn. */
  function uniforms(...numbers: readonly number[]) {
    let drawn = 0;
    return {
      uniform: () => numbers[drawn++],
      get drawn() {
        return drawn;
      },
    };
  }

  it('inverts the cumulative sum of the weights', () => {
    // The weights sum to 8. Of 8 equally spaced uniform numbers, 1 falls on the weight 1, 3 on 3 and 4 on 4.
    const counts = [0, 0, 0, 0];
    for (let k = 0; k < 8; k++) counts[drawIndex([1, 0, 3, 4], uniforms(k / 8))]++;
    expect(counts).toEqual([1, 0, 3, 4]);
  });

  it('draws one number, and counts from the offset', () => {
    const generator = uniforms(0.5);
    // Weights 1, 2, 1 from place 2 on: half of 4 lies in the second.
    expect(drawIndex(Float32Array.of(9, 9, 1, 2, 1, 9), generator, 2, 3)).toBe(1);
    expect(generator.drawn).toBe(1);
  });

  it('never draws an index whose weight is not above 0', () => {
    for (let k = 0; k < 8; k++) expect(drawIndex([-1, 2, Number.NaN, 2, 0], uniforms(k / 8))).toBe(k < 4 ? 1 : 3);
  });

  it('draws the last possible index where rounding leaves something', () => {
    // 1 - 2^-53 times the sum is rounded up to the sum.
    expect(drawIndex([0.1, 0.2, 0], uniforms(1 - 2 ** -53))).toBe(1);
  });

  it('draws nothing of no weight, and leaves the generator as it is', () => {
    const generator = uniforms(0.5);
    expect([drawIndex([0, 0], generator), drawIndex([], generator), generator.drawn]).toEqual([-1, -1, 0]);
  });
});
