/**
 * The dtype of a value in a graph. uint8 and int64 occur only at the edges: as inputs, and where ONNX wants indices.
 */
export type ValueType = 'float32' | 'int32' | 'bool' | 'uint8' | 'int64';

/** Constants by value; constants of dtype int64 are held as Int32Array, bools as 0 and 1. */
export type ConstantData = Float32Array | Int32Array | Uint8Array;

/** A tensor that a graph computes with, told apart from others by identity. */
export interface Value {
  readonly shape: readonly number[];
  readonly dtype: ValueType;
  /** Present where the value is known while compiling. */
  readonly constant?: ConstantData;
}

/** A whole number, a list of them, a word, or a real number. */
export type Attribute = number | readonly number[] | string | { readonly float: number };

/** The attributes of a node by ONNX's names. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** One operation, in ONNX's terms. */
export interface Node {
  /** Of ONNX's operator set, or of `domain`. */
  readonly op: string;
  /** ONNX Runtime's own operators are in `com.microsoft`. */
  readonly domain?: 'com.microsoft';
  /** undefined where an optional input is left out */
  readonly inputs: readonly (Value | undefined)[];
  readonly outputs: readonly Value[];
  readonly attributes: Attributes;
  /**
   * The body of a Scan. Its nodes may read values of the graph around it, which passes don't see: loops are made last.
   */
  readonly body?: Graph;
}

/** A value that has a name outside. */
export interface NamedValue {
  readonly name: string;
  readonly value: Value;
}

/** Nodes in an order in which each comes after its operands. Constants are values that no node makes. */
export interface Graph {
  readonly inputs: readonly NamedValue[];
  readonly nodes: readonly Node[];
  readonly outputs: readonly NamedValue[];
}

/** A function from graph to graph that doesn't change the result of the computation. */
export type Pass = (graph: Graph) => Graph;
