import { constant, type Node, type Value, type ValueSpec } from '../../graph';
import { axisOf, permOf } from '../patterns';
import { broadcastSteps, filledBy, offsets, room, stridesOf } from './arrays';

const FUNCTIONS: Record<string, (node: Node) => readonly Value[] | undefined> = {
  Reshape: reshaped,
  Squeeze: reshaped,
  Unsqueeze: reshaped,
  Expand: ({ inputs: [x], outputs: [y] }) => [picked(x!, y, broadcastSteps(x!.shape, y.shape))],
  Transpose(node) {
    const strides = stridesOf(node.inputs[0]!.shape);
    const steps = permOf(node).map((axis) => strides[axis]);
    return [picked(node.inputs[0]!, node.outputs[0], steps)];
  },
  Slice({ inputs: [x, starts, , axes, steps], outputs: [y] }) {
    if (steps && Array.from(steps.constant!).some((step) => step !== 1)) return undefined;
    const strides = stridesOf(x!.shape);
    let first = 0;
    starts!.constant!.forEach((start, i) => {
      const axis = axes ? axes.constant![i] : i;
      first += clampStart(start, x!.shape.at(axis)!) * strides.at(axis)!;
    });
    return [picked(x!, y, strides, first)];
  },
  Split(node) {
    const [x] = node.inputs;
    const strides = stridesOf(x!.shape);
    const axis = axisOf(node);
    let before = 0;
    return node.outputs.map((output) => {
      const part = picked(x!, output, strides, before * strides[axis]);
      before += output.shape[axis];
      return part;
    });
  },
  Concat: concatenated,
};

/** Computes a node that moves numbers about. */
export function evaluateShaping(node: Node): readonly Value[] | undefined {
  return FUNCTIONS[node.op]?.(node);
}

function reshaped({ inputs: [x], outputs: [y] }: Node): readonly Value[] {
  return [constant(x!.constant!, y.shape, y.dtype)];
}

function picked(x: Value, y: ValueSpec, steps: readonly number[], start = 0): Value {
  const places = offsets(y.shape, steps, start);
  const data = x.constant!;
  return filledBy(y, (i) => data[places[i]]);
}

function clampStart(start: number, size: number): number {
  return Math.min(Math.max(start < 0 ? start + size : start, 0), size);
}

function concatenated(node: Node): readonly Value[] {
  const [y] = node.outputs;
  const axis = axisOf(node);
  const inner = stridesOf(y.shape)[axis];
  const data = room(
    y.dtype,
    y.shape.reduce((product, d) => product * d, 1),
  );
  let before = 0;
  for (const part of node.inputs) {
    const run = part!.shape[axis] * inner;
    const source = part!.constant!;
    for (let i = 0; i * run < source.length && run > 0; i++) {
      data.set(source.subarray(i * run, (i + 1) * run), i * y.shape[axis] * inner + before);
    }
    before += run;
  }
  return [constant(data, y.shape, y.dtype)];
}
