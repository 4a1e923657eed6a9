import { CoplayError, fail } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { type ConstantData, constant, GraphBuilder, type Value } from '../graph';

const NAME = 'coplay-trace';
let ownName: string | undefined;

/**
 * tfjs's name of the backend whose kernels record instead of compute. tfjs is one for all copies of this package, and
 * each has a backend of its own there: kernels registered by the name of another copy's would record into the wrong
 * graph.
 */
export function traceBackendName(): string {
  if (ownName !== undefined) return ownName;
  ownName = NAME;
  for (let copy = 2; tf.findBackendFactory(ownName); copy++) ownName = `${NAME}-${copy}`;
  return ownName;
}

/** Whether any copy of this package records operations now. */
export function isTracing(): boolean {
  return tf.engine().backendName?.startsWith(NAME) ?? false;
}

/** Arrays for constants of each dtype. */
export const ARRAYS = {
  float32: Float32Array,
  int32: Int32Array,
  bool: Uint8Array,
  uint8: Uint8Array,
  int64: Int32Array,
} as const;

/** A tensor as tfjs hands it to a kernel. */
type Handle = tf.TensorInfo;

/** A backend without numbers: a tensor's data is a value of the graph that is being recorded. */
export class TraceBackend extends tf.KernelBackend {
  /** The function that is being traced; undefined outside. */
  private where: string | undefined;
  private graph = new GraphBuilder();
  private values = new Map<object, Value>();
  /** Values of tensors from outside. */
  private captured = new Map<object, Value>();
  private readonly counts = new WeakMap<object, number>();

  /** The cause of a failing trace, if it occurred in a promise that may never be awaited. */
  complaint: unknown;

  /** The graph being recorded. */
  get builder(): GraphBuilder {
    return this.graph;
  }

  /** The function being traced, for messages. */
  get traced(): string {
    return this.where ?? 'a traced function';
  }

  begin(where: string): void {
    this.where = where;
    this.complaint = undefined;
    this.graph = new GraphBuilder();
    this.values = new Map();
    this.captured = new Map();
  }

  end(): void {
    this.where = undefined;
    this.values = new Map();
    this.captured = new Map();
  }

  /** A tensor that stands for a value. */
  handle(value: Value): Handle {
    const dataId = {};
    this.values.set(dataId, value);
    this.counts.set(dataId, 1);
    return { dataId, shape: [...value.shape], dtype: value.dtype as tf.DataType };
  }

  /** The value behind a tensor; one from outside becomes a constant. */
  override valueOf(tensor: Handle): Value {
    const known = this.values.get(tensor.dataId) ?? this.captured.get(tensor.dataId);
    if (known) return known.shape.length === tensor.shape.length ? known : this.reshaped(tensor, known);
    if (tensor instanceof tf.Variable) {
      const remedy = 'Pass it as state: compile(fn, { state: { params: variables(...) } }).';
      fail(this.traced, 'no variable captured from outside: its value would be frozen', tensor.name, remedy);
    }
    return this.capture(tensor);
  }

  private reshaped(tensor: Handle, { constant: data, dtype }: Value): Value {
    if (!data) throw new Error(`${this.traced}: a tensor of shape [${tensor.shape}] shares data of another shape`);
    return constant(data, tensor.shape, dtype);
  }

  private capture(tensor: Handle): Value {
    const info = tf.engine().state.tensorInfo.get(tensor.dataId);
    if (!info || info.backend === this) {
      const got = info ? 'one of an earlier trace' : 'one that is disposed';
      const remedy = 'Make it inside the function, or give it as an input.';
      fail(this.traced, `a tensor [${tensor.shape}] from outside that's alive`, got, remedy);
    }
    const data = info.backend.readSync(tensor.dataId) as ConstantData;
    const value = constant(data.slice(), tensor.shape, dtypeOf(this.traced, tensor.dtype));
    this.captured.set(tensor.dataId, value);
    return value;
  }

  // What follows is tfjs's contract of a backend.

  override write(values: tf.BackendValues, shape: number[], dtype: tf.DataType): tf.DataId {
    const kind = dtypeOf(this.traced, dtype);
    const Kind = ARRAYS[kind];
    const size = tf.util.sizeFromShape(shape);
    const data = values ? Kind.from(values as ArrayLike<number>) : new Kind(size);
    return this.handle(constant(data, shape, kind)).dataId;
  }

  override move(dataId: tf.DataId, values: tf.BackendValues, shape: number[], dtype: tf.DataType): void {
    const kind = dtypeOf(this.traced, dtype);
    this.values.set(dataId, constant((values as ConstantData).slice(), shape, kind));
    this.counts.set(dataId, 1);
  }

  override readSync(dataId: tf.DataId): tf.BackendValues {
    const data = this.values.get(dataId)?.constant;
    if (data) return data;
    const remedy =
      "Use tensor operations (tf.where instead of if; no shape that depends on data), or compile it with executor: 'eager'.";
    const expected = 'a traced function to read no values (dataSync, array, print, booleanMaskAsync)';
    return fail(this.traced, expected, 'one that does', remedy);
  }

  /** A read that fails makes the trace fail; its promise stays open, since a rejection might be unhandled. */
  override read(dataId: tf.DataId): Promise<tf.BackendValues> {
    try {
      return Promise.resolve(this.readSync(dataId));
    } catch (error) {
      this.complaint ??= error;
      return new Promise(() => {});
    }
  }

  override disposeData(dataId: tf.DataId, force = false): boolean {
    const left = (this.counts.get(dataId) ?? 1) - 1;
    this.counts.set(dataId, left);
    if (!force && left > 0) return false;
    this.values.delete(dataId);
    return true;
  }

  override refCount(dataId: tf.DataId): number {
    return this.counts.get(dataId) ?? 0;
  }

  override incRef(dataId: tf.DataId): void {
    this.counts.set(dataId, this.refCount(dataId) + 1);
  }

  decRef(dataId: tf.DataId): void {
    this.counts.set(dataId, this.refCount(dataId) - 1);
  }

  override numDataIds(): number {
    return this.values.size;
  }

  override timerAvailable(): boolean {
    return false;
  }

  override floatPrecision(): 16 | 32 {
    return 32;
  }

  override epsilon(): number {
    return 1e-7;
  }

  override memory(): { unreliable: boolean } {
    return { unreliable: true };
  }

  override dispose(): void {}
}

function dtypeOf(where: string, dtype: tf.DataType): 'float32' | 'int32' | 'bool' {
  if (dtype === 'float32' || dtype === 'int32' || dtype === 'bool') return dtype;
  return fail(where, 'tensors of dtype float32, int32 or bool', dtype, "Compile it with executor: 'eager'.");
}

/** What tfjs says of a kernel that isn't registered, said so that it helps. */
export function explainMissing(where: string, kernel: string, cause: unknown): CoplayError {
  const complaint = {
    where,
    expected: 'operations that can be compiled',
    got: `the kernel ${kernel}, which can't`,
    remedy: "Use another operation, or compile it with executor: 'eager'.",
  };
  return new CoplayError(complaint, { cause });
}
