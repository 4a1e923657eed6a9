import { afterEach, expect, it, vi } from 'vitest';
import type { Executor } from './executor';
import { planned } from './fallback';
import { explainRefused } from './onnx/errors';
import { wasmRuntime } from './wasm-runtime';

afterEach(() => {
  vi.restoreAllMocks();
});

const executor = (run: Executor['run']): Executor => ({ run, dispose: async () => {} });

it('a graph for which no code is generated runs eagerly where nothing else is there, with one warning', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const runtime = wasmRuntime(undefined);
  const refusing = executor(() => Promise.reject(explainRefused('function f', 'Einsum of float32')));
  const made = planned(
    'function f',
    { name: 'wasm', reason: '', runtime },
    () => refusing,
    () => executor(async () => ({})),
  );
  expect([await made.run({}, {}), await made.run({}, {})]).toEqual([{}, {}]);
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^function f runs operation by operation.*Einsum of float32/)],
  ]);
  const failing = executor(() => Promise.reject(new Error('another')));
  const other = planned(
    'function f',
    { name: 'wasm', reason: '', runtime },
    () => failing,
    () => executor(async () => ({})),
  );
  await expect(other.run({}, {})).rejects.toThrow('another');
});
