import type { Graph, Node, Value } from '../../graph';

/** Nodes that do the same in different steps of a recurrence. */
export interface StepClass {
  /** In the order of the graph. */
  readonly members: readonly Node[];
  /** Whether one member depends on another. */
  readonly isRecurrent: boolean;
  /** Whether a value depends on any member. */
  reaches(value: Value): boolean;
}

/** Fewer alike nodes than this are no recurrence. */
const MANY = 8;

/** How far above a node its likes must be alike too. */
const DEPTH = 3;

/** Finds the nodes that an unrolled recurrence repeats, by what they do and how their operands are made. */
export function stepClasses(graph: Graph): ReadonlyMap<Node, StepClass> {
  const numbered = numberValues(graph);
  const groups = new Map<number, Node[]>();
  const kinds = kindsOf(graph, numbered);
  graph.nodes.forEach((node, i) => {
    const group = groups.get(kinds[i]);
    if (group) group.push(node);
    else groups.set(kinds[i], [node]);
  });
  const classes = new Map<Node, StepClass>();
  for (const members of groups.values()) {
    if (members.length < MANY) continue;
    const made = withoutEnds((from, to) => new Reach(members.slice(from, members.length - to), graph, numbered));
    for (const member of made.members) classes.set(member, made);
  }
  return classes;
}

/** How many members are left out at either end, where the others are independent without them: few first. */
const ENDS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [2, 2],
] as const;

/** First and last steps often differ in what they depend on: without them the rest may be independent. */
function withoutEnds(make: (from: number, to: number) => StepClass): StepClass {
  const whole = make(0, 0);
  if (!whole.isRecurrent || whole.members.length < MANY + 4 || make(2, 2).isRecurrent) return whole;
  return ENDS.map(([from, to]) => make(from, to)).find(({ isRecurrent }) => !isRecurrent)!;
}

/** Numbers of values, and for each node its place and the numbers of its operands. */
interface Numbered {
  readonly numbers: ReadonlyMap<Value, number>;
  readonly makers: ReadonlyMap<Value, number>;
}

function numberValues({ nodes }: Graph): Numbered {
  const numbers = new Map<Value, number>();
  const makers = new Map<Value, number>();
  const number = (value: Value | undefined) => {
    if (value && !numbers.has(value)) numbers.set(value, numbers.size);
  };
  nodes.forEach(({ inputs, outputs }, i) => {
    inputs.forEach(number);
    outputs.forEach(number);
    for (const output of outputs) makers.set(output, i);
  });
  return { numbers, makers };
}

/** A number for each node; equal for nodes whose operands are made alike. */
function kindsOf({ nodes }: Graph, { numbers, makers }: Numbered): readonly number[] {
  let kinds = interned(nodes.map(ownKind));
  for (let depth = 0; depth < DEPTH; depth++) {
    const previous = kinds;
    kinds = interned(
      nodes.map((node, i) => {
        const operands = node.inputs.map((input) => {
          const maker = input && makers.get(input);
          if (maker === undefined) return input ? `v${numbers.get(input)}` : '';
          const { outputs } = nodes[maker];
          // Parts of many are the steps themselves.
          return `${previous[maker]}.${outputs.length < MANY ? outputs.indexOf(input!) : ''}`;
        });
        return `${previous[i]}(${operands})`;
      }),
    );
  }
  return kinds;
}

function ownKind({ op, domain, attributes, outputs }: Node): string {
  return `${domain ?? ''}${op}${JSON.stringify(attributes)}${outputs.length}:${outputs[0].shape}:${outputs[0].dtype}`;
}

function interned(names: readonly string[]): readonly number[] {
  const known = new Map<string, number>();
  return names.map((name) => {
    const number = known.get(name) ?? known.size;
    known.set(name, number);
    return number;
  });
}

/** What depends on a class, found when first asked for. */
class Reach implements StepClass {
  private reached: Uint8Array | undefined;
  private hasLoop = false;

  constructor(
    readonly members: readonly Node[],
    private readonly graph: Graph,
    private readonly numbered: Numbered,
  ) {}

  get isRecurrent(): boolean {
    this.find();
    return this.hasLoop;
  }

  reaches(value: Value): boolean {
    const number = this.numbered.numbers.get(value);
    return number !== undefined && this.find()[number] === 1;
  }

  private find(): Uint8Array {
    if (this.reached) return this.reached;
    const { numbers, makers } = this.numbered;
    const reached = new Uint8Array(numbers.size);
    const own = new Set(this.members);
    const { nodes } = this.graph;
    for (let i = makers.get(this.members[0].outputs[0])!; i < nodes.length; i++) {
      const isDependent = nodes[i].inputs.some((input) => input && reached[numbers.get(input)!] === 1);
      const isMember = own.has(nodes[i]);
      if (isDependent && isMember) this.hasLoop = true;
      if (isDependent || isMember) for (const output of nodes[i].outputs) reached[numbers.get(output)!] = 1;
    }
    this.reached = reached;
    return reached;
  }
}
