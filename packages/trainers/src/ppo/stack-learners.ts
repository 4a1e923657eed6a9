import { compileScanEach, compileTogether, stackVariables } from '@coplay/tensor';
import type { Learner } from '../learner';
import { valueStep } from './critic';
import { PpoLearner } from './learner';
import { areFinite, type PpoNetworks, updateOf } from './networks';
import { actStep } from './policy';
import type { PpoSetup } from './setup';

/** Networks that have been put together, and with which others. */
const stacks = new WeakMap<PpoNetworks, readonly PpoNetworks[]>();

/**
 * Puts PPO learners of one kind (the same networks and options, each with its own weights) together: what they ask of their
 * networks in the same turn, to act and to value, runs in one graph, and they share the graphs of their updates. What each of
 * them learns stays its own. Learners that are alone of their kind stay as they are.
 */
export function stackLearners(learners: readonly Learner[]): void {
  const kinds = new Map<string, PpoLearner[]>();
  for (const learner of learners.flatMap((whole) => [whole, ...(whole.parts ?? [])])) {
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
  const acts = compileTogether(actStep(net), { name: 'ppo/act', state: { params }, executor });
  const values = compileTogether(valueStep(net), { name: 'ppo/value', state: { params }, executor });
  const updates = compileScanEach(updateOf(setup), {
    name: 'ppo/update',
    states: networks.map(({ params: own, slots }) => ({ params: own, slots })),
    executor,
    acceptState: areFinite,
  });
  networks.forEach((member, i) => {
    member.use({ act: acts[i], value: values[i], update: updates[i] });
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
