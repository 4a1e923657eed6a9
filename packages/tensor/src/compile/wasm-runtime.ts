import type { Graph } from '../graph';
import { isFasterGenerated, Unsupported, WasmSession } from '../wasm';
import { revisionOf } from './host-arrays';
import { explainRefused } from './onnx/errors';
import type { Runtime, RuntimeSession, RuntimeTensor } from './onnx/runtime';

/** A tensor that only holds its numbers. */
class PlainTensor implements RuntimeTensor {
  constructor(
    readonly type: string,
    readonly data: Float32Array | Int32Array | Uint8Array,
    readonly dims: readonly number[],
  ) {}
}

const runtimes = new WeakMap<object, Runtime>();
const fasterOnes = new WeakMap<object, Runtime>();
const ALONE = {};

/**
 * Generated WebAssembly code as a runtime.
 *
 * @param others  runs the graphs for which no code is generated; without it they're refused
 */
export function wasmRuntime(others: Runtime | undefined): Runtime {
  const key = others ?? ALONE;
  const known = runtimes.get(key) ?? makeRuntime(others);
  runtimes.set(key, known);
  return known;
}

/** Generated code for graphs that it computes faster, by their shapes; another runtime for the others. */
export function fasterRuntime(others: Runtime): Runtime {
  const known = fasterOnes.get(others) ?? { ...makeRuntime(others, isFasterGenerated), whole: others };
  fasterOnes.set(others, known);
  return known;
}

function makeRuntime(others: Runtime | undefined, isFor: (graph: Graph) => boolean = () => true): Runtime {
  const refused = new Set<string>();
  const generate = async (where: string, graph: Graph): Promise<RuntimeSession | undefined> => {
    if (!isFor(graph)) return undefined;
    try {
      return sessionOf(await WasmSession.create(graph));
    } catch (error) {
      if (!(error instanceof Unsupported || error instanceof RangeError)) throw error;
      const what = error instanceof Unsupported ? error.message : 'more memory than there is';
      if (!others) throw explainRefused(where, what);
      if (!refused.has(where))
        console.warn(`${where} runs on ONNX Runtime: no WebAssembly code is generated for ${what}.`);
      refused.add(where);
      return undefined;
    }
  };
  if (!others) return { Tensor: PlainTensor, InferenceSession: NONE, generate, isPartial: true };
  return { Tensor: others.Tensor, InferenceSession: others.InferenceSession, generate };
}

/** Never asked: without another runtime, graphs are refused before. */
const NONE: Runtime['InferenceSession'] = {
  create: () => Promise.reject(new Error('no runtime for files')),
};

function sessionOf(session: WasmSession): RuntimeSession {
  return {
    run: async (feeds, fetches) => session.run(feeds, fetches, revision) as never,
    release: async () => session.release(),
  };
}

/** State is kept between calls, as long as nothing is written to it. */
function revision(name: string, data: object): number | undefined {
  return name.startsWith('state/') ? revisionOf(data as ArrayBufferView) : undefined;
}
