import type { Learner } from './learner';

/** How learners of one kind are put together. */
interface StackRecipe<One extends Learner, Networks extends object> {
  is(learner: Learner): learner is One;
  /** What learners must have in common to be computed by one graph; undefined for one that stays as it is. */
  kindOf(learner: One): string | undefined;
  networksOf(learner: One): Networks;
  /** Gives all of them functions that run in one graph. */
  stack(learners: readonly One[], networks: readonly Networks[]): void;
}

/**
 * A function that puts learners of one kind (the same networks and options, each with its own weights) together: what they ask of
 * their networks in the same turn runs in one graph, and they share the graphs of their updates. What each of them learns stays its
 * own. Learners that are alone of their kind stay as they are, and so do those that have been put together before.
 */
export function stackerOf<One extends Learner, Networks extends object>(recipe: StackRecipe<One, Networks>) {
  /** Networks that have been put together, and with which others. */
  const stacks = new WeakMap<Networks, readonly Networks[]>();
  const isStacked = (networks: readonly Networks[]) => {
    const before = stacks.get(networks[0]);
    return before?.length === networks.length && before.every((member, i) => member === networks[i]);
  };
  return (learners: readonly Learner[]): void => {
    for (const members of byKind(learners, recipe)) {
      const networks = members.map((learner) => recipe.networksOf(learner));
      if (members.length < 2 || isStacked(networks)) continue;
      recipe.stack(members, networks);
      for (const member of networks) stacks.set(member, networks);
    }
  };
}

function byKind<One extends Learner, Networks extends object>(
  learners: readonly Learner[],
  recipe: StackRecipe<One, Networks>,
): One[][] {
  const kinds = new Map<string, One[]>();
  for (const learner of learners.flatMap((whole) => [whole, ...(whole.parts ?? [])])) {
    if (!recipe.is(learner)) continue;
    const kind = recipe.kindOf(learner);
    if (kind !== undefined) kinds.set(kind, [...(kinds.get(kind) ?? []), learner]);
  }
  return [...kinds.values()];
}
