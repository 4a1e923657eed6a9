import type { Graph } from '../../graph';
import { isNode } from '../environment';

/** A tensor of ONNX Runtime, as far as we use it. */
export interface RuntimeTensor {
  readonly type: string;
  readonly data: Float32Array | Int32Array | Uint8Array | BigInt64Array;
  readonly dims: readonly number[];
}

/** A graph that's ready to run. */
export interface RuntimeSession {
  /**
   * @param feeds   every input
   * @param fetches what to compute; a tensor is written into, null asks for a fresh one
   */
  run(
    feeds: Readonly<Record<string, RuntimeTensor>>,
    fetches: Readonly<Record<string, RuntimeTensor | null>>,
  ): Promise<Readonly<Record<string, RuntimeTensor>>>;
  release(): Promise<void>;
  /** Closes the file of times that the session was asked to write. */
  endProfiling?(): void;
}

/** Options of a session, by ONNX Runtime's names. */
export interface SessionOptions {
  readonly intraOpNumThreads?: number;
  readonly interOpNumThreads?: number;
  readonly graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'all';
  readonly executionMode?: 'sequential' | 'parallel';
  readonly enableCpuMemArena?: boolean;
  readonly enableMemPattern?: boolean;
  /** 0 (all) to 4 (fatal errors only) */
  readonly logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
  readonly enableProfiling?: boolean;
  readonly profileFilePrefix?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** ONNX Runtime, for Node or for the web: the part that both share. Or our own generator of WebAssembly. */
export interface Runtime {
  /** Makes a session without a file; undefined where InferenceSession is to make it. */
  readonly generate?: (where: string, graph: Graph) => Promise<RuntimeSession | undefined>;
  /** The runtime that takes all graphs, where `generate` takes some of them: for other threads, and for profiles. */
  readonly whole?: Runtime;
  /** Whether it may refuse graphs that can be traced. */
  readonly isPartial?: boolean;
  readonly env?: { readonly versions?: { readonly node?: string } };
  readonly InferenceSession: { create(model: Uint8Array, options: SessionOptions): Promise<RuntimeSession> };
  readonly Tensor: new (
    type: string,
    data: Float32Array | Int32Array | Uint8Array,
    dims: readonly number[],
  ) => RuntimeTensor;
}

/** ONNX Runtime if it loads, and words for people: `onnx: ` and which, or why not. */
export interface RuntimeChoice {
  readonly runtime: Runtime | undefined;
  readonly reason: string;
}

let choice: Promise<RuntimeChoice> | undefined;

/**
 * Loads onnxruntime-node, once, unless {@link provideRuntime} gave another. Where it doesn't load, that's found once
 * too.
 */
export function loadRuntime(): Promise<RuntimeChoice> {
  choice ??= load();
  return choice;
}

/** Sets the ONNX Runtime that functions use from their first call on; functions that were called before keep theirs. */
export function provideRuntime(runtime: Runtime, reason: string): void {
  choice = Promise.resolve({ runtime, reason });
}

async function load(): Promise<RuntimeChoice> {
  if (!isNode()) return { runtime: undefined, reason: 'a browser needs onnxruntime-web, given to useOnnxWeb' };
  // From 1.30 on it keeps a number for this machine in the user's cache and may send figures of its use; a user's own
  // setting stays.
  process.env['ORT_DISABLE_TELEMETRY'] ??= '1';
  // The name is computed, so that bundlers for browsers don't look for the package.
  const name = ['onnxruntime', 'node'].join('-');
  try {
    const loaded = (await import(/* @vite-ignore */ name)) as { default?: Runtime } & Runtime;
    const runtime = loaded.InferenceSession ? loaded : loaded.default;
    if (!runtime?.InferenceSession) throw new Error('it has no InferenceSession');
    return { runtime, reason: `onnx: onnxruntime-node ${runtime.env?.versions?.node ?? ''}`.trim() };
  } catch (error) {
    return { runtime: undefined, reason: `onnxruntime-node ${explain(error)}` };
  }
}

function explain(error: unknown): string {
  const code = (error as { code?: string }).code ?? '';
  const message = error instanceof Error ? error.message : String(error);
  const isMissing = code.endsWith('MODULE_NOT_FOUND') && /onnxruntime-node['"]/.test(message);
  return isMissing ? "isn't installed" : `doesn't load (${message.split('\n')[0]})`;
}
