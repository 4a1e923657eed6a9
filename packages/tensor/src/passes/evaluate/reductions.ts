import type { Node, Value } from '../../graph';
import { reducedAxes } from '../patterns';
import { filledBy, offsets, stridesOf } from './arrays';

const FUNCTIONS: Record<string, (entries: number[]) => number> = {
  ReduceSum: sum,
  ReduceMean: (entries) => sum(entries) / entries.length,
  ReduceMax: (entries) => Math.max(...entries),
  ReduceMin: (entries) => Math.min(...entries),
  ReduceProd: (entries) => entries.reduce((product, entry) => product * entry, 1),
};

/** Computes a reduction of a few numbers. */
export function evaluateReduction(node: Node): readonly Value[] | undefined {
  const f = FUNCTIONS[node.op];
  const [x] = node.inputs;
  const [output] = node.outputs;
  if (!f || x!.constant!.length > MOST) return undefined;
  const axes = reducedAxes(node);
  const kept = [...x!.shape.keys()].filter((axis) => !axes.includes(axis));
  const strides = stridesOf(x!.shape);
  const pick = (chosen: readonly number[]) =>
    offsets(
      chosen.map((axis) => x!.shape[axis]),
      chosen.map((axis) => strides[axis]),
    );
  const [outer, inner] = [pick(kept), pick(axes)];
  return [filledBy(output, (i) => f(Array.from(inner, (offset) => x!.constant![outer[i] + offset])))];
}

/**
 * Above this ONNX Runtime's own sum, in another order, would differ noticeably from ours; and folding would take time.
 */
const MOST = 4096;

function sum(entries: number[]): number {
  return entries.reduce((total, entry) => total + entry, 0);
}
