import { type BackendName, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { elementwiseCases } from './elementwise-cases';
import type { Dtype, WasmCase } from './inputs';
import { movementCases } from './movement-cases';
import { networkCases } from './network-cases';
import { reductionCases } from './reduction-cases';

interface Result {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly values: readonly number[];
}

/** Memory that kernels find unwritten holds this. */
const POISON = 777.5;

function poison(): void {
  const made = [1, 4, 16, 64].flatMap((size) => [tf.fill([size], POISON), tf.fill([size], POISON)]);
  tf.dispose(made);
}

/** Data that the backends hold. */
function held(): number {
  return ['cpu', 'wasm'].reduce((sum, name) => sum + tf.engine().findBackend(name).numDataIds(), 0);
}

function compute({ f, inputs }: WasmCase): Result[] {
  return tf.tidy(() => {
    const y = f(...inputs.map(({ data, shape, dtype }) => tf.tensor(data.slice(), [...shape], dtype)));
    return [y].flat().map((each) => ({ shape: each.shape, dtype: each.dtype, values: [...each.dataSync()] }));
  });
}

/** What a backend makes of a case, or the error that it throws. */
function attempt(backend: BackendName, example: WasmCase): Result[] | Error {
  tf.setBackend(backend);
  if (backend === 'wasm') poison();
  try {
    return compute(example);
  } catch (error) {
    return error as Error;
  }
}

/** Of floats 1e-5 of the larger ones; whole numbers and booleans must be equal. */
function isClose(got: number, expected: number, dtype: string, scale: number): boolean {
  if (Object.is(got, expected) || got === expected) return true;
  return (
    dtype === ('float32' satisfies Dtype) && Math.abs(got - expected) <= 1e-5 * Math.max(scale, Math.abs(expected))
  );
}

function difference(got: readonly Result[], expected: readonly Result[]): string | undefined {
  if (got.length !== expected.length) return `${got.length} results instead of ${expected.length}`;
  for (const [i, { shape, dtype, values }] of expected.entries()) {
    if (String(got[i].shape) !== String(shape)) return `shape [${got[i].shape}] instead of [${shape}]`;
    if (got[i].dtype !== dtype) return `${got[i].dtype} instead of ${dtype}`;
    if (got[i].values.length !== values.length) return `${got[i].values.length} numbers instead of ${values.length}`;
    const scale = values.reduce((max, y) => (Math.abs(y) < 1e6 ? Math.max(max, Math.abs(y)) : max), 1);
    const wrong = values.findIndex((y, j) => !isClose(got[i].values[j], y, dtype, scale));
    if (wrong >= 0) return `${got[i].values[wrong]} instead of ${values[wrong]}, number ${wrong}`;
  }
  return undefined;
}

/** What is wrong with a case on wasm: nothing where it's equal to cpu, or where cpu refuses it too. */
function fault(example: WasmCase): string[] {
  const expected = attempt('cpu', example);
  if (expected instanceof Error) return [];
  const before = held();
  const got = attempt('wasm', example);
  if (got instanceof Error) return [`${example.name}: ${got.message}`];
  const wrong = difference(got, expected) ?? (held() > before ? 'holds memory afterwards' : undefined);
  return wrong === undefined ? [] : [`${example.name}: ${wrong}`];
}

/** No function of tfjs-core calls the first; the second draws random numbers; the third takes text. */
const NOT_COMPARED = /^(LogicalXor|Multinomial|String.*|StaticRegexReplace|Ragged.*|Draw)$/;

describe('every kernel on wasm is equal to cpu, for each dtype, attribute and shape', { tags: ['slow'] }, () => {
  const called = new Set<string>();

  beforeAll(async () => {
    await useBackend('cpu');
    await useBackend('wasm');
    for (const kernel of tf.getKernelsForBackend('wasm')) {
      const { kernelFunc } = kernel;
      kernel.kernelFunc = (given) => {
        called.add(kernel.kernelName);
        return kernelFunc(given);
      };
    }
  });

  it.each([
    ['elementwise', elementwiseCases],
    ['reductions', reductionCases],
    ['movement', movementCases],
    ['networks', networkCases],
  ] as const)(
    '%s',
    (_, cases) => {
      expect(cases.flatMap(fault).slice(0, 10)).toEqual([]);
    },
    300_000,
  );

  it('no kernel is left out', () => {
    const names = tf.getKernelsForBackend('wasm').map(({ kernelName }) => kernelName);
    expect(names.filter((name) => !called.has(name) && !NOT_COMPARED.test(name))).toEqual([]);
  });
});
