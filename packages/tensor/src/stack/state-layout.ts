import { sizeOf } from '@coplay/core/arrays';
import { type Graph, GraphBuilder, indices, type NamedValue, reshape, type Value } from '../graph';

/** The float32 variables of a group, in order. */
export interface FloatGroup {
  readonly names: readonly string[];
  readonly shapes: Readonly<Record<string, readonly number[]>>;
}

/**
 * Reads and writes a group's float32 variables as one vector `state/KEY/` [N]: each variable that was read or written
 * alone becomes a part of it. A group that isn't written stays so.
 */
export function readFlat(graph: Graph, key: string, group: FloatGroup): Graph {
  const builder = new GraphBuilder();
  const sizes = group.names.map((name) => sizeOf(group.shapes[name]));
  const isPart = ({ name }: NamedValue, side: string) => group.names.some((part) => name === `${side}/${key}/${part}`);
  const flat =
    graph.inputs.find(({ name }) => name === `state/${key}/`)?.value ?? float([sizes.reduce((a, b) => a + b, 0)]);
  const parts = split(builder, flat, sizes);
  const read = new Map<Value, Value>();
  for (const input of graph.inputs.filter((entry) => isPart(entry, 'state'))) {
    const at = group.names.findIndex((part) => input.name === `state/${key}/${part}`);
    read.set(input.value, reshape(builder, parts[at], input.value.shape));
  }
  const substitute = (value: Value) => read.get(value) ?? value;
  appendAll(builder, graph, substitute);
  const written = graph.outputs.filter((entry) => isPart(entry, 'next'));
  const outputs = graph.outputs.filter((entry) => !isPart(entry, 'next')).map(rename(substitute));
  if (written.length > 0) {
    const flats = written.map(({ value }) => reshape(builder, substitute(value), [sizeOf(value.shape)]));
    outputs.push({ name: `next/${key}/`, value: join(builder, flats, flat.shape) });
  }
  const inputs = graph.inputs.filter((entry) => !isPart(entry, 'state') && entry.value !== flat);
  return { inputs: [...inputs, { name: `state/${key}/`, value: flat }], nodes: builder.nodes, outputs };
}

/**
 * The reverse: a vector `state/KEY/` that was read or written as one is concatenated from, or split into, variables.
 */
export function readApart(graph: Graph, key: string, group: FloatGroup): Graph {
  const flatIn = graph.inputs.find(({ name }) => name === `state/${key}/`);
  const flatOut = graph.outputs.find(({ name }) => name === `next/${key}/`);
  if (!flatIn && !flatOut) return graph;
  const builder = new GraphBuilder();
  const inputs = graph.inputs.filter((entry) => entry !== flatIn);
  const variable = (name: string): Value => {
    const known = inputs.find((entry) => entry.name === `state/${key}/${name}`);
    if (known) return known.value;
    const value = float(group.shapes[name]);
    inputs.push({ name: `state/${key}/${name}`, value });
    return value;
  };
  const read = new Map<Value, Value>();
  if (flatIn) {
    const flats = group.names.map((name) => reshape(builder, variable(name), [sizeOf(group.shapes[name])]));
    read.set(flatIn.value, join(builder, flats, flatIn.value.shape));
  }
  const substitute = (value: Value) => read.get(value) ?? value;
  appendAll(builder, graph, substitute);
  const outputs = graph.outputs.filter((entry) => entry !== flatOut).map(rename(substitute));
  if (flatOut) {
    const sizes = group.names.map((name) => sizeOf(group.shapes[name]));
    const parts = split(builder, substitute(flatOut.value), sizes);
    group.names.forEach((name, i) => {
      outputs.push({ name: `next/${key}/${name}`, value: reshape(builder, parts[i], group.shapes[name]) });
    });
  }
  return { inputs, nodes: builder.nodes, outputs };
}

function float(shape: readonly number[]): Value {
  return { shape, dtype: 'float32' };
}

function appendAll(builder: GraphBuilder, { nodes }: Graph, substitute: (value: Value) => Value): void {
  for (const node of nodes) builder.append({ ...node, inputs: node.inputs.map((input) => input && substitute(input)) });
}

function rename(substitute: (value: Value) => Value) {
  return ({ name, value }: NamedValue): NamedValue => ({ name, value: substitute(value) });
}

function split(builder: GraphBuilder, flat: Value, sizes: readonly number[]): readonly Value[] {
  if (sizes.length === 1) return [flat];
  return builder.ops(
    'Split',
    [flat, indices(sizes)],
    sizes.map((size) => float([size])),
    { axis: 0 },
  );
}

function join(builder: GraphBuilder, parts: readonly Value[], shape: readonly number[]): Value {
  return parts.length === 1 ? parts[0] : builder.op('Concat', parts, float(shape), { axis: 0 });
}
