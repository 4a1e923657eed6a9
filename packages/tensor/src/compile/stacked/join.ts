import { allocate, type NDArray } from '@coplay/core';
import { dtypeOf } from '@coplay/core/arrays';
import { isArray } from '../convert';
import { type Entry, leavesOf, mapTree, type Tree } from '../tree';

/**
 * Whether members' arrays can be joined: the same names, shapes and dtypes.
 *
 * @param where  whose inputs they are, as messages say it
 */
export function areAlike(where: string, trees: readonly Tree<NDArray>[]): boolean {
  const kinds = trees.map((tree) => leavesOf(where, tree, isArray).map(kindOf).sort().join(';'));
  return kinds.every((kind) => kind === kinds[0]);
}

function kindOf([path, { data, shape }]: Entry<NDArray>): string {
  return `${path} ${dtypeOf(data)} ${shape}`;
}

/** Members' arrays, which have equal shapes, as one tree of arrays [A, ...]. */
export function joinMembers(results: readonly Tree<NDArray>[]): Tree<NDArray> {
  const byMember = results.map((tree) => new Map(leavesOf('joinMembers', tree, isArray)));
  return mapTree(results[0], isArray, (first, path) => {
    const parts = byMember.map((leaves) => leaves.get(path)!.data);
    const data = allocate(dtypeOf(first.data), first.data.length * parts.length);
    parts.forEach((part, i) => {
      data.set(part, i * part.length);
    });
    return { data, shape: [parts.length, ...first.shape] };
  });
}
