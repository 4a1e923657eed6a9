import { indices, type Node, type Value } from '../graph';
import type { StackContext } from './stack-context';

/** An operation done for each member apart, and the results stacked: right for every operation, if not fast. */
export function onePerMember(node: Node, context: StackContext): readonly Value[] {
  const { builder, members } = context;
  const inputs = node.inputs.map((input) => perMember(input, context));
  const results = Array.from({ length: members }, (_, member) =>
    builder.append({
      ...node,
      inputs: inputs.map((parts) => parts[member]),
      outputs: node.outputs.map(({ shape, dtype }) => ({ shape, dtype })),
    }),
  );
  return node.outputs.map((output, i) => {
    const parts = results.map((outputs) => context.reshape(outputs[i], [1, ...output.shape]));
    return builder.op('Concat', parts, context.spec(output), { axis: 0 });
  });
}

/** Each member's own value. */
function perMember(value: Value | undefined, context: StackContext): readonly (Value | undefined)[] {
  const { builder, members } = context;
  if (!value || !context.isStacked(value)) return Array(members).fill(value);
  const ones = Array<number>(members).fill(1);
  const part = { shape: [1, ...value.shape], dtype: value.dtype };
  const parts = builder.ops(
    'Split',
    [context.get(value), indices(ones)],
    ones.map(() => part),
    { axis: 0 },
  );
  return parts.map((piece) => context.reshape(piece, value.shape));
}
