import type { TransitionStore } from '@coplay/buffers';
import type { Generator, Metrics, NamedArrays } from '@coplay/core';
import { NonFiniteError } from '../learner';
import { areFinite, type Machine } from './machine';
import type { WorldModelSetup } from './options';

/** What gradient steps are made with. */
export interface TrainParts {
  /** For messages: `world model, update 3` */
  readonly where: string;
  readonly machine: Machine;
  readonly setup: Pick<WorldModelSetup, 'members' | 'batchSize'>;
  readonly store: TransitionStore;
}

/** S gradient steps of every member, each on minibatches of its own rows, in one call a member. */
export async function trainOn(
  { where, machine, setup, store }: TrainParts,
  { steps, learningRate }: { readonly steps: number; readonly learningRate: number },
  generator: Generator,
): Promise<Metrics> {
  const { members, batchSize } = setup;
  const batches = Array.from({ length: members }, (_, member) => {
    return reshaped(store.gather(store.sample(generator, steps * batchSize, member)), [steps, batchSize]);
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

function reshaped(rows: NamedArrays, axes: readonly number[]): NamedArrays {
  return Object.fromEntries(
    Object.entries(rows).map(([name, { data, shape }]) => [name, { data, shape: [...axes, ...shape.slice(1)] }]),
  );
}

/** Means over steps. */
function lossMetrics({ loss, gradientNorm, ...parts }: NamedArrays): Metrics {
  return {
    'world_model/loss': meanOf(loss.data),
    'world_model/gradient_norm': meanOf(gradientNorm.data),
    ...Object.fromEntries(Object.entries(parts).map(([name, { data }]) => [`world_model/${name}`, meanOf(data)])),
  };
}

/** Means over members. */
function meanMetrics(members: readonly Metrics[]): Metrics {
  const names = Object.keys(members[0]);
  return Object.fromEntries(names.map((name) => [name, meanOf(members.map((member) => member[name]))]));
}

function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}
