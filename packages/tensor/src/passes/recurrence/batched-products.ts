import { type Graph, type Node, type RewriteContext, rewrite, type Value } from '../../graph';
import { axisOf, integerOf } from '../patterns';
import { product } from '../products/products';
import { cutRows } from './rows';

/** A product of a block of rows, and the products that it can be computed with. */
interface Member {
  /** Which block. */
  readonly index: number;
  readonly group: Group;
}

interface Group {
  size: number;
  /** Once computed: the products of all blocks. */
  parts?: readonly Value[];
}

/**
 * Products of many blocks of rows with the same matrix, where the blocks are cut from one value, are one product that
 * is cut afterwards: the input half of a recurrence whose inputs are known beforehand.
 */
export function batchedProducts(graph: Graph): Graph {
  const members = findMembers(graph);
  return rewrite(graph, (node, context) => {
    const member = members.get(node.outputs[0]);
    if (!member || member.group.size < 2) return undefined;
    member.group.parts ??= batch(node, context);
    return [member.group.parts[member.index]];
  });
}

function findMembers(graph: Graph): ReadonlyMap<Value, Member> {
  const blocks = new Map<Value, { readonly split: Node; readonly index: number }>();
  const groups = new Map<Node, GroupsOfSplit>();
  const members = new Map<Value, Member>();
  for (const node of graph.nodes) {
    if (node.op === 'Split' && axisOf(node) === 0 && node.outputs[0].shape.length === 2) {
      for (const [index, output] of node.outputs.entries()) blocks.set(output, { split: node, index });
    }
    const block = isCandidate(node) ? blocks.get(node.inputs[0]!) : undefined;
    if (!block) continue;
    const own = groups.get(block.split) ?? new GroupsOfSplit();
    groups.set(block.split, own);
    const group = own.of(node);
    group.size++;
    members.set(node.outputs[0], { index: block.index, group });
  }
  return members;
}

/** Groups of products of one Split's blocks, by matrix, bias and whether the matrix is transposed. */
class GroupsOfSplit {
  private readonly groups: { readonly like: Node; readonly group: Group }[] = [];

  of(node: Node): Group {
    const known = this.groups.find(({ like }) => isSame(like, node));
    if (known) return known.group;
    const group: Group = { size: 0 };
    this.groups.push({ like: node, group });
    return group;
  }
}

function isSame(a: Node, b: Node): boolean {
  return a.inputs[1] === b.inputs[1] && a.inputs[2] === b.inputs[2] && isTransposed(a) === isTransposed(b);
}

function isTransposed(node: Node): boolean {
  return integerOf(node, 'transB', 0) === 1;
}

function isCandidate(node: Node): boolean {
  if (node.op === 'MatMul') return node.outputs[0].shape.length === 2;
  const bias = node.inputs[2];
  const isPlain = node.op === 'Gemm' && node.attributes['alpha'] === undefined && integerOf(node, 'transA', 0) === 0;
  return isPlain && (!bias || bias.shape.length === 1);
}

function batch(node: Node, context: RewriteContext): readonly Value[] {
  const [part, matrix, bias] = node.inputs as [Value, Value, Value?];
  const split = context.maker(part)!;
  const [whole] = split.inputs as [Value];
  const output = { shape: [whole.shape[0], node.outputs[0].shape[1]], dtype: whole.dtype };
  const all = product(context, [whole, matrix, bias], false, isTransposed(node), output);
  return cutRows(
    context,
    all,
    split.outputs.map(({ shape }) => shape[0]),
  );
}
