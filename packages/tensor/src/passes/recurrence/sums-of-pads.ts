import { type Graph, type RewriteContext, rewrite, type Value } from '../../graph';
import { isUniform } from '../patterns';
import { innerSums, termsOf } from './sums';

/**
 * pad(a) + pad(b) = pad(a + b) where both get the same zeros around them: the gradient of a slice of a weight, which an
 * unrolled recurrence gives once for each step, is added up before it's padded. Terms with different paddings have
 * separate sums.
 */
export function sumsOfPads(graph: Graph): Graph {
  const inner = innerSums(graph);
  return rewrite(graph, (node, context) => {
    if (node.op !== 'Add' || inner.has(node.outputs[0])) return undefined;
    const terms = termsOf(node, inner, context);
    const groups = groupTerms(terms, context);
    if (groups.length === terms.length) return undefined;
    return [
      addUp(
        groups.map((group) => paddedSum(group, context)),
        context,
      ),
    ];
  });
}

/** Groups of terms with equal padding, in the order of their first term; any other term is alone. */
function groupTerms(terms: readonly Value[], context: RewriteContext): readonly (readonly Value[])[] {
  const groups = new Map<string | number, Value[]>();
  terms.forEach((term, i) => {
    const key = paddingOf(term, context) ?? i;
    const group = groups.get(key);
    if (group) group.push(term);
    else groups.set(key, [term]);
  });
  return [...groups.values()];
}

/** The numbers of zeros at each place; undefined for a value that isn't padded with zeros, or is read elsewhere too. */
function paddingOf(term: Value, context: RewriteContext): string | undefined {
  const pad = context.uses(term) <= 1 ? context.maker(term) : undefined;
  if (pad?.op !== 'Pad' || pad.inputs[3] || (pad.attributes['mode'] ?? 'constant') !== 'constant') return undefined;
  const [, sizes, filling] = pad.inputs;
  return sizes?.constant && (!filling || isUniform(filling, 0)) ? sizes.constant.join() : undefined;
}

function paddedSum(terms: readonly Value[], context: RewriteContext): Value {
  if (terms.length === 1) return terms[0];
  const pads = terms.map((term) => context.maker(term)!);
  const sum = addUp(
    pads.map(({ inputs }) => inputs[0]!),
    context,
  );
  return context.builder.append({
    ...pads[0],
    inputs: [sum, ...pads[0].inputs.slice(1)],
    outputs: [{ ...terms[0] }],
  })[0];
}

function addUp(terms: readonly Value[], { builder }: RewriteContext): Value {
  return terms.reduce((sum, term) => builder.op('Add', [sum, term], sum));
}
