import { fail } from '@coplay/core';
import type { Attribute, Graph, NamedValue, Node, Value, ValueType } from '../graph';
import { type Bytes, bytes, float, integer, integers, join, message, raw, text } from './protobuf';

/** Versions of the file format and of the operator set: both are read by every ONNX Runtime since 1.15. */
const IR_VERSION = 8;
const OPSET = 18;

const DATA_TYPES: Record<ValueType, number> = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9 };

/** The largest size of one file: protobuf counts bytes in 31 bits, and so does ONNX Runtime. */
const MAX_BYTES = 2 ** 31 - 1;

/** A file's metadata. */
export interface ModelInfo {
  readonly name: string;
  /** Of Coplay. */
  readonly version?: string;
  readonly description?: string;
  /** What inputs and outputs mean, by name. */
  readonly meanings?: Readonly<Record<string, string>>;
  /** Free text by key. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Names of axes of inputs and outputs that may have any size; sizes of the others are fixed. */
  readonly dynamicAxes?: Readonly<Record<string, Readonly<Record<number, string>>>>;
}

/**
 * An ONNX file (ModelProto) of a graph, in one array.
 *
 * @throws CoplayError if it would be larger than 2 GB
 */
export function encodeModel(graph: Graph, info: ModelInfo): Uint8Array {
  return join(modelBytes(graph, info));
}

/** The same in pieces, with the graph's constants as they lie in memory. */
export function modelBytes(graph: Graph, info: ModelInfo): Bytes {
  const imports = [operatorSet('', OPSET)];
  if (usesMicrosoft(graph)) imports.push(operatorSet('com.microsoft', 1));
  const model = message(
    integer(1, IR_VERSION),
    text(2, 'coplay'),
    optionalText(3, info.version),
    optionalText(6, info.description),
    bytes(7, encodeGraph(graph, info)),
    imports.map((entry) => bytes(8, entry)),
    Object.entries(info.metadata ?? {}).map(([key, value]) => bytes(14, message(text(1, key), text(2, value)))),
  );
  if (model.length > MAX_BYTES) {
    const size = `${(model.length / 2 ** 30).toFixed(2)} GB`;
    fail(
      `ONNX file of ${info.name}`,
      'at most 2 GB in one file',
      size,
      'Split the function in two, or take fewer weights.',
    );
  }
  return model;
}

function usesMicrosoft({ nodes }: Graph): boolean {
  return nodes.some(({ domain, body }) => domain === 'com.microsoft' || (body && usesMicrosoft(body)));
}

function optionalText(field: number, value: string | undefined): readonly Bytes[] {
  return value === undefined ? [] : [text(field, value)];
}

function operatorSet(domain: string, version: number): Bytes {
  return message(text(1, domain), integer(2, version));
}

function encodeGraph(graph: Graph, { name, dynamicAxes = {}, meanings = {} }: ModelInfo): Bytes {
  const names = new Names(graph);
  const nodes = graph.nodes.map((node) => bytes(1, encodeNode(node, names)));
  const copies = graph.outputs
    .filter(({ name: output, value }) => names.of(value) !== output)
    .map(({ name: output, value }) => bytes(1, copyNode(names.of(value), output)));
  const information = ({ name: key, value }: NamedValue) =>
    message(valueInfo(key, value, dynamicAxes[key] ?? {}), optionalText(3, meanings[key]));
  return message(
    nodes,
    copies,
    text(2, name),
    names.constants().map(([key, value]) => bytes(5, encodeTensor(key, value))),
    graph.inputs.map((entry) => bytes(11, information(entry))),
    graph.outputs.map((entry) => bytes(12, information(entry))),
  );
}

/** Names of values: their outside names where they have one. */
class Names {
  private readonly known = new Map<Value, string>();
  private readonly taken: ReadonlySet<string>;
  private readonly used: [string, Value][] = [];
  private count = 0;

  constructor({ inputs, outputs, nodes }: Graph) {
    this.taken = new Set([...inputs, ...outputs].map(({ name }) => name));
    for (const { name, value } of inputs) this.known.set(value, name);
    const made = new Set(nodes.flatMap((node) => node.outputs));
    for (const { name, value } of outputs) if (made.has(value) && !this.known.has(value)) this.known.set(value, name);
  }

  of(value: Value): string {
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const name = this.fresh();
    this.known.set(value, name);
    if (value.constant) this.used.push([name, value]);
    return name;
  }

  constants(): readonly [string, Value][] {
    return this.used;
  }

  /** A name that nothing has. */
  fresh(): string {
    const name = `_${this.count++}`;
    return this.taken.has(name) ? this.fresh() : name;
  }
}

function encodeNode({ op, domain, inputs, outputs, attributes, body }: Node, names: Names): Bytes {
  return message(
    inputs.map((input) => text(1, input ? names.of(input) : '')),
    outputs.map((output) => text(2, names.of(output))),
    text(4, op),
    Object.entries(attributes).map(([key, value]) => bytes(5, encodeAttribute(key, value))),
    body ? bytes(5, message(text(1, 'body'), bytes(6, encodeBody(body, names)), integer(20, 5))) : [],
    domain ? text(7, domain) : [],
  );
}

/**
 * A graph inside a node. Its values have names that differ from all outside names; values that it reads from outside
 * keep their names.
 */
function encodeBody(body: Graph, names: Names): Bytes {
  const inputs = body.inputs.map(({ value }) => valueInfo(names.of(value), value, {}));
  const nodes = body.nodes.map((node) => bytes(1, encodeNode(node, names)));
  const made = new Set(body.nodes.flatMap((node) => node.outputs));
  const outputs = body.outputs.map(({ value }) => {
    const isOwn = made.delete(value); // what comes from outside, or goes out twice, is copied
    return { value, name: isOwn ? names.of(value) : names.fresh(), isOwn };
  });
  return message(
    nodes,
    outputs.flatMap(({ value, name, isOwn }) => (isOwn ? [] : [bytes(1, copyNode(names.of(value), name))])),
    text(2, 'body'),
    inputs.map((input) => bytes(11, input)),
    outputs.map(({ value, name }) => bytes(12, valueInfo(name, value, {}))),
  );
}

function copyNode(from: string, to: string): Bytes {
  return message(text(1, from), text(2, to), text(4, 'Identity'));
}

function encodeAttribute(name: string, value: Attribute): Bytes {
  const named = text(1, name);
  if (typeof value === 'number') return message(named, integer(3, value), integer(20, 2));
  if (typeof value === 'string') return message(named, text(4, value), integer(20, 3));
  if ('float' in value) return message(named, float(2, value.float), integer(20, 1));
  return message(
    named,
    value.map((entry) => integer(8, entry)),
    integer(20, 7),
  );
}

/** int64 data goes into its typed field: ONNX Runtime can't infer shapes from larger raw ones ("external tensors"). */
function encodeTensor(name: string, { shape, dtype, constant }: Value): Bytes {
  const data = constant!;
  const content =
    dtype === 'int64' ? integers(7, data) : raw(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return message(
    shape.map((size) => integer(1, size)),
    integer(2, DATA_TYPES[dtype]),
    text(8, name),
    content,
  );
}

function valueInfo(name: string, { shape, dtype }: Value, dynamic: Readonly<Record<number, string>>): Bytes {
  const axes = shape.map((size, axis) =>
    bytes(1, dynamic[axis] === undefined ? integer(1, size) : text(2, dynamic[axis])),
  );
  const tensorType = message(integer(1, DATA_TYPES[dtype]), bytes(2, message(axes)));
  return message(text(1, name), bytes(2, bytes(1, tensorType)));
}
