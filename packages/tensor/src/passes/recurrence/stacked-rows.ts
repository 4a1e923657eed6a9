import { countUses, type Graph, type Node, type RewriteContext, rewrite, sameShape, type Value } from '../../graph';
import { axisOf, madeBy } from '../patterns';
import { reshape, transpose } from '../simplify/shapes';
import { cutRows, joinRows } from './rows';

/**
 * Stacking and unstacking of parts, with a reshape for each, become joining and cutting of rows with one reshape
 * for all. An operation on each part can then be done on all rows at once.
 */
export function stackedRows(graph: Graph): Graph {
  const dropped = unstacked(graph);
  return rewrite(graph, (node, context) => {
    if (node.op === 'Concat') return joined(node, context);
    if (node.op === 'Split' && dropped.has(node.outputs[0])) return cut(node, context);
    return undefined;
  });
}

/** First outputs of Splits into single slices, all of which are read only to drop their axis. */
function unstacked(graph: Graph): ReadonlySet<Value> {
  const uses = countUses(graph);
  const drops = new Map<Value, number>();
  for (const { op, inputs, outputs } of graph.nodes) {
    const [x] = inputs;
    if (op === 'Reshape' && outputs[0].shape.length === x!.shape.length - 1) drops.set(x!, (drops.get(x!) ?? 0) + 1);
  }
  const isDropped = (node: Node) =>
    node.outputs.every((part) => part.shape[axisOf(node)] === 1 && (uses.get(part) ?? 0) === (drops.get(part) ?? 0));
  const splits = graph.nodes.filter(({ op, outputs }) => op === 'Split' && outputs.length > 1);
  return new Set(
    splits.filter((node) => node.outputs[0].shape.length > 2 && isDropped(node)).map(({ outputs }) => outputs[0]),
  );
}

/**
 * The axis to the front, all rows in one matrix, cut; each part gets its axis back, and the Reshape that drops it
 * cancels.
 */
function cut(node: Node, context: RewriteContext): readonly Value[] {
  const [x] = node.inputs as [Value];
  const axis = axisOf(node);
  const rest = [...x.shape.keys()].filter((i) => i !== axis);
  const front = transpose(context, x, [axis, ...rest]);
  const [steps, rows, ...inner] = front.shape;
  const parts = cutRows(context, reshape(context, front, [steps * rows, ...inner]), Array(steps).fill(rows));
  return parts.map((part) => reshape(context, part, node.outputs[0].shape));
}

/** Parts that were each given an axis of size 1 to be joined along. */
function joined(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [output] = node.outputs;
  const axis = axisOf(node);
  const count = node.inputs.length;
  if (count < 2 || output.shape[axis] !== count || output.shape.length < 3) return undefined;
  const plain = output.shape.filter((_, i) => i !== axis);
  const parts = node.inputs.map((input) => {
    const before = madeBy(input, context, 'Reshape')?.inputs[0];
    return before && sameShape(before.shape, plain) ? before : undefined;
  });
  if (parts.some((part) => part === undefined)) return undefined;
  const stacked = reshape(context, joinRows(context, parts as Value[]), [count, ...plain]);
  const perm = [...plain.keys()].map((i) => i + 1);
  perm.splice(axis, 0, 0);
  return [transpose(context, stacked, perm)];
}
