import type { OutcomeStore, TransitionStore } from '@coplay/buffers';
import type { Generator, Metrics, NamedArrays } from '@coplay/core';
import { concatRows, gatherRows, mean, reshapeRows } from '@coplay/core/rows';
import { NonFiniteError } from '../training';
import { areFinite } from '../training/finite-steps';
import { meanMetrics } from '../training/metrics';
import type { Machine } from './machine';
import type { WorldModelSetup } from './options';

/** What gradient steps are made with. */
export interface TrainParts {
  /** For messages: `world model, update 3` */
  readonly where: string;
  readonly machine: Machine;
  readonly setup: Pick<WorldModelSetup, 'members' | 'batchSize'>;
  readonly store: TransitionStore;
  /** The source of a share of every minibatch. Default: nothing */
  readonly outcomes?: { readonly store: OutcomeStore; readonly share: number };
}

/** S gradient steps of every member, each on minibatches of its own rows, in one call a member. */
export async function trainOn(
  { where, machine, setup, ...stores }: TrainParts,
  { steps, learningRate }: { readonly steps: number; readonly learningRate: number },
  generator: Generator,
): Promise<Metrics> {
  const { members, batchSize } = setup;
  const batches = Array.from({ length: members }, (_, member) => {
    return reshapeRows(minibatches(stores, member, { steps, batchSize }, generator), [steps, batchSize]);
  });
  // All at once: members may be trained on threads of their own.
  const all = await Promise.all(batches.map((each, member) => machine.train(member, each, learningRate)));
  const measured = all.map((outputs, member) => {
    if (!areFinite(outputs)) {
      throw new NonFiniteError(
        where,
        `losses ${outputs['loss'].data}, gradient norms ${outputs['gradientNorm'].data}`,
        batches[member],
      );
    }
    return lossMetrics(outputs);
  });
  return { ...meanMetrics(measured), 'world_model/steps': steps };
}

/** Rows of S minibatches, one after the other. */
function minibatches(
  { store, outcomes }: Pick<TrainParts, 'store' | 'outcomes'>,
  member: number,
  { steps, batchSize }: { readonly steps: number; readonly batchSize: number },
  generator: Generator,
): NamedArrays {
  const rare = outcomes ? Math.floor(outcomes.share * batchSize) : 0;
  const usual = batchSize - rare;
  const rows = store.gather(store.sample(generator, steps * usual, member));
  if (!outcomes || rare === 0) return rows;
  const all = concatRows([rows, outcomes.store.sample(generator, steps * rare)]);
  const order = Int32Array.from({ length: steps * batchSize }, (_, i) => {
    const [step, place] = [Math.floor(i / batchSize), i % batchSize];
    return place < usual ? step * usual + place : steps * usual + step * rare + place - usual;
  });
  return gatherRows(all, order);
}

/** Means over steps. */
function lossMetrics({ loss, gradientNorm, ...parts }: NamedArrays): Metrics {
  return {
    'world_model/loss': mean(loss.data),
    'world_model/gradient_norm': mean(gradientNorm.data),
    ...Object.fromEntries(Object.entries(parts).map(([name, { data }]) => [`world_model/${name}`, mean(data)])),
  };
}
