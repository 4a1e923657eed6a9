import type { TypedArray } from '@coplay/core';
import { dtypeOf } from '@coplay/core/arrays';
import { compile, tf, useBackend, variables } from '@coplay/tensor';
import { encodeSafetensors, flattenState } from '@coplay/trainers/checkpoint';
import { beforeAll, describe, expect, it } from 'vitest';
import { READABLE, REFUSED } from '../../buffers/test/odd-arrays';

beforeAll(() => useBackend('wasm'));

/** What the format's page calls the dtypes of the table: https://huggingface.co/docs/safetensors. */
const NAMES: Readonly<Record<string, string>> = {
  uint8: 'U8',
  int16: 'I16',
  int32: 'I32',
  float32: 'F32',
  float64: 'F64',
};

/** The only array of a safetensors file, read by nothing of ours: 8 bytes of length, JSON, data. */
function readSafetensors(file: Buffer): { dtype: string; shape: number[]; data: Buffer } {
  const start = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, start).toString()) as Record<string, { data_offsets: [number, number] }>;
  const { data_offsets, ...rest } = header['x'];
  return { ...(rest as unknown as { dtype: string; shape: number[] }), data: file.subarray(start + data_offsets[0]) };
}

describe.each(READABLE)('%s', (_, make, dtype, values) => {
  it('is written into a safetensors file as what it is', () => {
    const file = Buffer.concat(encodeSafetensors({ x: { data: make(), shape: [2] } }));
    const twin = Buffer.from(Uint8Array.from(new Uint8Array(make().buffer, make().byteOffset, make().byteLength)));
    expect(readSafetensors(file)).toEqual({ dtype: NAMES[dtype], shape: [2], data: twin });
  });

  it.each(['eager', 'onnx'] as const)('is an input and a variable of a compiled function, %s', async (executor) => {
    const expected = values.map((value) => 2 * Math.fround(value));
    const array = { data: make(), shape: [2] };
    const double = compile((_, inputs) => ({ outputs: { y: tf.add(inputs['x'], inputs['x']) } }), {
      name: 'double',
      state: {},
      executor,
    });
    const { y } = await double({ x: array }, {});
    expect(Array.from(y.data)).toEqual(expected);
    expect(dtypeOf(y.data)).toBe(dtype === 'int32' ? 'int32' : 'float32');
    double.dispose();
    const held = variables({ w: array });
    expect(Array.from((await held.read())['w'].data)).toEqual(values.map(Math.fround));
    const { w } = held.tensors();
    expect([w.dtype, ...w.dataSync()]).toEqual([dtype === 'int32' ? 'int32' : 'float32', ...values.map(Math.fround)]);
    held.dispose();
  });
});

describe.each(REFUSED)('%s', (what, make, shown) => {
  it('is refused by name wherever arrays are saved or computed with', () => {
    const array = { data: make() as TypedArray, shape: [2] };
    expect(() => encodeSafetensors({ x: array })).toThrow(`got ${shown}`);
    if (what !== 'a plain list') {
      expect(() => flattenState({ x: array.data })).toThrow(`got ${shown}`);
      expect(() => variables({ x: array })).toThrow(`got ${shown}`);
    }
  });
});

it('what would change with its source is refused as a state to save', () => {
  expect(() => flattenState({ x: Buffer.from([1]) })).toThrow(/flattenState: .*x .*got Buffer\(1\)/);
});
