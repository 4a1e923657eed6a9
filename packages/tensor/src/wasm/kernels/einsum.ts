import type { Node, Value } from '../../graph';
import type { Lowering } from '../lowering';
import { Unsupported } from '../steps';
import { inOrder, type View } from '../views';
import { addProduct } from './products';
import { reduceStep } from './reductions';

/** A sum over products of two values as a batch of matrix products; of one value, over some of its axes. */
export function addEinsum(node: Node, lowering: Lowering): void {
  const equation = node.attributes['equation'] as string;
  const [inputs, result] = equation.split('->');
  const labels = inputs.split(',');
  if (labels.length === 1) {
    addSum(labels[0], result, node, lowering);
    return;
  }
  if (labels.length !== 2) throw new Unsupported(`Einsum ${equation}`);
  const [left, right] = labels.map((word, i) => new Labelled(word, lowering.view(node.inputs[i] as Value)));
  const [a, b] = labels;
  const all = [...new Set([...a, ...b])];
  const [batch, inner, rows, columns] = [
    all.filter((label) => a.includes(label) && b.includes(label) && result.includes(label)),
    all.filter((label) => a.includes(label) && b.includes(label) && !result.includes(label)),
    all.filter((label) => a.includes(label) && !b.includes(label)),
    all.filter((label) => !a.includes(label) && b.includes(label)),
  ];
  if ([...rows, ...columns].some((label) => !result.includes(label))) throw new Unsupported(`Einsum ${equation}`);
  const sizeOf = (label: string): number => left.sizeOf(label) ?? right.sizeOf(label)!;
  const sizes = (part: readonly string[]): number[] => part.map(sizeOf);
  const product = (part: readonly string[]): number => sizes(part).reduce((found, size) => found * size, 1);
  const matrix = (labelled: Labelled, parts: readonly (readonly string[])[]): View => {
    const view = labelled.ordered(parts.flat());
    const shape = [product(parts[0]), product(parts[1]), product(parts[2])];
    const packed = lowering.pack(view, { shape: sizes(parts.flat()), dtype: 'float32' });
    return { ...packed, dims: inOrder(shape) };
  };
  const [y] = node.outputs;
  const out = lowering.scratch([product(batch), product(rows), product(columns)], y.dtype);
  addProduct(
    {
      a: matrix(left, [batch, rows, inner]),
      b: matrix(right, [batch, inner, columns]),
      out,
      isInteger: y.dtype !== 'float32',
    },
    lowering,
  );
  const order = [...batch, ...rows, ...columns];
  const made = new Labelled(order.join(''), { ...out, dims: inOrder(sizes(order)) });
  lowering.define(y, made.ordered([...result]));
}

/** Einsum of one array: a transpose, and a sum over the axes that the result lacks. */
function addSum(labels: string, result: string, node: Node, lowering: Lowering): void {
  const [x] = node.inputs as [Value];
  const [y] = node.outputs;
  const gone = [...new Set(labels)].filter((label) => !result.includes(label));
  const ordered = new Labelled(labels, lowering.view(x)).ordered([...result, ...gone]);
  if (gone.length === 0) lowering.define(y, ordered);
  else {
    const packed = lowering.pack(ordered, { shape: ordered.dims.map(({ size }) => size), dtype: x.dtype });
    const axes = gone.map((_, i) => result.length + i);
    lowering.add(reduceStep('Sum', packed, axes, lowering.room(y), x.dtype !== 'float32'));
  }
}

/** A view whose axes have names. An axis that occurs twice is a diagonal. */
class Labelled {
  constructor(
    private readonly labels: string,
    private readonly view: View,
  ) {}

  sizeOf(label: string): number | undefined {
    const axis = this.labels.indexOf(label);
    return axis < 0 ? undefined : this.view.dims[axis].size;
  }

  ordered(labels: readonly string[]): View {
    const dims = labels.map((label) => {
      const own = this.view.dims.filter((_, axis) => this.labels[axis] === label);
      return { size: own[0].size, stride: own.reduce((sum, { stride }) => sum + stride, 0) };
    });
    return { ...this.view, dims };
  }
}
