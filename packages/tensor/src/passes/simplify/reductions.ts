import type { Node, RewriteContext, Rule, Value } from '../../graph';
import { elements } from '../../graph';
import { integerOf, isLike, madeBy, reducedAxes } from '../patterns';
import { reshape } from './shapes';

/** Reductions of nothing, and log-softmax written out. */
export const reductionRules: Readonly<Record<string, Rule>> = {
  ReduceSum: overOnes,
  ReduceMean: overOnes,
  ReduceMax: overOnes,
  ReduceMin: overOnes,
  ReduceProd: overOnes,
  Sub: logSoftmax,
};

/** A reduction of axes of size 1 only drops them. */
function overOnes({ inputs: [x], outputs: [output] }: Node, context: RewriteContext): readonly Value[] | undefined {
  return elements(x!) === elements(output) ? [reshape(context, x!, output.shape)] : undefined;
}

/** z - log sum exp z with z = x - max x, over the last axis: tfjs's log-softmax. */
function logSoftmax(node: Node, context: RewriteContext): readonly Value[] | undefined {
  const [shifted, logSum] = node.inputs;
  const sum = madeBy(madeBy(logSum, context, 'Log')?.inputs[0], context, 'ReduceSum');
  const exp = madeBy(sum?.inputs[0], context, 'Exp');
  const shift = madeBy(shifted, context, 'Sub');
  const most = largest(shift?.inputs[1], context);
  const x = shift?.inputs[0];
  if (!sum || !most || !x || exp?.inputs[0] !== shifted || most.inputs[0] !== x) return undefined;
  if (!isLike(x, node.outputs[0]) || ![sum, most].every(isLastKept)) return undefined;
  return [context.builder.op('LogSoftmax', [x], node.outputs[0], { axis: -1 })];
}

/** The reduction behind a maximum: itself, or the first part of the sum that keeps NaN in it (see the trace of Max). */
function largest(value: Value | undefined, context: RewriteContext): Node | undefined {
  const sum = madeBy(value, context, 'Add');
  if (!sum) return madeBy(value, context, 'ReduceMax');
  const traces = madeBy(madeBy(sum.inputs[1], context, 'ReduceSum')?.inputs[0], context, 'Clip');
  const most = madeBy(sum.inputs[0], context, 'ReduceMax');
  return most && traces?.inputs[0] === most.inputs[0] ? most : undefined;
}

function isLastKept(node: Node): boolean {
  const axes = reducedAxes(node);
  return axes.length === 1 && axes[0] === node.inputs[0]!.shape.length - 1 && integerOf(node, 'keepdims', 1) === 1;
}
