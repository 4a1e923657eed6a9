import { type Graph, indices, type Node, type RewriteContext, rewrite, sameShape, type Value } from '../../graph';
import { axisOf, integerOf, isElementwise, reducedAxes } from '../patterns';
import { product } from '../products/products';
import { joinRows } from './rows';

/**
 * Rows that are computed block by block and then joined are joined first and computed at once: concat(f(a), f(b)) =
 * f(concat(a, b)) for operations that work row by row.
 */
export function joinedNodes(graph: Graph): Graph {
  return rewrite(graph, (node, context) => {
    if (node.op !== 'Concat' || axisOf(node) !== 0) return undefined;
    const joined = join(node.inputs as Value[], context);
    return joined.length === node.inputs.length ? undefined : [joinRows(context, joined)];
  });
}

/** Blocks of rows; the blocks of each run of equal nodes are joined into one. */
function join(parts: readonly Value[], context: RewriteContext): readonly Value[] {
  const runs: Value[][] = [];
  let last: Node | undefined;
  for (const part of parts) {
    const maker = context.uses(part) <= 1 ? context.maker(part) : undefined;
    if (maker && last && isAlike(last, maker)) runs.at(-1)!.push(part);
    else runs.push([part]);
    last = maker;
  }
  return runs.flatMap((run) => (run.length === 1 ? run : (joinRun(run, context) ?? run)));
}

/** Whether two nodes differ in their operands alone. */
function isAlike(a: Node, b: Node): boolean {
  if (a.op !== b.op || a.domain !== b.domain || a.inputs.length !== b.inputs.length || a.outputs.length > 1)
    return false;
  if (!sameShape(a.outputs[0].shape, b.outputs[0].shape)) return false;
  return a.attributes === b.attributes || JSON.stringify(a.attributes) === JSON.stringify(b.attributes);
}

/** One node instead of a run of like ones; undefined if they don't work row by row. */
function joinRun(run: readonly Value[], context: RewriteContext): Value | undefined {
  const nodes = run.map((part) => context.maker(part)!);
  const [first] = nodes;
  const shape = [run.length * run[0].shape[0], ...run[0].shape.slice(1)];
  const output = { shape, dtype: run[0].dtype };
  const columns = first.inputs.map((_, i) => nodes.map(({ inputs }) => inputs[i]));
  const roles = columns.map((column, i) => roleOf(first, i, column));
  if (roles.includes(undefined)) return undefined;
  const operands = columns.map((column, i) => {
    if (roles[i] === 'shared') return column[0];
    return joinRows(context, join(column as Value[], context));
  });
  if (first.op === 'MatMul' || first.op === 'Gemm') {
    return product(context, operands as [Value, Value, Value?], false, integerOf(first, 'transB', 0) === 1, output);
  }
  return context.builder.append(onRows(first, operands, output))[0];
}

/** Whether an operand is one for all nodes, or is to be joined too; undefined if neither will do. */
export function roleOf(
  node: Node,
  position: number,
  column: readonly (Value | undefined)[],
): 'shared' | 'joined' | undefined {
  const [operand] = column;
  const isShared = column.every((value) => value === operand);
  if (!operand) return isShared ? 'shared' : undefined;
  const [{ shape }] = node.outputs;
  const isRows = operand.shape.length === shape.length && operand.shape[0] === shape[0];
  const areRows = isRows && column.every((value) => sameShape(value!.shape, operand.shape));
  if (isElementwise(node)) {
    if (areRows && shape[0] > 1) return 'joined';
    const isRepeated = operand.shape.length < shape.length || operand.shape[0] === 1;
    return isShared && isRepeated ? 'shared' : undefined;
  }
  if (isRowProduct(node)) {
    if (position === 0) return areRows ? 'joined' : undefined;
    return isShared && (position === 1 || operand.shape.length === 1) ? 'shared' : undefined;
  }
  if (node.op === 'Concat' && axisOf(node) > 0) return areRows ? 'joined' : undefined;
  if (isRowReshape(node) || isRowSoftmax(node) || isRowReduction(node)) {
    if (position > 0) return node.op === 'Reshape' || isShared ? 'shared' : undefined;
    return column.every((value) => sameShape(value!.shape, operand.shape)) ? 'joined' : undefined;
  }
  return undefined;
}

function isRowProduct(node: Node): boolean {
  if (node.op === 'MatMul') return node.outputs[0].shape.length === 2 && node.inputs[1]!.shape.length === 2;
  return node.op === 'Gemm' && integerOf(node, 'transA', 0) === 0 && node.attributes['alpha'] === undefined;
}

/** A copy of a node for more rows. */
export function onRows(node: Node, inputs: readonly (Value | undefined)[], output: Value): Node {
  const operands = node.op === 'Reshape' ? [inputs[0], indices(output.shape)] : inputs;
  return { ...node, inputs: operands, outputs: [output] };
}

function isRowReshape({ op, inputs: [x], outputs: [y] }: Node): boolean {
  return op === 'Reshape' && x!.shape.length > 0 && x!.shape[0] === y.shape[0];
}

function isRowSoftmax(node: Node): boolean {
  return (node.op === 'Softmax' || node.op === 'LogSoftmax') && axisOf(node) > 0;
}

function isRowReduction(node: Node): boolean {
  return node.op.startsWith('Reduce') && node.inputs.length === 2 && !reducedAxes(node).includes(0);
}
