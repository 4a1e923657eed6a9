import type { NamedArrays } from '@coplay/core';
import type { ConstantData, Graph, NamedValue, Value } from '../graph';

/** A graph without the new state that it makes: outputs alone. */
export function keepOutputs(graph: Graph): Graph {
  return { ...graph, outputs: graph.outputs.filter(({ name }) => name.startsWith('out/')) };
}

/** A graph in which the inputs of these names are constants. */
export function bindConstants(graph: Graph, arrays: NamedArrays): Graph {
  const bound = new Map<Value, Value>();
  const isFree = ({ name }: NamedValue) => !Object.hasOwn(arrays, name);
  for (const input of graph.inputs) {
    if (isFree(input)) continue;
    bound.set(input.value, { ...input.value, constant: arrays[input.name].data as ConstantData });
  }
  const current = (value: Value) => bound.get(value) ?? value;
  return {
    inputs: graph.inputs.filter(isFree),
    nodes: graph.nodes.map((node) => ({ ...node, inputs: node.inputs.map((input) => input && current(input)) })),
    outputs: graph.outputs.map(({ name, value }) => ({ name, value: current(value) })),
  };
}

/** `in/x` and `out/y` as users know them: `x` and `y`. */
export function stripPrefixes({ inputs, nodes, outputs }: Graph): Graph {
  const strip = ({ name, value }: NamedValue) => ({ name: name.slice(name.indexOf('/') + 1), value });
  return { inputs: inputs.map(strip), nodes, outputs: outputs.map(strip) };
}
