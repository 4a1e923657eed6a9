import type { NamedArrays } from '@coplay/core';
import { compile, type TensorRecord, useBackend } from '@coplay/tensor';
import type { Machine } from './optimise-run';

/** Runs a function of tensors on a machine: all numbers of each result. */
export async function onMachine(
  { backend, executor }: Machine,
  f: (inputs: TensorRecord) => TensorRecord,
  inputs: NamedArrays,
): Promise<Record<string, number[]>> {
  await useBackend(backend);
  const compiled = compile((_, given) => ({ outputs: f(given) }), { name: 'example', executor, threads: 1 });
  try {
    const results = await compiled(inputs);
    return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, [...data]]));
  } finally {
    compiled.dispose();
  }
}

/** Compares number by number: the difference relative to each expected number, or absolute where it's 0. */
export function differences(got: readonly number[], expected: readonly number[], tolerance = 1e-4): string[] {
  if (got.length !== expected.length) return [`${got.length} numbers instead of ${expected.length}`];
  return got.flatMap((value, i) => {
    const scale = expected[i] === 0 ? 1 : Math.abs(expected[i]);
    return Math.abs(value - expected[i]) <= tolerance * scale
      ? []
      : [`number ${i}: ${value} instead of ${expected[i]}`];
  });
}
