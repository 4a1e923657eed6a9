import { indices, type Node, type RewriteContext, type Rule, type Value } from '../../graph';
import { axisOf, isLike, madeBy } from '../patterns';

/** Concat, Split and Slice that undo or repeat each other. */
export const joinRules: Readonly<Record<string, Rule>> = {
  Concat(node, context) {
    if (node.inputs.length === 1) return [node.inputs[0]!];
    return rejoined(node, context) ?? flattened(node, context);
  },
  Split(node, context) {
    if (node.outputs.length === 1) return [node.inputs[0]!];
    const joined = madeBy(node.inputs[0], context, 'Concat');
    if (!joined || axisOf(joined) !== axisOf(node) || joined.inputs.length !== node.outputs.length) return undefined;
    return joined.inputs.every((part, i) => isLike(part!, node.outputs[i])) ? (joined.inputs as Value[]) : undefined;
  },
  Slice(node, context) {
    const [x] = node.inputs;
    const block = blockOf(node);
    if (isLike(x!, node.outputs[0]) && block) return [x!];
    return block && sliceOfConcat(block, node, context);
  },
};

/** All parts of a Split, joined again in order. */
function rejoined(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const cut = madeBy(node.inputs[0], context, 'Split');
  if (!cut || axisOf(cut) !== axisOf(node) || cut.outputs.length !== node.inputs.length) return undefined;
  return node.inputs.every((part, i) => part === cut.outputs[i]) ? [cut.inputs[0]!] : undefined;
}

/** Parts that are joined along the same axis, and for nothing else. */
function flattened(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const axis = axisOf(node);
  const parts = node.inputs.flatMap((part) => {
    const inner = context.uses(part!) <= 1 ? madeBy(part, context, 'Concat') : undefined;
    return inner && axisOf(inner) === axis ? inner.inputs : [part];
  });
  if (parts.length === node.inputs.length) return undefined;
  return [context.builder.op('Concat', parts, node.outputs[0], { axis })];
}

interface Block {
  readonly axis: number;
  readonly start: number;
  readonly size: number;
}

/** A Slice along one axis with step 1. */
function blockOf({ inputs: [x, starts, , axes, steps], outputs: [output] }: Node): Block | undefined {
  const isPlain = starts?.constant?.length === 1 && axes?.constant?.length === 1;
  if (!isPlain || (steps && steps.constant?.[0] !== 1)) return undefined;
  const rank = x!.shape.length;
  const axis = (axes.constant[0] + rank) % rank;
  const start = starts.constant[0] < 0 ? starts.constant[0] + x!.shape[axis] : starts.constant[0];
  return { axis, start: Math.max(start, 0), size: output.shape[axis] };
}

/** A block within one part of a Concat is a block of that part. */
function sliceOfConcat(
  { axis, start, size }: Block,
  node: Node,
  context: RewriteContext,
): readonly Value[] | undefined {
  const joined = madeBy(node.inputs[0], context, 'Concat');
  if (!joined || axisOf(joined) !== axis) return undefined;
  let before = 0;
  for (const part of joined.inputs) {
    const own = part!.shape[axis];
    if (start >= before && start + size <= before + own) {
      if (size === own) return [part!];
      const bounds = [start - before, start - before + size, axis].map((bound) => indices([bound]));
      return [context.builder.op('Slice', [part, ...bounds], node.outputs[0])];
    }
    before += own;
  }
  return undefined;
}
