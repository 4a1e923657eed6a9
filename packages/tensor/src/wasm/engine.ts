/** The memory of a module. */
export interface EngineMemory {
  /** Another object whenever the memory has grown. */
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** What a module exports. */
type Exports = Readonly<Record<string, unknown>>;

/** The engine's WebAssembly, as far as we use it. */
interface Engine {
  validate(bytes: Uint8Array): boolean;
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: object): Promise<{ readonly exports: Exports }>;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => EngineMemory;
}

/** undefined in engines without it. */
export const engine = (globalThis as { readonly WebAssembly?: Engine }).WebAssembly;
