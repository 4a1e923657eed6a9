import { elements, type Graph, type NamedValue, type Node, rewrite, type Value } from '../graph';
import { deadNodes } from './dead-nodes';

/**
 * The variables of a group lie one after another in memory, so that a graph may read and write them as one vector: an
 * input `state/GROUP/` [N] stands for the concatenation of all float32 variables of the group, an output `next/GROUP/`
 * [N] for all of them being cut from one vector. It removes inputs `state/GROUP/NAME` that are no longer read, so it
 * comes before other passes that remove inputs: it must see every variable of a group.
 *
 * It saves copies of all parameters: an optimiser that works on flat vectors joins and cuts them in every step.
 */
export function flatState(graph: Graph): Graph {
  const groups = new StateGroups(graph.inputs);
  const joined = rewrite(graph, (node, { maker }) => {
    if (node.op !== 'Concat' || node.outputs[0].shape.length !== 1) return undefined;
    const vector = wholeOf(node.inputs as readonly Value[], maker, groups);
    return vector && [vector];
  });
  const makers = new Map(joined.nodes.flatMap((node) => node.outputs.map((output) => [output, node])));
  const outputs = joinOutputs(joined.outputs, (values) => wholeOf(values, (value) => makers.get(value), groups));
  return deadNodes({ ...joined, inputs: [...joined.inputs, ...groups.vectors()], outputs });
}

type Maker = (value: Value) => Node | undefined;

/** The vector of which these values, flattened, are the parts from first to last; undefined if there's none. */
function wholeOf(values: readonly Value[], maker: Maker, groups: StateGroups): Value | undefined {
  const parts = values.filter(isFull).map((value) => beforeReshapes(value, maker));
  if (parts.length < 2) return undefined;
  return groups.vectorOf(parts) ?? splitVector(parts, maker(parts[0]));
}

function splitVector(parts: readonly Value[], node: Node | undefined): Value | undefined {
  const vector = node?.op === 'Split' ? node.inputs[0]! : undefined;
  return vector?.shape.length === 1 && areSame(parts, node!.outputs.filter(isFull)) ? vector : undefined;
}

function beforeReshapes(value: Value, maker: Maker): Value {
  const node = maker(value);
  return node?.op === 'Reshape' ? beforeReshapes(node.inputs[0]!, maker) : value;
}

/** Outputs `next/GROUP/NAME` that are the parts of one vector become one. */
function joinOutputs(outputs: readonly NamedValue[], whole: (values: readonly Value[]) => Value | undefined) {
  const vectors = new Map<string, Value>();
  for (const [group, members] of floatMembers(outputs, 'next')) {
    const vector = whole(members);
    if (vector) vectors.set(group, vector);
  }
  const isApart = ({ name, value }: NamedValue) =>
    value.dtype !== 'float32' || !vectors.has(groupOf(name, 'next') ?? '');
  const joined = [...vectors].map(([group, value]) => ({ name: `next/${group}/`, value }));
  return [...outputs.filter(isApart), ...joined];
}

/** The groups that the inputs of a graph come from, and the vectors that were asked for. */
class StateGroups {
  private readonly members: ReadonlyMap<string, readonly Value[]>;
  private readonly made = new Map<string, Value>();

  constructor(inputs: readonly NamedValue[]) {
    this.members = floatMembers(inputs, 'state');
  }

  /** The vector of the group that consists of these values, in this order. */
  vectorOf(values: readonly Value[]): Value | undefined {
    for (const [group, members] of this.members) {
      if (!areSame(values, members)) continue;
      const size = values.reduce((sum, value) => sum + elements(value), 0);
      const vector = this.made.get(group) ?? { shape: [size], dtype: 'float32' as const };
      this.made.set(group, vector);
      return vector;
    }
    return undefined;
  }

  vectors(): NamedValue[] {
    return [...this.made].map(([group, value]) => ({ name: `state/${group}/`, value }));
  }
}

/** The float32 values of each group that aren't empty, in order. Groups that have a vector already are left out. */
function floatMembers(named: readonly NamedValue[], side: 'state' | 'next'): Map<string, Value[]> {
  const members = new Map<string, Value[]>();
  for (const { name, value } of named) {
    const group = groupOf(name, side);
    if (group === undefined || value.dtype !== 'float32' || !isFull(value)) continue;
    members.set(group, [...(members.get(group) ?? []), value]);
  }
  for (const { name } of named) if (name === `${side}/${groupOf(name, side)}/`) members.delete(groupOf(name, side)!);
  return members;
}

function groupOf(name: string, side: 'state' | 'next'): string | undefined {
  const [first, group] = name.split('/', 2);
  return first === side ? group : undefined;
}

function isFull(value: Value): boolean {
  return elements(value) > 0;
}

function areSame(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
