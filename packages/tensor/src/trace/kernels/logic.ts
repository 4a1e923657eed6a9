import { type GraphBuilder, reshape, type Value } from '../../graph';
import { kernel } from '../kernel';
import { cast, elementwise, where } from './arithmetic';

/** Comparisons, logic and selection. */
export function registerLogic(): void {
  for (const [name, op] of Object.entries(ORDER)) {
    kernel(name, ({ inputs: { a, b }, graph }) => {
      const [x, y] = [a!, b!].map((z) => (z.dtype === 'bool' ? cast(graph, z, 'int32') : z));
      return elementwise(graph, op, x, y, 'bool');
    });
  }
  kernel('Equal', ({ inputs: { a, b }, graph }) => elementwise(graph, 'Equal', a!, b!, 'bool'));
  kernel('NotEqual', ({ inputs: { a, b }, graph }) => not(graph, elementwise(graph, 'Equal', a!, b!, 'bool')));
  kernel('LogicalNot', ({ inputs: { x }, graph }) => not(graph, cast(graph, x!, 'bool')));
  for (const [name, op] of Object.entries({ LogicalAnd: 'And', LogicalOr: 'Or' })) {
    kernel(name, ({ inputs: { a, b }, graph }) =>
      elementwise(graph, op, cast(graph, a!, 'bool'), cast(graph, b!, 'bool')),
    );
  }
  kernel('Select', ({ inputs: { condition, t, e }, graph }) => select(graph, condition!, t!, e!));
}

const ORDER = { Greater: 'Greater', GreaterEqual: 'GreaterOrEqual', Less: 'Less', LessEqual: 'LessOrEqual' };

function not(graph: GraphBuilder, x: Value): Value {
  return graph.op('Not', [x], x);
}

const RANKS = { bool: 0, int32: 1, float32: 2, uint8: 0, int64: 1 };

/** A condition of one axis picks whole rows, as in tfjs. The result has the wider dtype of the two. */
function select(graph: GraphBuilder, condition: Value, t: Value, e: Value): Value {
  const rank = t.shape.length;
  const isRowwise = condition.shape.length === 1 && rank > 1;
  const column = isRowwise ? [condition.shape[0], ...Array<number>(rank - 1).fill(1)] : condition.shape;
  const dtype = RANKS[t.dtype] < RANKS[e.dtype] ? e.dtype : t.dtype;
  const chosen = reshape(graph, cast(graph, condition, 'bool'), column);
  return where(graph, chosen, cast(graph, t, dtype), cast(graph, e, dtype));
}
