import type { Graph, Node, Value } from '../../graph';
import { roleOf } from './joined-nodes';
import { type StepClass, stepClasses } from './step-classes';

/** One operand of all members. */
export interface Column {
  readonly role: 'shared' | 'joined';
  readonly values: readonly (Value | undefined)[];
}

/** Like nodes of different steps that don't depend on each other, in the order of the steps. */
export interface Batch {
  readonly members: readonly Node[];
  readonly columns: readonly Column[];
}

/** All batches that could be made. */
export function batchesOf(graph: Graph): readonly Batch[] {
  const found = stepClasses(graph);
  const free = [...new Set(found.values())].filter(({ isRecurrent }) => !isRecurrent);
  const when = moments(graph, found);
  const sorted = free.map(({ members }) => [...members].sort((a, b) => when.get(a)! - when.get(b)!));
  return aligned(sameSteps(sorted, when, found)).flatMap((members) => {
    const batch = members.length < 2 ? undefined : batchOf(members);
    return batch ? [batch] : [];
  });
}

function batchOf(members: readonly Node[]): Batch | undefined {
  const [first] = members;
  if (first.outputs.length > 1 || first.outputs[0].shape.length === 0) return undefined;
  const columns: Column[] = [];
  for (const position of first.inputs.keys()) {
    const values = members.map(({ inputs }) => inputs[position]);
    const role = roleOf(first, position, values);
    if (!role) return undefined;
    columns.push({ role, values });
  }
  return { members, columns };
}

/**
 * For each node, the position of its latest operand outside any batch; it grows with the time step, in the backward
 * pass too.
 */
function moments(graph: Graph, classes: ReadonlyMap<Node, StepClass>): ReadonlyMap<Node, number> {
  const made = new Map<Value | undefined, number>();
  const when = new Map<Node, number>();
  graph.nodes.forEach((node, i) => {
    const found = classes.get(node);
    if (!found) return;
    const known = node.inputs.flatMap((input) => made.get(input) ?? []);
    const moment = found.isRecurrent || known.length === 0 ? i : Math.max(...known);
    when.set(node, moment);
    for (const output of node.outputs) made.set(output, moment);
  });
  return when;
}

/**
 * Classes cut to the steps that all of them have: first and last steps often differ, and lists that are one longer than
 * others would have to be joined anew. Steps begin with the members of the first recurrent class.
 */
function sameSteps(
  classes: readonly (readonly Node[])[],
  when: ReadonlyMap<Node, number>,
  found: ReadonlyMap<Node, StepClass>,
): readonly (readonly Node[])[] {
  const first = [...found.values()].find(({ isRecurrent }) => isRecurrent);
  if (!first) return classes;
  const starts = first.members.map((member) => when.get(member)!);
  const numbered = classes.map((members) => members.map((member) => stepOf(when.get(member)!, starts)));
  const isStepwise = numbered.map((steps) => new Set(steps).size >= starts.length * MOST);
  const ranges = numbered.filter((_, i) => isStepwise[i]);
  const low = Math.max(1, ...ranges.map((steps) => steps[0]));
  const high = Math.min(starts.length, ...ranges.map((steps) => steps.at(-1)!));
  return classes.map((members, i) =>
    isStepwise[i] ? members.filter((_, j) => numbered[i][j] >= low && numbered[i][j] <= high) : members,
  );
}

/** How many steps have begun by a moment. */
function stepOf(moment: number, starts: readonly number[]): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Rounds of {@link aligned}: a list that got shorter may leave another one without partners. With 2, gru-64-256 has
 * 1,328 instead of 1,216 nodes, and with 8 one fewer. With 0, graphs of GRUs have 10 nodes fewer, but that of Dreamer
 * in size1m has 12,377 instead of 12,011.
 */
const ROUNDS = 4;

/**
 * Members at either end that have no partner in a class that's read from, or no reader, are left out, so that lists
 * match.
 */
function aligned(classes: readonly (readonly Node[])[]): readonly (readonly Node[])[] {
  let lists = classes;
  for (let round = 0; round < ROUNDS; round++) lists = alignOnce(lists);
  return lists;
}

function alignOnce(classes: readonly (readonly Node[])[]): readonly (readonly Node[])[] {
  const places = new Map<Value | undefined, number>();
  const read = new Set<Value | undefined>();
  classes.forEach((members, i) => {
    for (const { outputs } of members) places.set(outputs[0], i);
  });
  for (const members of classes) {
    for (const { inputs } of members) for (const input of inputs) if (places.has(input)) read.add(input);
  }
  return classes.map((members) => {
    if (members.length < 2) return members;
    const sources = members[0].inputs.map((_, position) => usualSource(members, position, places));
    const paired = members.filter(({ inputs }) =>
      sources.every((source, position) => source === undefined || places.get(inputs[position]) === source),
    );
    const wanted = paired.filter(({ outputs }) => read.has(outputs[0]));
    return wanted.length >= members.length * MOST ? wanted : paired;
  });
}

/** Which class most members take an operand from, if it's one. */
function usualSource(members: readonly Node[], position: number, places: ReadonlyMap<Value | undefined, number>) {
  const middle = members[members.length >> 1].inputs[position];
  const source = places.get(middle);
  if (source === undefined) return undefined;
  const count = members.filter(({ inputs }) => places.get(inputs[position]) === source).length;
  return count >= members.length * MOST ? source : undefined;
}

/**
 * Share of a class that must have partners for the rest to be left out. Trades members that are left out for joins of
 * lists that don't match. Halved, no graph of `npm run bench -- compile` changes. With 1, gru-64-256 has 1,426 instead
 * of 1,216 nodes. With 0, gru-64-64 has 1,791 instead of 1,159 and takes 7% longer.
 */
const MOST = 0.7;

/** The batch whose result is this column, if there is one. */
export function sourceOf({ values }: Column, batches: readonly Batch[]): Batch | undefined {
  return batches.find(
    ({ members }) =>
      members[0].outputs[0] === values[0] &&
      members.length === values.length &&
      members.every(({ outputs }, i) => outputs[0] === values[i]),
  );
}

/** Whether a member is read by anything but the columns of batches. */
export function isReadOutside(
  { members }: Batch,
  batches: readonly Batch[],
  uses: ReadonlyMap<Value, number>,
): boolean {
  const own = { role: 'joined', values: members.map(({ outputs }) => outputs[0]) } as const;
  const inside = batches
    .flatMap(({ columns }) => columns)
    .filter(({ values }) => sameValues(values, own.values)).length;
  return own.values.some((value) => (uses.get(value) ?? 0) > inside);
}

function sameValues(a: readonly (Value | undefined)[], b: readonly (Value | undefined)[]): boolean {
  return a[0] === b[0] && a.length === b.length && a.every((value, i) => value === b[i]);
}
