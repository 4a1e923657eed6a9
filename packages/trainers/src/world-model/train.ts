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

/** S gradient steps of every member, each on minibatches of its own rows, in one call. */
export async function trainOn(
  { where, machine, setup, store }: TrainParts,
  { steps, learningRate }: { readonly steps: number; readonly learningRate: number },
  generator: Generator,
): Promise<Metrics> {
  const { members, batchSize } = setup;
  const places = new Int32Array(members * steps * batchSize);
  for (let member = 0; member < members; member++) {
    places.set(store.sample(generator, steps * batchSize, member), member * steps * batchSize);
  }
  const axes = members === 1 ? [steps, batchSize] : [members, steps, batchSize];
  const each = reshaped(store.gather(places), axes);
  const outputs = await machine.train(each, learningRate);
  if (!areFinite(outputs)) {
    throw new NonFiniteError(where, 'a loss or gradient that is not', each);
  }
  return lossMetrics(outputs, steps);
}

function reshaped(rows: NamedArrays, axes: readonly number[]): NamedArrays {
  return Object.fromEntries(
    Object.entries(rows).map(([name, { data, shape }]) => [name, { data, shape: [...axes, ...shape.slice(1)] }]),
  );
}

/** Means over steps and members. */
function lossMetrics({ loss, gradientNorm, ...parts }: NamedArrays, steps: number): Metrics {
  return {
    'world_model/loss': meanOf(loss.data),
    'world_model/gradient_norm': meanOf(gradientNorm.data),
    ...Object.fromEntries(Object.entries(parts).map(([name, { data }]) => [`world_model/${name}`, meanOf(data)])),
    'world_model/steps': steps,
  };
}

function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum / values.length;
}
