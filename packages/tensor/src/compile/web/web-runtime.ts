import type { Runtime, RuntimeSession, RuntimeTensor, SessionOptions } from '../onnx/runtime';

/** A session of onnxruntime-web, as far as we use it. */
interface WebSession {
  run(feeds: never, fetches: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  release(): Promise<void>;
}

/** What `import * as ort from 'onnxruntime-web/wasm'` gives, as far as we use it. */
export interface OnnxWeb {
  readonly env: {
    readonly versions: { readonly web?: string };
    readonly wasm: { wasmPaths?: unknown; numThreads?: number };
  };
  readonly InferenceSession: { create(model: Uint8Array, options: WebSessionOptions): Promise<WebSession> };
  readonly Tensor: unknown;
}

interface WebSessionOptions {
  readonly executionProviders: readonly ['wasm'];
  readonly graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'all';
  readonly enableCpuMemArena?: boolean;
  readonly enableMemPattern?: boolean;
  readonly logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
  readonly extra?: Record<string, unknown>;
}

/**
 * onnxruntime-web in the form that compiled functions use. Two things differ from onnxruntime-node: its threads belong
 * to the module and not to a session, and it fills no tensor that is given to be written into (the result stays in the
 * memory of WebAssembly), so results are copied there.
 */
export function webRuntime(ort: OnnxWeb): Runtime {
  return {
    Tensor: ort.Tensor as Runtime['Tensor'],
    InferenceSession: {
      create: async (model, options) => sessionOf(await ort.InferenceSession.create(model, optionsOf(options))),
    },
  };
}

/** What onnxruntime-web has of the options; those about threads and profiles it hasn't. */
function optionsOf(options: SessionOptions): WebSessionOptions {
  const { graphOptimizationLevel = 'all', enableCpuMemArena = true, enableMemPattern = true } = options;
  const { logSeverityLevel = 2, extra } = options;
  return {
    executionProviders: ['wasm'],
    graphOptimizationLevel,
    enableCpuMemArena,
    enableMemPattern,
    logSeverityLevel,
    ...(extra && { extra: { ...extra } }),
  };
}

function sessionOf(session: WebSession): RuntimeSession {
  return {
    async run(feeds, fetches) {
      const results = (await session.run(feeds as never, Object.keys(fetches))) as Record<string, RuntimeTensor>;
      for (const name in fetches) {
        const given = fetches[name];
        if (given) (given.data as Float32Array).set(results[name].data as Float32Array);
      }
      return results;
    },
    release: () => session.release(),
  };
}
