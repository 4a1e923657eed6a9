import { elements, type Graph, type Node, type Value } from '../graph';
import { elementwiseCode } from './kernels/elementwise-ops';

/** Nodes that are computed together: one, or several that work on each number by itself, in one loop. */
export interface Unit {
  readonly nodes: readonly Node[];
  readonly isFused: boolean;
  /** Values that other units read, or that go out. */
  readonly results: readonly Value[];
}

/** Operations whose result is another view of their first operand. */
const VIEWS = new Set(['Reshape', 'Squeeze', 'Unsqueeze', 'Expand', 'Transpose', 'Slice', 'Split']);

/** Whether a node makes no numbers of its own. */
function isViewNode({ op }: Node): boolean {
  return VIEWS.has(op);
}

/** Whether a node only changes the shape: the numbers keep their order. */
export function keepsOrder({ op }: Node): boolean {
  return op === 'Reshape' || op === 'Squeeze' || op === 'Unsqueeze';
}

/** More nodes in a loop than this would need more registers than there are, again and again. */
const MOST = 48;

/** Nodes under construction as a unit. */
class Draft {
  nodes: Node[] = [];
  readonly before = new Set<Draft>();
  /** Places of the first and the last node in the graph. */
  first = 0;
  last = 0;
  /** Products of sizes at which axes must be cut. */
  cuts: readonly number[] = [];
  /** The unit that took over the nodes. */
  joined: Draft | undefined;

  constructor(readonly size: number | undefined) {}
}

/**
 * The nodes of a graph as units, each after the units that it reads. An elementwise node joins the unit of the node
 * that it reads if both have the same number of elements and no other unit must run between them. Nodes that only make
 * views belong to no unit.
 */
export function unitsOf(graph: Graph): Unit[] {
  return new Fusion(graph).units();
}

class Fusion {
  private readonly makers = new Map<Value, Node>();
  private readonly drafts = new Map<Node, Draft>();

  constructor(private readonly graph: Graph) {
    for (const node of graph.nodes) for (const output of node.outputs) this.makers.set(output, node);
  }

  units(): Unit[] {
    this.graph.nodes.forEach((node, place) => {
      if (!isViewNode(node)) this.add(node, place);
    });
    const readers = this.readersOfRoots();
    const outgoing = new Set(this.graph.outputs.map(({ value }) => this.root(value)));
    return this.inOrder().map((draft) => ({
      nodes: draft.nodes,
      isFused: draft.size !== undefined,
      results: draft.nodes
        .flatMap(({ outputs }) => outputs)
        .filter((value) => outgoing.has(value) || [...(readers.get(value) ?? [])].some((one) => one !== draft)),
    }));
  }

  private add(node: Node, place: number): void {
    const [output] = node.outputs;
    const size = elementwiseCode(node) ? elements(output) : undefined;
    const draft = new Draft(size);
    draft.nodes.push(node);
    draft.first = place;
    draft.last = place;
    this.drafts.set(node, draft);
    const isRepeated = node.inputs.some((input) => input && ![1, size].includes(elements(input)));
    if (size !== undefined && isRepeated) draft.cuts = cutsOf(output.shape);
    for (const value of readsOf(node)) {
      const maker = this.makers.get(this.root(value));
      if (maker) draft.before.add(this.drafts.get(maker)!);
    }
    if (size === undefined) return;
    let unit = draft;
    for (const input of node.inputs) {
      const maker = input && this.flatMaker(input, size);
      const other = maker && this.drafts.get(maker);
      if (other && other !== unit && this.canJoin(other, unit)) unit = this.join(other, unit);
    }
  }

  /** The elementwise node of so many numbers that makes a value, in the same order. */
  private flatMaker(value: Value, size: number): Node | undefined {
    const maker = this.makers.get(value);
    if (!maker) return undefined;
    if (keepsOrder(maker)) return this.flatMaker(maker.inputs[0]!, size);
    return this.drafts.get(maker)?.size === size ? maker : undefined;
  }

  private canJoin(a: Draft, b: Draft): boolean {
    if (a.size !== b.size || a.nodes.length + b.nodes.length > MOST) return false;
    if (mergedCuts(a.cuts, b.cuts) === undefined) return false;
    const both = new Set([a, b]);
    if (this.readsOutOfOrder(both)) return false;
    // No unit outside may depend on one of them and be needed by one of them.
    const outside = [...a.before, ...b.before].map(present).filter((one) => !both.has(one));
    return outside.every((one) => !this.dependsOn(one, both));
  }

  /** Whether a node of the joined unit would read another one's numbers in another order. */
  private readsOutOfOrder(both: ReadonlySet<Draft>): boolean {
    for (const draft of both) {
      for (const node of draft.nodes) {
        for (const input of node.inputs) {
          const maker = input && this.makers.get(this.root(input));
          if (maker && both.has(this.drafts.get(maker)!) && this.flatMaker(input, draft.size!) !== maker) return true;
        }
      }
    }
    return false;
  }

  private dependsOn(start: Draft, goals: ReadonlySet<Draft>): boolean {
    const earliest = Math.min(...[...goals].map(({ first }) => first));
    const seen = new Set<Draft>([start]);
    const open = [start];
    for (let draft = open.pop(); draft; draft = open.pop()) {
      for (const found of draft.before) {
        const one = present(found);
        if (goals.has(one)) return true;
        if (one.last < earliest || seen.has(one)) continue;
        seen.add(one);
        open.push(one);
      }
    }
    return false;
  }

  /** Puts the nodes of `from` into `into`. */
  private join(into: Draft, from: Draft): Draft {
    into.nodes.push(...from.nodes);
    into.first = Math.min(into.first, from.first);
    into.last = Math.max(into.last, from.last);
    into.cuts = mergedCuts(into.cuts, from.cuts)!;
    for (const node of from.nodes) this.drafts.set(node, into);
    for (const one of from.before) into.before.add(one);
    from.joined = into;
    return into;
  }

  /** What a value is a view of. */
  private root(value: Value): Value {
    const maker = this.makers.get(value);
    return maker && isViewNode(maker) ? this.root(maker.inputs[0]!) : value;
  }

  private readersOfRoots(): Map<Value, Set<Draft>> {
    const readers = new Map<Value, Set<Draft>>();
    for (const [node, draft] of this.drafts) {
      for (const value of readsOf(node)) {
        const root = this.root(value);
        readers.set(root, (readers.get(root) ?? new Set()).add(draft));
      }
    }
    return readers;
  }

  private inOrder(): Draft[] {
    const places = new Map(this.graph.nodes.map((node, place) => [node, place]));
    const order: Draft[] = [];
    const done = new Set<Draft>();
    const visit = (draft: Draft): void => {
      if (done.has(draft)) return;
      done.add(draft);
      for (const one of draft.before) visit(present(one));
      draft.nodes.sort((a, b) => places.get(a)! - places.get(b)!);
      order.push(draft);
    };
    this.graph.nodes.forEach((node, place) => {
      const draft = this.drafts.get(node);
      if (draft?.last === place) visit(draft);
    });
    return order;
  }
}

function present(draft: Draft): Draft {
  return draft.joined ? present(draft.joined) : draft;
}

/** The values that a node reads. For a loop they include the outer values that its body reads. */
function readsOf(node: Node): Value[] {
  const read = node.inputs.filter((input) => input !== undefined);
  if (!node.body) return read;
  const own = new Set([
    ...node.body.inputs.map(({ value }) => value),
    ...node.body.nodes.flatMap(({ outputs }) => outputs),
  ]);
  const inside = [...node.body.nodes.flatMap(readsOf), ...node.body.outputs.map(({ value }) => value)];
  return [...read, ...inside.filter((value) => !own.has(value))];
}

/** The products of a shape's last sizes. */
export function cutsOf(shape: readonly number[]): number[] {
  const cuts: number[] = [];
  let product = 1;
  for (const size of [...shape].reverse()) {
    product *= size;
    if (size > 1) cuts.push(product);
  }
  return cuts;
}

/** Both lists of cuts as one, in order; undefined if an axis can't be cut at all of them. */
export function mergedCuts(a: readonly number[], b: readonly number[]): number[] | undefined {
  const all = [...new Set([...a, ...b])].sort((x, y) => x - y);
  return all.every((cut, i) => i === 0 || cut % all[i - 1] === 0) ? all : undefined;
}
