import { laProp, type Optimiser, type StateOf, type TensorRecord, tf } from '@coplay/tensor';
import type { BehaviourTerms } from './behaviour';
import type { DreamerParts } from './data';

/**
 * The groups of variables of a Dreamer. World model and actor-critic have an optimiser each in every schedule: LaProp
 * and adaptive clipping treat arrays apart, so that two of them that step together are one.
 */
export type DreamerGroup = 'world' | 'worldSlots' | 'behaviour' | 'behaviourSlots' | 'slow' | 'range';

/** Whether a parameter is the actor's or the critic's. */
function isBehaviour(name: string): boolean {
  return name.startsWith('pol/') || name.startsWith('val/');
}

/** Parameters, or their gradients, by group. */
export function byGroup<T>(params: Readonly<Record<string, T>>): Record<'world' | 'behaviour', Record<string, T>> {
  const groups: Record<'world' | 'behaviour', Record<string, T>> = { world: {}, behaviour: {} };
  for (const [name, value] of Object.entries(params)) groups[isBehaviour(name) ? 'behaviour' : 'world'][name] = value;
  return groups;
}

/** The slow critic's names of the critic's parameters. */
export function criticOf<T>(behaviour: Readonly<Record<string, T>>): Record<string, T> {
  const entries = Object.entries(behaviour).filter(([name]) => name.startsWith('val/'));
  return Object.fromEntries(entries.map(([name, value]) => [name.slice('val/'.length), value]));
}

/** LaProp with adaptive clipping. */
export function dreamerOptimiser({ options }: Pick<DreamerParts, 'options'>): Optimiser {
  return laProp({ adaptiveClip: options.adaptiveClip });
}

/** The world model's next parameters. */
export function stepWorld(
  parts: DreamerParts,
  state: StateOf<'world' | 'worldSlots'>,
  gradients: TensorRecord,
  rate: tf.Scalar,
) {
  const { params, slots, gradientNorm } = dreamerOptimiser(parts).update(
    gradients,
    state.worldSlots,
    state.world,
    rate,
  );
  return { next: { world: params, worldSlots: slots }, gradientNorm };
}

/** The next parameters of actor and critic, of the slow critic, which follows, and the new range of returns. */
export function stepBehaviour(
  parts: DreamerParts,
  state: StateOf<'behaviour' | 'behaviourSlots' | 'slow'>,
  gradients: TensorRecord,
  range: BehaviourTerms['range'],
  rate: tf.Scalar,
) {
  const optimiser = dreamerOptimiser(parts);
  const { params, slots, gradientNorm } = optimiser.update(gradients, state.behaviourSlots, state.behaviour, rate);
  const slow = follow(state.slow, criticOf(params), parts.options.slowRate);
  return { next: { behaviour: params, behaviourSlots: slots, slow, range: { ...range } }, gradientNorm };
}

/** (1 - rate) slow + rate critic */
function follow(slow: TensorRecord, critic: TensorRecord, rate: number): TensorRecord {
  const moved = Object.entries(slow).map(([name, x]) => {
    return [name, tf.add(tf.mul(x, 1 - rate), tf.mul(critic[name], rate))];
  });
  return Object.fromEntries(moved) as TensorRecord;
}
