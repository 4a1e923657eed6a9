import type { ConstantData, Graph, ValueType } from '../graph';
import { engine } from './engine';
import { wasmFeatures } from './features';
import { type Heap, sharedHeap } from './heap';
import { SCALAR_FUNCTIONS } from './imports';
import { lower } from './lower';
import { addressOf, type MemoryPlan, planMemory } from './memory-plan';
import { encodeProgram } from './program';
import type { Lowered, NamedView } from './steps';

/** Numbers of one kind. */
type Numbers = Float32Array | Int32Array | Uint8Array;

/** Arrays by name. */
type Arrays = Readonly<Record<string, { readonly data: ArrayLike<unknown> }>>;

/** A graph as a module, with its memory. */
export class WasmSession {
  private views: Views | undefined;
  /** What kept inputs hold: the arrays, and how often those had been written to. */
  private readonly held = new Map<string, { readonly data: unknown; readonly revision: number }>();

  private constructor(
    private readonly heap: Heap,
    private readonly lowered: Lowered,
    private readonly plan: MemoryPlan,
    private readonly start: number,
    private readonly compute: (kept: number, scratch: number) => void,
  ) {}

  /** Throws Unsupported where no kernel computes a part of the graph. */
  static async create(graph: Graph): Promise<WasmSession> {
    const { isFused } = wasmFeatures();
    const lowered = lower(graph, isFused);
    const plan = planMemory(lowered);
    const module = await engine!.compile(encodeProgram(lowered, plan, isFused));
    const heap = sharedHeap();
    const instance = await engine!.instantiate(module, { env: { memory: heap.memory, ...SCALAR_FUNCTIONS } });
    heap.share(plan.scratchBytes);
    const start = heap.allocate(plan.keptBytes);
    for (const [buffer, at] of plan.kept) {
      if (buffer.data) write(new Int32Array(heap.memory.buffer, start + at, buffer.size), buffer.data, buffer.dtype);
    }
    const run = instance.exports['run'] as (kept: number, scratch: number) => void;
    return new WasmSession(heap, lowered, plan, start, run);
  }

  /**
   * Computes the graph.
   *
   * @param feeds    every input
   * @param fetches  by output: the array to write to, or null for a new one
   * @param revision how often an array that is kept between calls was written to; undefined for others
   */
  run(
    feeds: Arrays,
    fetches: Readonly<Record<string, { readonly data: ArrayLike<unknown> } | null>>,
    revision: (name: string, data: object) => number | undefined = () => undefined,
  ): Record<string, { readonly data: Numbers; readonly dims: readonly number[] }> {
    const { inputs, outputs } = this.present();
    for (const { name, numbers } of inputs) this.feed(name, numbers, feeds[name].data as Numbers, revision);
    this.compute(this.start, this.heap.scratch);
    const results: Record<string, { data: Numbers; dims: readonly number[] }> = {};
    for (const { name, numbers, dtype, shape } of outputs) {
      const target = fetches[name];
      if (target === undefined) continue;
      if (target) (target.data as Float32Array).set(numbers);
      else results[name] = { data: dtype === 'bool' ? Uint8Array.from(numbers, bit) : numbers.slice(), dims: shape };
    }
    return results;
  }

  release(): void {
    this.heap.free(this.start);
  }

  private feed(
    name: string,
    numbers: Numbers,
    data: Numbers,
    revision: (name: string, data: object) => number | undefined,
  ) {
    const present = revision(name, data);
    if (present !== undefined) {
      const held = this.held.get(name);
      if (held?.data === data && held.revision === present) return;
      this.held.set(name, { data, revision: present });
    }
    numbers.set(data);
  }

  /** Inputs and outputs in memory, which is another object whenever it has grown. */
  private present(): Views {
    const { scratch } = this.heap;
    const { buffer } = this.heap.memory;
    if (this.views?.buffer === buffer && this.views.scratch === scratch) return this.views;
    const slots = (all: readonly NamedView[]) => all.map((one) => this.slot(one));
    this.views = { buffer, scratch, inputs: slots(this.lowered.inputs), outputs: slots(this.lowered.outputs) };
    return this.views;
  }

  private slot({ name, value, view }: NamedView): Slot {
    const { isKept, at } = addressOf(view, this.plan);
    const { dtype, shape } = value;
    const Kind = dtype === 'float32' ? Float32Array : dtype === 'uint8' ? Uint8Array : Int32Array;
    const size = shape.reduce((product, d) => product * d, 1);
    const address = (isKept ? this.start : this.heap.scratch) + at;
    return { name, dtype, shape, numbers: new Kind(this.heap.memory.buffer, address, size) };
  }
}

/** Inputs and outputs in memory, valid as long as the memory is this object and the shared area lies there. */
interface Views {
  readonly buffer: ArrayBuffer;
  readonly scratch: number;
  readonly inputs: readonly Slot[];
  readonly outputs: readonly Slot[];
}

/** An input or output in memory. */
interface Slot {
  readonly name: string;
  readonly dtype: ValueType;
  readonly shape: readonly number[];
  readonly numbers: Numbers;
}

/** 1 for all bits. */
function bit(mask: number): number {
  return mask & 1;
}

/** Lays down a constant: four bytes for each number, all bits of them for true. */
function write(place: Int32Array, data: ConstantData, dtype: ValueType): void {
  if (data instanceof Float32Array) new Float32Array(place.buffer, place.byteOffset, place.length).set(data);
  else if (dtype === 'bool') place.set(Int32Array.from(data, (x) => -x));
  else place.set(data);
}
