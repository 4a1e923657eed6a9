import { fail, show } from '@coplay/core';
import { checkFunction, checkRecord, checkText } from '@coplay/core/checks';
import type { Learner } from './learner';

/** Networks that have been put together, and with which others. */
const stacks = new WeakMap<object, readonly object[]>();

/**
 * Puts learners of one kind (the same networks and options, each with its own weights) together: their networks'
 * evaluations in the same turn run in one graph, and they share the graphs of their updates. Each keeps its own
 * parameters. Learners that are alone of their kind, or declare no `lockstep`, stay as they are.
 *
 * @returns the learners that are together, a list for each kind
 */
export function stackLearners(learners: readonly Learner[]): readonly (readonly Learner[])[] {
  const groups = byKind(learners).filter((members) => members.length > 1);
  for (const members of groups) {
    const networks = members.map(({ lockstep }) => lockstep!.networks);
    if (isStacked(networks)) continue;
    members[0].lockstep!.join(members);
    for (const member of networks) stacks.set(member, networks);
  }
  return groups;
}

function byKind(learners: readonly Learner[]): readonly (readonly Learner[])[] {
  const kinds = new Map<string, Learner[]>();
  for (const learner of learners.flatMap((whole) => [whole, ...(whole.parts ?? [])])) {
    const { lockstep } = learner;
    if (lockstep === undefined) continue;
    checkLockstep(learner.name, lockstep);
    kinds.set(lockstep.kind, [...(kinds.get(lockstep.kind) ?? []), learner]);
  }
  return [...kinds.values()];
}

function checkLockstep(name: string, lockstep: unknown): void {
  const where = `the lockstep of ${name}`;
  checkRecord(where, 'lockstep', lockstep);
  const { kind, networks, join } = lockstep as Readonly<Record<string, unknown>>;
  checkText(where, 'kind', kind);
  checkFunction(where, 'join', join);
  if (networks !== null && (typeof networks === 'object' || typeof networks === 'function')) return;
  fail(
    where,
    'networks, the object that holds the learner’s functions',
    show(networks),
    'Give the same object each time.',
  );
}

function isStacked(networks: readonly object[]): boolean {
  const before = stacks.get(networks[0]);
  return before?.length === networks.length && before.every((member, i) => member === networks[i]);
}
