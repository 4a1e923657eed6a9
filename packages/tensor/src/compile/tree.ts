import { fail, show } from '@coplay/core';
import { isPlainRecord } from '@coplay/core/checks';

/** A record of things, or of such records. */
export type Tree<Leaf> = { readonly [name: string]: Leaf | Tree<Leaf> };

/** A leaf and where it was found: the names joined by `/`. */
export type Entry<Leaf> = readonly [path: string, leaf: Leaf];

/**
 * The leaves of a tree in order of appearance.
 *
 * @throws CoplayError if something else is found, or two leaves have one path
 */
export function leavesOf<Leaf>(
  where: string,
  tree: unknown,
  isLeaf: (x: unknown) => x is Leaf,
  leaf = LEAF,
): Entry<Leaf>[] {
  const found: Entry<Leaf>[] = [];
  const walk = (node: unknown, path: string, depth: number): void => {
    if (isLeaf(node) && depth > 0) found.push([path, node]);
    else if (isPlainRecord(node) && !isLeaf(node)) {
      for (const name in node) {
        checkName(where, name);
        if (depth === DEEPEST)
          fail(where, `records in records, ${DEEPEST} deep at most`, path, 'Is one inside of itself?');
        walk(node[name], path === '' ? name : `${path}/${name}`, depth + 1);
      }
    } else {
      const kind = depth > 0 ? leaf.kind : `a record: ${leaf.kind}, by name`;
      fail(where, `${leaf.root}${path ? `.${path}` : ''} to be ${kind}`, show(node), leaf.remedy);
    }
  };
  walk(tree, '', 0);
  if (new Set(found.map(([path]) => path)).size < found.length) {
    const twice = found.find(([path], i) => found.findIndex(([other]) => other === path) !== i)!;
    fail(where, 'one leaf for each path', `two named ${twice[0]}`, 'Rename one of them.');
  }
  return found;
}

const DEEPEST = 32;

/** Refuses the name that JavaScript's objects can't hold like others. */
export function checkName(where: string, name: string): void {
  if (name === '__proto__') fail(where, 'names that an object can hold', name, 'Choose another one.');
}

/** What leaves are, for messages. */
export interface LeafWords {
  readonly root: string;
  readonly kind: string;
  readonly remedy: string;
}

const LEAF: LeafWords = {
  root: 'inputs',
  kind: 'an array { data, shape }, or a record of them',
  remedy: 'Wrap it: ndarray(data, shape).',
};

/** The same tree with each leaf replaced. */
export function mapTree<Leaf, Next>(
  tree: Tree<Leaf>,
  isLeaf: (x: unknown) => x is Leaf,
  replace: (leaf: Leaf, path: string) => Next,
  path = '',
): Tree<Next> {
  const next: Record<string, Next | Tree<Next>> = {};
  for (const name in tree) {
    const node = tree[name];
    const here = path === '' ? name : `${path}/${name}`;
    next[name] = isLeaf(node) ? replace(node, here) : mapTree(node as Tree<Leaf>, isLeaf, replace, here);
  }
  return next;
}
