import { createGenerator, type Generator, type NamedArrays, ndarray, type SavedState } from '@coplay/core';
import { type Compiled, compile, mergeRows, type Variables, variables } from '@coplay/tensor';
import { checkSavedArrays } from '../training/saved-arrays';
import { actStep } from './act-step';
import { byGroup, criticOf, type DreamerGroup, dreamerOptimiser } from './groups';
import { openLoopStep } from './open-loop';
import type { DreamerSetup } from './setup';
import { coupledStep, jointStep, separateBehaviourStep, separateWorldStep } from './steps';

/** All numbers of a Dreamer, by group. */
export type DreamerArrays = Readonly<Record<DreamerGroup, NamedArrays>>;

/** Parameters and the compiled functions over them. Acting and training see the same weights. */
export interface DreamerMachine {
  readonly groups: Readonly<Record<DreamerGroup, Variables>>;
  readonly act: Compiled;
  readonly joint: Compiled;
  readonly coupled: Compiled;
  readonly world: Compiled;
  readonly behaviour: Compiled;
  /** See `openLoopStep`; changes nothing */
  readonly openLoop: Compiled;
  dispose(): void;
}

/** What the compiled functions depend on. */
export type MachineSetup = Pick<DreamerSetup, 'nets' | 'options' | 'executor'>;

/** Fresh numbers: the slow critic begins as the critic, the range of returns at 0. */
export function freshArrays(setup: Pick<DreamerSetup, 'nets' | 'options'>, generator: Generator): DreamerArrays {
  const { world, behaviour } = byGroup(setup.nets.init(generator));
  const optimiser = dreamerOptimiser(setup);
  const zero = () => ndarray(new Float32Array(1), []);
  return {
    world,
    worldSlots: optimiser.init(world),
    behaviour,
    behaviourSlots: optimiser.init(behaviour),
    slow: criticOf(behaviour),
    range: { low: zero(), high: zero() },
  };
}

/**
 * Refuses numbers that were saved by another Dreamer.
 *
 * @throws CoplayError that names what differs
 */
export function checkArrays(where: string, setup: DreamerSetup, saved: SavedState | undefined): DreamerArrays {
  const expected = freshArrays(setup, createGenerator(0));
  for (const group of Object.keys(expected) as DreamerGroup[]) {
    const given = saved?.[group] as unknown as NamedArrays | undefined;
    checkSavedArrays(`${where}: restore`, `saved.arrays.${group}`, expected[group], given);
  }
  return saved as unknown as DreamerArrays;
}

/** Puts numbers to work. Functions are compiled when they first run, so that only those of the schedule are. */
export function createMachine(setup: MachineSetup, arrays: DreamerArrays): DreamerMachine {
  const { executor } = setup;
  const groups = Object.fromEntries(
    Object.entries(arrays).map(([group, values]) => [group, variables(values)]),
  ) as Record<DreamerGroup, Variables>;
  const { world, worldSlots, behaviour } = groups;
  const common = { executor, acceptState: areFinite, memory: 'arena' } as const; // an update makes the same large arrays every time
  const functions = {
    act: mergeRows(compile(actStep(setup), { name: 'dreamer/act', state: { world, behaviour }, executor })),
    joint: compile(jointStep(setup), { name: 'dreamer/joint', state: groups, ...common }),
    coupled: compile(coupledStep(setup), { name: 'dreamer/coupled', state: groups, ...common }),
    world: compile(separateWorldStep(setup), { name: 'dreamer/world', state: { world, worldSlots }, ...common }),
    behaviour: compile(separateBehaviourStep(setup), { name: 'dreamer/behaviour', state: groups, ...common }),
    openLoop: compile(openLoopStep(setup), { name: 'dreamer/open_loop', state: { world }, executor }),
  };
  return {
    groups,
    ...functions,
    dispose: () => {
      for (const part of [...Object.values(functions), ...Object.values(groups)]) part.dispose();
    },
  };
}

/** Whether losses and gradients are finite. */
function areFinite(outputs: NamedArrays): boolean {
  return nonFinite(outputs) === undefined;
}

/** The first loss or gradient norm that isn't finite. */
export function nonFinite(outputs: NamedArrays): string | undefined {
  return Object.keys(outputs).find((name) => name.startsWith('opt/') && !Number.isFinite(outputs[name].data[0]));
}
