import { compileScanEach, compileTogether, stackVariables } from '@coplay/tensor';
import { areFinite } from '../learner/finite-steps';
import { stackerOf } from '../learner/stack';
import { stackMoas } from '../moa/stack-moas';
import { HopLearner } from './learner';
import { updateOf } from './networks';
import type { HopSetup } from './setup';
import { type HopUpdateInputs, hopAct } from './step';

/**
 * Puts HOP learners of one kind together: their searches go in lockstep, so that each simulation asks one graph about all agents' own
 * actions and one about all co-players'.
 */
export const stackHopLearners = stackerOf({
  is: (learner) => learner instanceof HopLearner,
  kindOf: ({ setup }) => kindOf(setup),
  networksOf: (learner) => learner.ready(),
  stack(learners, networks) {
    const [{ setup }] = learners;
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
    });
    const moas = learners.flatMap((learner) => [...learner.setup.minds.values()]);
    stackMoas(moas, executor);
  },
});

/** Networks of a user's own stay apart, the agent's and those of its models: two of the same name may build different ones. */
function kindOf({ config, ids, executor }: HopSetup): string | undefined {
  if (executor === 'eager' || JSON.stringify(config).includes('"layers-model"')) return undefined;
  return JSON.stringify([config, ids.length]);
}
