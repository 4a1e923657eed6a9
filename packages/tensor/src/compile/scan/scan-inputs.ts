import { fail, type NDArray } from '@coplay/core';
import { isArray } from '../convert';
import { leavesOf, mapTree, type Tree } from '../tree';

/** Name of the inputs of which each step has its own. */
const EACH = 'each';

/** Whether an input of a graph has another value in each step. */
export function isEachInput(name: string): boolean {
  return name.startsWith(`in/${EACH}/`);
}

/**
 * S, from inputs `{ each: [S, ...] }`, or `[A, S, ...]` with an axis of members before it.
 *
 * @throws CoplayError where there are none, or of different numbers of steps
 */
export function stepCount(where: string, inputs: Tree<NDArray>, axis: 0 | 1 = 0): number {
  const expected = `inputs.${EACH} with arrays [${axis === 0 ? '' : 'A, '}S, ...], one part for each step`;
  const each = leavesOf(where, inputs, isArray).filter(([path]) => path.startsWith(`${EACH}/`));
  if (each.length === 0) fail(where, expected, 'none', `Give ${EACH}: { name: array }.`);
  const steps = each[0][1].shape[axis] ?? 0;
  for (const [path, { shape }] of each) {
    if (steps < 1 || shape[axis] !== steps) fail(where, expected, `${path} [${shape}]`, 'Give each step its own.');
  }
  return steps;
}

/** The inputs of one step, without the axis of steps: views. */
export function inputsOfStep(inputs: Tree<NDArray>, step: number): Tree<NDArray> {
  const { [EACH]: each, ...shared } = inputs as Record<string, Tree<NDArray>>;
  const own = mapTree(each, isArray, ({ data, shape }): NDArray => {
    const size = data.length / shape[0];
    return { data: data.subarray(step * size, (step + 1) * size), shape: shape.slice(1) };
  });
  return { ...shared, [EACH]: own };
}
