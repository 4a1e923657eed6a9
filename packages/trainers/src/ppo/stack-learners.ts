import type { NamedArrays } from '@coplay/core';
import { compileTogether, stackVariables } from '@coplay/tensor';
import type { Learner } from '../learner';
import { valueStep } from './critic';
import { PpoLearner } from './learner';
import { isFiniteStep, type PpoNetworks, stepOf } from './networks';
import { actStep } from './policy';
import { padRows } from './rows';
import type { PpoSetup } from './setup';

/** Networks that have been put together, and with which others. */
const stacks = new WeakMap<PpoNetworks, readonly PpoNetworks[]>();

/**
 * Puts PPO learners of one kind (the same networks and options, each with its own weights) together, so that what they do in
 * the same turn runs in one graph: acting, valuing and learning of A agents cost little more than those of one with wider
 * matrices. What each of them learns stays its own. Learners that are alone of their kind stay as they are.
 */
export function stackLearners(learners: readonly Learner[]): void {
  const kinds = new Map<string, PpoLearner[]>();
  for (const learner of learners) {
    if (!(learner instanceof PpoLearner) || learner.setup.executor === 'eager') continue;
    const kind = kindOf(learner.setup);
    kinds.set(kind, [...(kinds.get(kind) ?? []), learner]);
  }
  for (const members of kinds.values()) if (members.length > 1) stack(members);
}

function stack(learners: readonly PpoLearner[]): void {
  const networks = learners.map((learner) => learner.ready());
  const before = stacks.get(networks[0]);
  if (before?.length === networks.length && before.every((member, i) => member === networks[i])) return;
  const { setup } = learners[0];
  const { net, executor } = setup;
  const params = stackVariables(networks.map((member) => member.params));
  const slots = stackVariables(
    networks.map((member) => member.slots),
    'apart',
  );
  const acts = compileTogether(actStep(net), { name: 'ppo/act', state: { params }, executor });
  const values = compileTogether(valueStep(net), { name: 'ppo/value', state: { params }, executor });
  const steps = compileTogether(stepOf(setup), {
    name: 'ppo/step',
    state: { params, slots },
    executor,
    acceptState: isFiniteStep,
    align: sameRows,
  });
  networks.forEach((member, i) => {
    member.use({ act: acts[i], value: values[i], step: steps[i] });
    stacks.set(member, networks);
  });
}

/** What learners must have in common to be computed by one graph. */
function kindOf({ config, net, ids, networks }: PpoSetup): string {
  const builders = [networks.network, networks.criticNetwork].map(idOf);
  return JSON.stringify([config, net.stateSize, net.actions, ids.length, builders]);
}

const ids = new WeakMap<object, number>();
let count = 0;

/** A number for each builder of a network that isn't ours: two of the same name may build different ones. */
function idOf(builder: { readonly config: Readonly<Record<string, unknown>> } | undefined): number {
  if (builder?.config['kind'] !== 'layers-model') return 0;
  if (!ids.has(builder)) ids.set(builder, ++count);
  return ids.get(builder)!;
}

/** Minibatches of as many rows as the largest has; the rows that are added have weight 0. */
function sameRows(inputs: readonly NamedArrays[]): NamedArrays[] {
  const most = Math.max(...inputs.map(({ weights }) => weights.shape[0]));
  return inputs.map((arrays) => padRows(arrays, most));
}
