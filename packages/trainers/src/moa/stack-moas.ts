import { compileTogether, type ExecutorChoice, stackVariables } from '@coplay/tensor';
import type { MoaLearner } from './contract';
import { MoaModels } from './learner';
import { moaAct } from './step';

/**
 * Stacks the models of several observers: their predictions in the same turn run in one graph. All must be of one kind
 * (the same game and options). Their updates stay apart.
 */
export function stackMoas(moas: readonly MoaLearner[], executor: ExecutorChoice): void {
  const models = moas.filter((moa) => moa instanceof MoaModels);
  const members = models.flatMap((moa) => moa.ready().members);
  if (members.length < 2) return;
  const params = stackVariables(members.map((member) => member.params));
  const acts = compileTogether(moaAct(models[0].net), { name: 'moa/act', state: { params }, executor });
  members.forEach((member, i) => {
    member.actBy(acts[i]);
  });
}
