import { compileScanEach, compileTogether, stackVariables } from '@coplay/tensor';
import { areFinite } from '../learner/finite-steps';
import { stackerOf } from '../learner/stack';
import { valueStep } from './critic';
import { PpoLearner } from './learner';
import { updateOf } from './networks';
import { actStep } from './policy';
import type { PpoSetup } from './setup';

/** Puts PPO learners of one kind together: they act, value and are updated in shared graphs. */
export const stackLearners = stackerOf({
  is: (learner) => learner instanceof PpoLearner,
  kindOf: ({ setup }) => (setup.executor === 'eager' ? undefined : kindOf(setup)),
  networksOf: (learner) => learner.ready(),
  stack([{ setup }], networks) {
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
    });
  },
});

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
