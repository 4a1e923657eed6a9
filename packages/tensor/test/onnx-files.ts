import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NamedArrays } from '@coplay/core';
import { dtypeOf } from '@coplay/core/arrays';
import * as node from 'onnxruntime-node';
import * as web from 'onnxruntime-web/wasm';
import { expect, onTestFinished } from 'vitest';
import { findPython } from '../../../bench/harness/python';

/** The Python that has onnx and onnxruntime, or why there is none. */
export const python = findPython(['numpy', 'onnx', 'onnxruntime']);

/** What Python says of a file. */
export interface PythonReport {
  readonly runs: readonly Readonly<Record<string, { readonly shape: number[]; readonly data: number[] }>>[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly description: string;
  readonly version: string;
  readonly domains: readonly string[];
  readonly inputs: Readonly<Record<string, { readonly shape: (number | string)[]; readonly meaning: string }>>;
}

/** A directory that lasts as long as the test. */
export function temporaryDirectory(): string {
  const place = mkdtempSync(join(tmpdir(), 'coplay-onnx-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

/** A file, and what to feed it. */
export interface FedFile {
  readonly bytes: Uint8Array;
  readonly feeds: readonly NamedArrays[];
}

/** Checks files with Python's onnx and runs them with its onnxruntime, all in one process. */
export function checkWithPython(files: readonly FedFile[]): PythonReport[] {
  if ('missing' in python) throw new Error(python.missing);
  const place = temporaryDirectory();
  const jobs = files.map(({ bytes, feeds }, i) => {
    const file = join(place, `${i}.onnx`);
    writeFileSync(file, bytes);
    return { file, feeds: feeds.map(asJson) };
  });
  const script = fileURLToPath(new URL('fixtures/check_onnx.py', import.meta.url));
  const child = spawnSync(python.command, [script], { input: JSON.stringify(jobs), encoding: 'utf8' });
  expect(child.stderr).toBe('');
  return JSON.parse(child.stdout) as PythonReport[];
}

function asJson(arrays: NamedArrays) {
  const entries = Object.entries(arrays).map(([name, { data, shape }]) => {
    return [name, { dtype: dtypeOf(data), shape, data: Array.from(data) }];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Runs a file with onnxruntime-node. */
export async function runNode(bytes: Uint8Array, feeds: readonly NamedArrays[]): Promise<NamedArrays[]> {
  const session = await node.InferenceSession.create(bytes);
  const runs: NamedArrays[] = [];
  for (const arrays of feeds) {
    const tensors = Object.entries(arrays).map(([name, { data, shape }]) => {
      return [name, new node.Tensor(dtypeOf(data) as 'float32', data as Float32Array, [...shape])];
    });
    runs.push(results(await session.run(Object.fromEntries(tensors))));
  }
  await session.release();
  return runs;
}

/** Runs a file with onnxruntime-web, as a browser without a GPU would. */
export async function runWeb(bytes: Uint8Array, feeds: readonly NamedArrays[]): Promise<NamedArrays[]> {
  web.env.wasm.numThreads = 1;
  const session = await web.InferenceSession.create(bytes);
  const runs: NamedArrays[] = [];
  for (const arrays of feeds) {
    const tensors = Object.entries(arrays).map(([name, { data, shape }]) => {
      return [name, new web.Tensor(dtypeOf(data) as 'float32', data as Float32Array, [...shape])];
    });
    runs.push(results(await session.run(Object.fromEntries(tensors))));
  }
  await session.release();
  return runs;
}

function results(
  map: Readonly<Record<string, { readonly data: unknown; readonly dims: readonly number[] }>>,
): NamedArrays {
  return Object.fromEntries(
    Object.entries(map).map(([name, { data, dims }]) => [name, { data: data as Float32Array, shape: [...dims] }]),
  );
}

/** Expects the same names and shapes, and numbers within 1e-5 of their size or of 1. */
export function expectClose(
  got: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: ArrayLike<number> }>>,
  expected: NamedArrays,
): void {
  expect(Object.keys(got).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { data, shape }] of Object.entries(expected)) {
    expect({ name, shape: [...got[name].shape] }).toEqual({ name, shape: [...shape] });
    const apart = Array.from(data, (value, i) => Math.abs(value - got[name].data[i]) / Math.max(1, Math.abs(value)));
    expect(Math.max(0, ...apart), name).toBeLessThan(1e-5);
  }
}
