import { sizeOf } from '@coplay/core/arrays';
import type { Attributes, ConstantData, Node, Value, ValueType } from './graph';

/** Shape and dtype of a node's output. */
export interface ValueSpec {
  readonly shape: readonly number[];
  readonly dtype: ValueType;
}

/** Collects nodes in order. */
export class GraphBuilder {
  readonly nodes: Node[] = [];
  private readonly makers = new Map<Value, Node>();

  /** Appends a node with one output. */
  op(op: string, inputs: readonly (Value | undefined)[], output: ValueSpec, attributes: Attributes = {}): Value {
    return this.append({ op, inputs, outputs: [fresh(output)], attributes })[0];
  }

  /** Appends a node with several outputs. */
  ops(
    op: string,
    inputs: readonly (Value | undefined)[],
    outputs: readonly ValueSpec[],
    attributes: Attributes = {},
  ): readonly Value[] {
    return this.append({ op, inputs, outputs: outputs.map(fresh), attributes });
  }

  /** Appends a node of ONNX Runtime's own operators. */
  microsoft(op: string, inputs: readonly (Value | undefined)[], output: ValueSpec, attributes: Attributes = {}): Value {
    return this.append({ op, domain: 'com.microsoft', inputs, outputs: [fresh(output)], attributes })[0];
  }

  /** Appends a node as it is. */
  append(node: Node): readonly Value[] {
    this.nodes.push(node);
    for (const output of node.outputs) this.makers.set(output, node);
    return node.outputs;
  }

  /** The node that makes a value; undefined for inputs and constants. */
  maker(value: Value | undefined): Node | undefined {
    return value && this.makers.get(value);
  }
}

function fresh({ shape, dtype }: ValueSpec): Value {
  return { shape, dtype };
}

/** A constant of any shape. */
export function constant(data: ConstantData, shape: readonly number[], dtype: ValueType): Value {
  return { shape, dtype, constant: data };
}

/** A list of indices, axes or sizes, as ONNX wants them. */
export function indices(values: readonly number[]): Value {
  return constant(Int32Array.from(values), [values.length], 'int64');
}

/** A single number. */
export function scalar(value: number, dtype: ValueType = 'float32'): Value {
  const Kind = { float32: Float32Array, int32: Int32Array, int64: Int32Array, bool: Uint8Array, uint8: Uint8Array };
  return constant(Kind[dtype].of(value), [], dtype);
}

/** The number that a constant holds everywhere, if it does. */
export function uniformValue(value: Value | undefined): number | undefined {
  const data = value?.constant;
  if (!data || data.length === 0) return undefined;
  const first = data[0];
  return data.every((entry) => Object.is(entry, first)) ? first : undefined;
}

/** Whether shapes are equal. */
export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}

/** Number of elements of a value. */
export function elements(value: ValueSpec): number {
  return sizeOf(value.shape);
}
