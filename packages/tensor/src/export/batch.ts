import { fail } from '@coplay/core';
import { type Graph, GraphBuilder, type NamedValue, type Node, sameShape, type Value } from '../graph';
import { type Affine, fitShape } from './affine';
import { batchConstant } from './constants';

/** Graphs of one function, traced at different batch sizes. */
export interface Traces {
  /** The function, for messages. */
  readonly where: string;
  /** The batch size of each graph. */
  readonly batches: readonly number[];
  readonly graphs: readonly Graph[];
  /** An input and its axis that has the batch size. */
  readonly batchInput: string;
  readonly batchAxis: number;
}

/** One graph for any batch size, and how the axes of its outputs depend on it. */
export interface AnyBatch {
  readonly graph: Graph;
  readonly outputSizes: Readonly<Record<string, readonly Affine[]>>;
}

const REMEDY =
  "Compute it with operations on the tensors (tf.mean instead of a division by x.shape[0]), or fix the size: a number instead of 'batch'.";

/**
 * Makes one graph of graphs that were traced at different batch sizes. They must be equal but for sizes: where a list
 * of sizes (the target of a reshape) or the shape of a constant (zeros for each row) grows with the batch, it's
 * computed from the input's shape.
 *
 * @throws CoplayError where something else differs, such as a division by the batch size
 */
export function anyBatch(traces: Traces): AnyBatch {
  return new Generaliser(traces).run();
}

/** A value of the first graph with the values at its place in the others. */
type Row = readonly Value[];

class Generaliser {
  private readonly builder = new GraphBuilder();
  /** By value of the first graph: its row. */
  private readonly rows = new Map<Value, Row>();
  /** By constant of the first graph: its row, and what stands for it. */
  private readonly constants = new Map<Value, { readonly row: Row; readonly made: Value }>();
  private size: Value | undefined;

  constructor(private readonly traces: Traces) {}

  run(): AnyBatch {
    const { graphs, where, batches } = this.traces;
    const [first] = graphs;
    for (const [i, { value }] of first.inputs.entries()) {
      this.rows.set(
        value,
        this.rowOf((graph) => graph.inputs[i]?.value),
      );
    }
    if (graphs.some(({ nodes }) => nodes.length !== first.nodes.length)) {
      const counts = graphs.map(({ nodes }, i) => `${nodes.length} operations at ${batches[i]} rows`).join(', ');
      fail(where, 'the same operations for any batch size', counts, REMEDY);
    }
    for (const i of first.nodes.keys()) this.node(graphs.map(({ nodes }) => nodes[i]));
    const outputSizes: Record<string, readonly Affine[]> = {};
    const outputs = first.outputs.map(({ name }, i): NamedValue => {
      const row = this.rowOf((graph) => graph.outputs[i]?.value);
      outputSizes[name] = this.sizesOf(name, row);
      return { name, value: this.value(row, `output ${name}`) };
    });
    return { graph: { inputs: first.inputs, nodes: this.builder.nodes, outputs }, outputSizes };
  }

  private node(nodes: readonly Node[]): void {
    const [first] = nodes;
    const say = ({ op, attributes }: Node) => `${op} ${JSON.stringify(attributes)}`;
    const odd = nodes.find((node) => say(node) !== say(first) || node.inputs.length !== first.inputs.length);
    if (odd) this.differs(nodes.map(say));
    const inputs = first.inputs.map((input, i) => {
      if (!input) return undefined;
      const row = nodes.map((node) => node.inputs[i]) as Row;
      return this.value(row, first.op, first.op === 'Reshape' && i === 1);
    });
    const isFree = first.op === 'Reshape' && inputs[1]?.constant?.includes(-1) === true;
    this.builder.append({ ...first, inputs, attributes: isFree ? {} : first.attributes });
    for (const [i, output] of first.outputs.entries()) {
      this.rows.set(
        output,
        nodes.map((node) => node.outputs[i]),
      );
    }
  }

  /** What stands for a row of values in the graph for any batch size. */
  private value(row: Row, op: string, isTarget = false): Value {
    const [first] = row;
    const known = this.rows.get(first);
    if (known) {
      if (row.some((value, i) => value !== known[i])) this.differs(row.map(() => `${op} of other values`));
      return first;
    }
    if (row.some((value) => !value?.constant)) this.differs(row.map(() => `${op} of other values`));
    const before = this.constants.get(first);
    if (!isTarget && before && row.every((value, i) => value === before.row[i])) return before.made;
    const made = this.constant(row, op, isTarget);
    if (!isTarget) this.constants.set(first, { row, made });
    return made;
  }

  private constant(row: Row, op: string, isTarget: boolean): Value {
    const { batches, where } = this.traces;
    if (row.every((value) => isSameConstant(value, row[0]))) return row[0];
    const made = batchConstant({ batches, row, isTarget, builder: this.builder, size: () => this.batchSize() });
    if (made) return made;
    const got = row.map((value, i) => `${sayConstant(value)} at ${batches[i]} rows`).join(', ');
    return fail(where, `constants that don't depend on the batch size (here of ${op})`, got, REMEDY);
  }

  /** The batch size [1] as the graph runs. */
  private batchSize(): Value {
    const { graphs, batchInput, batchAxis } = this.traces;
    const { value } = graphs[0].inputs.find(({ name }) => name === batchInput)!;
    const attributes = { start: batchAxis, end: batchAxis + 1 };
    this.size ??= this.builder.op('Shape', [value], { shape: [1], dtype: 'int64' }, attributes);
    return this.size;
  }

  private sizesOf(name: string, row: Row): readonly Affine[] {
    const { batches, where } = this.traces;
    const shapes = row.map(({ shape }) => shape);
    const got = shapes.map((shape, i) => `[${shape}] at ${batches[i]} rows`).join(', ');
    return fitShape(batches, shapes) ?? fail(where, `${name} of a size that follows the batch size`, got, REMEDY);
  }

  private rowOf(pick: (graph: Graph) => Value | undefined): Row {
    const row = this.traces.graphs.map(pick);
    if (row.includes(undefined)) this.differs(row.map((value) => (value ? 'a value' : 'none')));
    return row as Row;
  }

  private differs(said: readonly string[]): never {
    const { where, batches } = this.traces;
    const got = said.map((what, i) => `${what} at ${batches[i]} rows`).join(', ');
    return fail(where, 'the same operations for any batch size', got, REMEDY);
  }
}

function isSameConstant(a: Value, b: Value): boolean {
  if (a === b) return true;
  return (
    a.dtype === b.dtype && sameShape(a.shape, b.shape) && a.constant!.every((x, i) => Object.is(x, b.constant![i]))
  );
}

function sayConstant({ constant, shape }: Value): string {
  return shape.length === 0 || constant!.length <= 4 ? `[${constant}]` : `one of shape [${shape}]`;
}
