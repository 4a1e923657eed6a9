/** A tensor of ONNX Runtime, as far as we use it. */
export interface RuntimeTensor {
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
}

/** Options of a session, by ONNX Runtime's names. */
export interface SessionOptions {
  readonly intraOpNumThreads?: number;
  readonly interOpNumThreads?: number;
  readonly graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'all';
  readonly executionMode?: 'sequential' | 'parallel';
  readonly enableCpuMemArena?: boolean;
  readonly enableMemPattern?: boolean;
  readonly enableProfiling?: boolean;
  readonly profileFilePrefix?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** ONNX Runtime, for Node or for the web: the part that both share. */
export interface Runtime {
  readonly InferenceSession: { create(model: Uint8Array, options: SessionOptions): Promise<RuntimeSession> };
  readonly Tensor: new (
    type: string,
    data: Float32Array | Int32Array | Uint8Array,
    dims: readonly number[],
  ) => RuntimeTensor;
}

/** ONNX Runtime if it loads, and one line for people: which, or why not. */
export interface RuntimeChoice {
  readonly runtime: Runtime | undefined;
  readonly reason: string;
}

let choice: Promise<RuntimeChoice> | undefined;

/** Loads onnxruntime-node, once. Where it doesn't load, that's found once too. */
export function loadRuntime(): Promise<RuntimeChoice> {
  choice ??= load();
  return choice;
}

async function load(): Promise<RuntimeChoice> {
  try {
    const loaded = (await import('onnxruntime-node')) as unknown as { default?: Runtime } & Runtime;
    const runtime = loaded.InferenceSession ? loaded : loaded.default;
    if (!runtime?.InferenceSession) throw new Error('it has no InferenceSession');
    return { runtime, reason: 'onnx: onnxruntime-node loads' };
  } catch (error) {
    const problem = (error instanceof Error ? error.message : String(error)).split('\n')[0];
    return { runtime: undefined, reason: `eager: onnxruntime-node doesn't load (${problem})` };
  }
}
