import { countUses, type Graph, type Node, type RewriteContext, rewrite, type Value } from '../../graph';
import { axisOf, integerOf, madeBy } from '../patterns';
import { isProduct, product } from '../products/products';
import { joinRows, sliceRows } from './rows';

/**
 * concat(x, h) W = x Wx + h Wh where x is cut from a value that's known before the recurrence: its half can then be
 * computed for all steps at once. A matrix of a single product is left alone, since it belongs to no recurrence. In the
 * backward pass, only the columns of d W' that are read are computed, separately for x and h.
 */
export function splitProducts(graph: Graph): Graph {
  const uses = countUses(graph);
  const matrices = countMatrices(graph);
  const isRepeated = (node: Node) => (matrices.get(node.inputs[1]!) ?? 0) > 1;
  return rewrite(graph, (node, context) => {
    if (node.op === 'Split') return cutBack(node, context, uses);
    const isPlain = node.op === 'MatMul' || (node.op === 'Gemm' && integerOf(node, 'transB', 0) === 0);
    return isPlain && isRepeated(node) ? cutForward(node, context) : undefined;
  });
}

/** How many products multiply by each matrix, from the right. */
function countMatrices({ nodes }: Graph): ReadonlyMap<Value, number> {
  const counts = new Map<Value, number>();
  for (const { op, inputs } of nodes) {
    if (op !== 'MatMul' && op !== 'Gemm') continue;
    counts.set(inputs[1]!, (counts.get(inputs[1]!) ?? 0) + 1);
  }
  return counts;
}

function cutForward(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [joined, matrix, bias] = node.inputs as [Value, Value, Value?];
  const concat = madeBy(joined, context, 'Concat');
  const isRow = !bias || bias.shape.length === 1;
  const isPlain = integerOf(node, 'transA', 0) === 0 && node.attributes['alpha'] === undefined;
  if (!concat || !isRow || !isPlain || joined.shape.length !== 2 || axisOf(concat) !== 1) return undefined;
  const parts = concat.inputs as Value[];
  const known = parts.map((part) => isKnown(part, context));
  if (!known.includes(true)) return undefined;
  // One product for each known part: each can be batched by itself.
  let sum = bias;
  const multiply = (left: Value, rows: readonly number[]) => {
    sum = product(context, [left, rowsFor(context, matrix, parts, rows), sum], false, false, node.outputs[0]);
  };
  parts.forEach((part, i) => {
    if (known[i]) multiply(part, [i]);
  });
  const others = [...parts.keys()].filter((i) => !known[i]);
  if (others.length > 0)
    multiply(
      joinColumns(
        context,
        others.map((i) => parts[i]),
      ),
      others,
    );
  return [sum!];
}

/** Whether a value is cut out of one that's computed for all steps. */
function isKnown(part: Value, context: RewriteContext): boolean {
  const split = madeBy(part, context, 'Split');
  return split !== undefined && axisOf(split) === 0;
}

/** The rows of a matrix that belong to these parts of the left operand. */
function rowsFor(context: RewriteContext, matrix: Value, parts: readonly Value[], chosen: readonly number[]): Value {
  const starts = [0];
  for (const { shape } of parts) starts.push(starts.at(-1)! + shape[1]);
  return joinRows(
    context,
    chosen.map((i) => sliceRows(context, matrix, starts[i], parts[i].shape[1])),
  );
}

function joinColumns({ builder }: RewriteContext, parts: readonly Value[]): Value {
  if (parts.length === 1) return parts[0];
  const columns = parts.reduce((sum, { shape }) => sum + shape[1], 0);
  return builder.op('Concat', parts, { shape: [parts[0].shape[0], columns], dtype: parts[0].dtype }, { axis: 1 });
}

/**
 * The parts of a d W' that are read, each as a product of its own; where one is left, or all others are only collected.
 */
function cutBack(node: Node, context: RewriteContext, uses: ReadonlyMap<Value, number>): readonly Value[] | undefined {
  const [x] = node.inputs as [Value];
  const maker = madeBy(x, context, 'Gemm');
  if (!maker || !isProduct(maker) || axisOf(node) !== 1 || context.uses(x) > 1) return undefined;
  if (integerOf(maker, 'transA', 0) === 1 || integerOf(maker, 'transB', 0) === 0) return undefined;
  if (node.outputs.filter((output) => uses.has(output)).length !== 1) return undefined;
  const [left, matrix] = maker.inputs as [Value, Value];
  let start = 0;
  return node.outputs.map((output) => {
    const columns = output.shape[1];
    const before = start;
    start += columns;
    if (!uses.has(output)) return output;
    return product(context, [left, sliceRows(context, matrix, before, columns)], false, true, output);
  });
}
