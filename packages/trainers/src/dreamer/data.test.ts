import { type NamedArrays, ndarray } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { batchInputs } from './data';

/**
 * Two windows of four records: in the first an episode ends properly after the second record, in the second one is
 * broken off there.
 */
function sample() {
  const flags = (...values: number[]) => ndarray(Uint8Array.from(values), [2, 4]);
  const rows: NamedArrays = {
    isFirst: flags(0, 0, 1, 0, 0, 0, 1, 0),
    isLast: flags(0, 1, 0, 0, 0, 0, 0, 0),
    rewards: ndarray(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), [2, 4]),
    startDeter: ndarray(
      Float32Array.from({ length: 16 }, (_, i) => i),
      [2, 4, 2],
    ),
    startStoch: ndarray(Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7), [2, 4, 1]),
  };
  return { rows, streams: Int32Array.of(0, 1), steps: Float64Array.of(0, 0), fresh: 0 };
}

describe('a sample as inputs of an update', () => {
  it('begins each sequence in the state of its first record', () => {
    const inputs = batchInputs(sample(), true);
    expect([...inputs['startDeter'].data]).toEqual([0, 1, 8, 9]);
    expect(inputs['startStoch'].data).toEqual(Int32Array.of(0, 4));
    expect([...inputs['isFirst'].data]).toEqual([0, 0, 1, 0, 0, 0, 1, 0]);
  });

  it('begins each sequence as an episode does where no states are kept', () => {
    const given = sample();
    const { startDeter: _, startStoch: __, ...rows } = given.rows;
    const inputs = batchInputs({ ...given, rows }, false);
    expect([...inputs['isFirst'].data]).toEqual([1, 0, 1, 0, 1, 0, 1, 0]);
    expect(inputs['startDeter']).toBeUndefined();
    expect([...inputs['rewards'].data]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('takes the record before a first one for the last of its episode, broken off or not', () => {
    expect([...batchInputs(sample(), true)['isLast'].data]).toEqual([0, 1, 0, 0, 0, 1, 0, 0]);
  });
});
