import { constant, type Graph, GraphBuilder, type NamedValue, type Node, type Value } from '../graph';

/** How a graph is repeated. */
export interface ScanOptions {
  /** S */
  readonly steps: number;
  /** Whether an input, by its name in the graph, has another value in each step. */
  readonly isEach: (name: string) => boolean;
  /** Where the axis of steps is in such inputs and in the outputs: 0, or 1 behind an axis of members. */
  readonly axis: 0 | 1;
}

/**
 * The graph that runs another S times, each step from the state that the one before left: inputs of which each step has
 * its own get an axis of S, and so do the outputs. (What JAX calls scan.) What depends neither on the state nor on such
 * inputs is computed once.
 */
export function scanGraph(graph: Graph, { steps, isEach, axis }: ScanOptions): Graph {
  const carried = carriedState(graph);
  const found = graph.inputs.filter(({ name }) => isEach(name));
  const each = found.length > 0 ? found : [named({ shape: [1].slice(0, axis), dtype: 'float32' })];
  const changing = new Set([...carried.map(({ before }) => before), ...each.map(({ value }) => value)]);
  const builder = new GraphBuilder();
  const inside: Node[] = [];
  for (const node of graph.nodes) {
    if (!node.inputs.some((input) => input && changing.has(input))) builder.append(node);
    else {
      inside.push(node);
      for (const output of node.outputs) changing.add(output);
    }
  }
  const kept = graph.outputs.filter(({ name }) => !name.startsWith('next/'));
  const body: Graph = {
    inputs: [...carried.map(({ before }) => named(before)), ...each],
    nodes: inside,
    outputs: [...carried.map(({ after }) => named(after)), ...kept],
  };
  const outer = new Map([...carried.map(({ before }) => before), ...each.map(({ value }) => value)].map((v) => [v, v]));
  for (const { before } of carried) outer.set(before, { shape: before.shape, dtype: before.dtype });
  for (const { value } of each) outer.set(value, withSteps(value, steps, axis));
  // ONNX's Scan takes the number of its steps from its inputs per step, so it needs at least one.
  if (found.length === 0)
    outer.set(each[0].value, constant(new Float32Array(steps), axis === 0 ? [steps] : [1, steps], 'float32'));
  const results = builder.append({
    op: 'Scan',
    inputs: body.inputs.map(({ value }) => outer.get(value)),
    outputs: [
      ...carried.map(({ after }) => ({ shape: after.shape, dtype: after.dtype })),
      ...kept.map(({ value }) => withSteps(value, steps, axis)),
    ],
    attributes: {
      num_scan_inputs: each.length,
      scan_input_axes: each.map(() => axis),
      scan_output_axes: kept.map(() => axis),
    },
    body,
  });
  const known = new Set(graph.inputs.map(({ value }) => value));
  const added = carried.filter(({ before }) => !known.has(before)).map(({ before, name }) => ({ name, value: before }));
  const inputs = [...graph.inputs, ...added].map(({ name, value }) => ({ name, value: outer.get(value) ?? value }));
  const names = [...carried.map(({ name }) => `next/${name.slice('state/'.length)}`), ...kept.map(({ name }) => name)];
  return { inputs, nodes: builder.nodes, outputs: names.map((name, i) => ({ name, value: results[i] })) };
}

/** A variable that a step replaces. */
interface Carried {
  /** `state/GROUP/NAME` */
  readonly name: string;
  readonly before: Value;
  readonly after: Value;
}

function carriedState(graph: Graph): Carried[] {
  const before = new Map(graph.inputs.map(({ name, value }) => [name, value]));
  return graph.outputs.flatMap(({ name: next, value: after }) => {
    if (!next.startsWith('next/')) return [];
    const name = `state/${next.slice('next/'.length)}`;
    return { name, before: before.get(name) ?? { shape: after.shape, dtype: after.dtype }, after };
  });
}

/** Names inside a body have no meaning outside. */
function named(value: Value): NamedValue {
  return { name: '', value };
}

function withSteps({ shape, dtype }: Value, steps: number, axis: number): Value {
  return { shape: [...shape.slice(0, axis), steps, ...shape.slice(axis)], dtype };
}
