import { countUses, type Graph, type Node, type Value } from '../../graph';
import { type Batch, batchesOf, isReadOutside, sourceOf } from './batches';
import { gainOf } from './gain';
import { onRows } from './joined-nodes';
import { inOrder } from './order';
import { concatRows, splitRows } from './rows';

/**
 * Computes independent operations of a recurrence's steps for all steps at once: joins the operands of equal nodes
 * along rows, and cuts the results again. Only where that's estimated to take less time.
 */
export function batchedSteps(graph: Graph): Graph {
  const uses = countUses(graph);
  const batches = worthwhile(batchesOf(graph), uses);
  if (batches.length === 0) return graph;
  return inOrder({ ...graph, nodes: rebuilt(graph, batches, uses) }) ?? graph;
}

/** Leaves out batches as long as the rest gains by it. */
function worthwhile(all: readonly Batch[], uses: ReadonlyMap<Value, number>): readonly Batch[] {
  let batches = all;
  let gain = gainOf(batches, uses);
  for (;;) {
    const fewer = batches.map((left) => batches.filter((batch) => batch !== left));
    const gains = fewer.map((rest) => gainOf(rest, uses));
    const best = gains.indexOf(Math.max(...gains));
    if (best < 0 || gains[best] < gain) break;
    [batches, gain] = [fewer[best], gains[best]];
  }
  return gain > 0 ? batches : [];
}

/** The nodes, with the batched ones replaced; not yet in order. */
function rebuilt(graph: Graph, batches: readonly Batch[], uses: ReadonlyMap<Value, number>): readonly Node[] {
  const replaced = new Set(batches.flatMap(({ members }) => members));
  const results = new Map(batches.map((batch) => [batch, resultOf(batch)]));
  const joins = new Joins();
  const added = batches.flatMap((batch): Node[] => {
    const inputs = batch.columns.map((column) => {
      if (column.role === 'shared') return column.values[0];
      const source = sourceOf(column, batches);
      return source ? results.get(source) : joins.of(column.values as Value[]);
    });
    const result = results.get(batch)!;
    const node = onRows(batch.members[0], inputs, result);
    if (!isReadOutside(batch, batches, uses)) return [node];
    const parts = batch.members.map(({ outputs }) => outputs[0]);
    return [node, splitRows(result, parts)];
  });
  return [...graph.nodes.filter((node) => !replaced.has(node)), ...joins.nodes, ...added];
}

function resultOf({ members }: Batch): Value {
  const [{ shape, dtype }] = members[0].outputs;
  return { shape: [shape[0] * members.length, ...shape.slice(1)], dtype };
}

/** Operands of all steps, joined; each list once. */
class Joins {
  readonly nodes: Node[] = [];
  private readonly numbers = new Map<Value, number>();
  private readonly known = new Map<string, Value>();

  of(values: readonly Value[]): Value {
    const key = values.map((value) => this.numberOf(value)).join();
    const found = this.known.get(key);
    if (found) return found;
    const node = concatRows(values);
    this.nodes.push(node);
    this.known.set(key, node.outputs[0]);
    return node.outputs[0];
  }

  private numberOf(value: Value): number {
    const known = this.numbers.get(value);
    if (known !== undefined) return known;
    this.numbers.set(value, this.numbers.size);
    return this.numbers.size - 1;
  }
}
