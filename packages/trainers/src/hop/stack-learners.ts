import { compileScanEach, compileTogether, stackVariables } from '@coplay/tensor';
import type { Learner } from '../learner';
import { stackMoas } from '../moa/stack-moas';
import { areFinite } from '../ppo/networks';
import { HopLearner } from './learner';
import { type HopNetworks, updateOf } from './networks';
import { type HopUpdateInputs, hopAct } from './step';

/** Networks that have been put together, and with which others. */
const stacks = new WeakMap<HopNetworks, readonly HopNetworks[]>();

/**
 * Puts HOP learners of one kind (the same networks and options, each with its own weights) together, as `stackLearners` does with those of PPO: their
 * searches go in lockstep, so that each simulation asks one graph about all agents' own actions and one about all co-players'.
 */
export function stackHopLearners(learners: readonly Learner[]): void {
  const kinds = new Map<string, HopLearner[]>();
  for (const learner of learners) {
    if (!(learner instanceof HopLearner) || learner.setup.executor === 'eager') continue;
    const { config, ids } = learner.setup;
    if (JSON.stringify(config).includes('"layers-model"')) continue; // two of the same name may build different ones
    const kind = JSON.stringify([config, ids.length]);
    kinds.set(kind, [...(kinds.get(kind) ?? []), learner]);
  }
  for (const members of kinds.values()) if (members.length > 1) stack(members);
}

function stack(learners: readonly HopLearner[]): void {
  const networks = learners.map((learner) => learner.ready());
  const before = stacks.get(networks[0]);
  if (before?.length === networks.length && before.every((member, i) => member === networks[i])) return;
  const { setup } = learners[0];
  const { net, executor } = setup;
  const params = stackVariables(networks.map((member) => member.params));
  const acts = compileTogether(hopAct(net), { name: 'hop/act', state: { params }, executor });
  const updates = compileScanEach<'params' | 'slots', HopUpdateInputs>(updateOf(setup), {
    name: 'hop/update',
    states: networks.map(({ params: own, slots }) => ({ params: own, slots })),
    executor,
    acceptState: areFinite,
  });
  networks.forEach((member, i) => {
    member.use({ act: acts[i], update: updates[i] });
    stacks.set(member, networks);
  });
  stackMoas(
    learners.flatMap((learner) => [...learner.setup.minds.values()]),
    executor,
  );
}
