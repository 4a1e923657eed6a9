import type { NDArray } from '@coplay/core';
import { isArray } from '../convert';
import { leavesOf, mapTree, type Tree } from '../tree';

/** Members' arrays as one tree of arrays [A, ...]. */
export function joinMembers(results: readonly Tree<NDArray>[]): Tree<NDArray> {
  const byMember = results.map((tree) => new Map(leavesOf('joinMembers', tree, isArray)));
  return mapTree(results[0], isArray, (first, path) => {
    const parts = byMember.map((leaves) => leaves.get(path)!.data);
    const Kind = first.data.constructor as new (size: number) => Float32Array;
    const data = new Kind(first.data.length * parts.length);
    parts.forEach((part, i) => {
      data.set(part as Float32Array, i * part.length);
    });
    return { data, shape: [parts.length, ...first.shape] };
  });
}
