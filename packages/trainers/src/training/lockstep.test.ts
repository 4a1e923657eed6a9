import { expect, it } from 'vitest';
import type { Learner } from './learner';
import { stackLearners } from './lockstep';

/** A learner of a kind, which notes with whom it is put together. */
function learner(name: string, kind: string | undefined, joined: string[], parts: readonly Learner[] = []) {
  const one = {
    name,
    parts,
    networks: {},
    get lockstep() {
      const join = (others: readonly Learner[]) => void joined.push(others.map((other) => other.name).join(' '));
      return kind === undefined ? undefined : { kind, networks: one.networks, join };
    },
  };
  return one as unknown as Learner & { networks: object };
}

it('puts learners of one kind together, and parts of learners with them; others stay as they are', () => {
  const joined: string[] = [];
  const part = learner('d', 'x', joined);
  const groups = stackLearners([
    learner('a', 'x', joined),
    learner('b', 'y', joined),
    learner('c', undefined, joined),
    learner('whole', undefined, joined, [part]),
    learner('e', 'z', joined),
    learner('f', 'y', joined),
  ]);
  expect(joined).toEqual(['a d', 'b f']);
  expect(groups.map((members) => members.map(({ name }) => name).join(' '))).toEqual(joined);
});

it('does so once, and again where networks were replaced or others come', () => {
  const joined: string[] = [];
  const [a, b, c] = ['a', 'b', 'c'].map((name) => learner(name, 'x', joined));
  stackLearners([a, b]);
  expect(stackLearners([a, b])).toEqual([[a, b]]);
  expect(joined).toEqual(['a b']);
  b.networks = {};
  stackLearners([a, b]);
  stackLearners([a, b, c]);
  expect(joined).toEqual(['a b', 'a b', 'a b c']);
});
