import { type Graph, type Rule, rewrite } from '../../graph';
import { arithmeticRules } from './arithmetic';
import { broadcastRules } from './broadcasts';
import { joinRules } from './joins';
import { reductionRules } from './reductions';
import { shapeRules } from './shapes';

const rules = mergeRules([broadcastRules, arithmeticRules, shapeRules, joinRules, reductionRules]);

/**
 * Algebra: what adds 0, multiplies by 1, undoes or repeats itself. Results are the same to within a unit in the last
 * place, save that 0 may change its sign.
 */
export function simplify(graph: Graph): Graph {
  return rewrite(graph, (node, context) => {
    if (node.domain !== undefined) return undefined;
    for (const rule of rules.get(node.op) ?? []) {
      const values = rule(node, context);
      if (values) return values;
    }
    return undefined;
  });
}

function mergeRules(groups: readonly Readonly<Record<string, Rule>>[]): Map<string, readonly Rule[]> {
  const merged = new Map<string, readonly Rule[]>();
  for (const group of groups) {
    for (const [op, rule] of Object.entries(group)) merged.set(op, [...(merged.get(op) ?? []), rule]);
  }
  return merged;
}
