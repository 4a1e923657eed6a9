import type { Node, Value } from '../../graph';
import { evaluateElementwise } from './elementwise';
import { evaluateReduction } from './reductions';
import { evaluateShaping } from './shaping';

/** Computes a node whose inputs are all constant; undefined where it doesn't know how. */
export function evaluate(node: Node): readonly Value[] | undefined {
  if (node.domain !== undefined || node.inputs.some((input) => input && !input.constant)) return undefined;
  if (node.inputs.length === 0 || node.outputs.some(({ dtype }) => dtype === 'uint8')) return undefined;
  return evaluateElementwise(node) ?? evaluateShaping(node) ?? evaluateReduction(node);
}
