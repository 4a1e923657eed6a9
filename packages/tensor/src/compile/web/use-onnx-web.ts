import { checkOptions, fail } from '@coplay/core';
import { z } from 'zod';
import { type Graph, GraphBuilder } from '../../graph';
import { encodeModel } from '../../onnx';
import { provideRuntime } from '../onnx/runtime';
import { MAX_THREADS } from '../onnx/threads';
import { type OnnxWeb, webRuntime } from './web-runtime';

/** Options of {@link useOnnxWeb}. */
export interface OnnxWebOptions {
  /**
   * The folder, ending in `/`, from which the page's server gives `ort-wasm-simd-threaded.mjs` and
   * `ort-wasm-simd-threaded.wasm` of onnxruntime-web, of the very version that is bundled. Default: in the script's
   * folder
   */
  readonly wasmPaths?: string;
  /**
   * Threads of all compiled functions together, at least 1. More than one works only in a page that is cross-origin
   * isolated. Default: half the cores, 4 at most, where the page is isolated; else 1
   */
  readonly threads?: number;
}

const schema = z.strictObject({
  wasmPaths: z.string().regex(/\/$/, 'a folder, ending in /').optional(),
  threads: z.int().min(1).max(MAX_THREADS).optional(),
});

/**
 * Gives compiled functions ONNX Runtime's web build to run on, in a browser. Call it before the first of them runs; the
 * bundle decides which build it is: `import * as ort from 'onnxruntime-web/wasm'`.
 *
 * @returns one line for people: the executor in use
 * @throws CoplayError if the files of WebAssembly don't load. Functions run operation by operation then, on tfjs
 */
export async function useOnnxWeb(ort: OnnxWeb, options: OnnxWebOptions = {}): Promise<{ readonly reason: string }> {
  const { wasmPaths, threads } = checkOptions('useOnnxWeb', schema, options);
  const { wasm, versions } = ort.env;
  if (wasmPaths !== undefined) wasm.wasmPaths = wasmPaths;
  if (threads !== undefined) wasm.numThreads = threads;
  const runtime = webRuntime(ort);
  try {
    // The files are fetched when the first session is made.
    const session = await runtime.InferenceSession.create(encodeModel(smallest(), { name: 'probe' }), {});
    await session.release();
  } catch (error) {
    fail(
      'useOnnxWeb',
      'the files of onnxruntime-web to load',
      (error instanceof Error ? error.message : String(error)).split('\n')[0],
      'Serve node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.{mjs,wasm} and name their folder as wasmPaths.',
    );
  }
  const reason = `onnx: onnxruntime-web ${versions.web ?? ''}, ${countOf(wasm.numThreads ?? 1)}`;
  provideRuntime(runtime, reason);
  return { reason };
}

/** A graph of one node. */
function smallest(): Graph {
  const builder = new GraphBuilder();
  const x = { shape: [], dtype: 'float32' } as const;
  const y = builder.op('Neg', [x], x);
  return { inputs: [{ name: 'x', value: x }], nodes: builder.nodes, outputs: [{ name: 'y', value: y }] };
}

function countOf(threads: number): string {
  return threads === 1 ? '1 thread' : `${threads} threads`;
}
