import { constant, type GraphBuilder, indices, reshape, type Value } from '../graph';

/** The stacked values so far, and functions that reshape values. */
export class StackContext {
  private readonly stacked = new Map<Value, Value>();

  constructor(
    readonly builder: GraphBuilder,
    /** A */
    readonly members: number,
  ) {}

  /** Records the stacked value of a value. */
  set(value: Value, stacked: Value): void {
    this.stacked.set(value, stacked);
  }

  /** Whether a value differs between members. */
  isStacked(value: Value): boolean {
    return this.stacked.has(value);
  }

  /** A value with its member axis, [A, ...]; one that's the same for all members without, [...]. */
  get(value: Value): Value {
    return this.stacked.get(value) ?? value;
  }

  /** [A, ...] in any case; what's the same for all members is repeated. */
  expanded(value: Value): Value {
    const known = this.stacked.get(value);
    if (known) return known;
    const shape = [this.members, ...value.shape];
    if (value.constant) return constant(repeat(value.constant, this.members), shape, value.dtype);
    return this.builder.op('Expand', [value, indices(shape)], { shape, dtype: value.dtype });
  }

  /** [A, 1, ..., 1, ...]: of so high a rank (without A) that it is broadcast as the member's own value would be. */
  aligned(value: Value, rank: number): Value {
    const known = this.stacked.get(value);
    if (!known) return value;
    const missing = rank - value.shape.length;
    return this.reshape(known, [this.members, ...Array<number>(missing).fill(1), ...value.shape]);
  }

  reshape(value: Value, shape: readonly number[]): Value {
    return reshape(this.builder, value, shape);
  }

  /** Shape and dtype of a node's output with the member axis. */
  spec(output: Value): { shape: number[]; dtype: Value['dtype'] } {
    return { shape: [this.members, ...output.shape], dtype: output.dtype };
  }
}

function repeat<Data extends Float32Array | Int32Array | Uint8Array>(data: Data, times: number): Data {
  const repeated = new (data.constructor as new (size: number) => Data)(data.length * times);
  for (let i = 0; i < times; i++) repeated.set(data, i * data.length);
  return repeated;
}
