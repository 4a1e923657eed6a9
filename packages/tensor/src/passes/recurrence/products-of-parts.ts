import { elements, type Graph, type Node, type RewriteContext, rewrite, type Value } from '../../graph';
import { axisOf, integerOf, madeBy } from '../patterns';
import { product } from '../products/products';
import { cutRows, joinRows } from './rows';

/**
 * Joins of fewer numbers are left as they are: a product of all at once takes no longer than the products of the parts,
 * and fewer nodes. Graphs of `npm run bench -- compile` have no larger ones. An update of Dreamer (nano, 16 x 32 steps)
 * has 7,560 nodes, and 7,469 with twice this number; in size1m it has 12,134 with half of it, 12,011, and 11,916 with
 * twice. With 0, recurrence takes 7% longer.
 */
const MANY = 2 ** 20;

/**
 * Rows that are joined for nothing but products with narrow matrices are multiplied part by part, and the results
 * joined, which are smaller: concat(a, b) W = concat(a W, b W) and concat(a, b)' D = a' D_1 + b' D_2. It saves the copy
 * of a large array that fits no cache; and products that a recurrence has made step by step already, as an actor's in
 * imagination, are found again.
 *
 * @param least  numbers in a join, from which on it's undone
 */
export function productsOfParts(graph: Graph, least = MANY): Graph {
  const joins = findJoins(graph, least);
  return rewrite(graph, (node, context) => {
    const parts = madeBy(node.inputs[0], context, 'Concat')?.inputs as readonly Value[] | undefined;
    if (!parts || !joins.has(node.inputs[0]!) || !isProductOfRows(node)) return undefined;
    return [isGradient(node) ? sumOfProducts(node, parts, context) : joinedProducts(node, parts, context)];
  });
}

/** Joins that are read by such products alone. */
function findJoins({ nodes, outputs }: Graph, least: number): ReadonlySet<Value> {
  const joins = new Set<Value | undefined>();
  for (const node of nodes) {
    const [output] = node.outputs;
    if (node.op === 'Concat' && axisOf(node) === 0 && output.shape.length === 2 && elements(output) >= least) {
      joins.add(output);
    }
    node.inputs.forEach((input, position) => {
      if (position > 0 || !isProductOfRows(node)) joins.delete(input);
    });
  }
  for (const { value } of outputs) joins.delete(value);
  return joins as ReadonlySet<Value>;
}

/** x W, with a row added or not, or x' D, that is smaller than x. */
function isProductOfRows(node: Node): boolean {
  const { op, inputs, outputs, attributes } = node;
  if ((op !== 'MatMul' && op !== 'Gemm') || attributes['alpha'] !== undefined || attributes['beta'] !== undefined)
    return false;
  const [x, , bias] = inputs;
  if (outputs[0].dtype !== 'float32' || outputs[0].shape.length !== 2 || inputs[1]!.shape.length !== 2) return false;
  if (elements(outputs[0]) >= elements(x!)) return false;
  if (isGradient(node)) return integerOf(node, 'transB', 0) === 0 && bias === undefined;
  return bias === undefined || bias.shape.length < 2;
}

function isGradient(node: Node): boolean {
  return integerOf(node, 'transA', 0) === 1;
}

function joinedProducts(node: Node, parts: readonly Value[], context: RewriteContext): Value {
  const [, matrix, bias] = node.inputs as [Value, Value, Value?];
  const [{ shape, dtype }] = node.outputs;
  const isTransposed = integerOf(node, 'transB', 0) === 1;
  const products = parts.map((part) =>
    product(context, [part, matrix, bias], false, isTransposed, { shape: [part.shape[0], shape[1]], dtype }),
  );
  return joinRows(context, products);
}

function sumOfProducts(node: Node, parts: readonly Value[], context: RewriteContext): Value {
  const [output] = node.outputs;
  const right = cutRows(
    context,
    node.inputs[1]!,
    parts.map(({ shape }) => shape[0]),
  );
  let sum: Value | undefined;
  parts.forEach((part, i) => {
    sum = product(context, [part, right[i], sum], true, false, { shape: output.shape, dtype: output.dtype });
  });
  return sum!;
}
