import { type NamedArrays, ndarray } from '@coplay/core';
import { type Compiled, compile, mergeRows } from '@coplay/tensor';
import { Network } from '../training/network';
import { actStep } from './act-step';
import { coupledStep, jointStep, separateBehaviourStep, separateWorldStep } from './algorithm';
import { byGroup, criticOf, type DreamerGroup, dreamerOptimiser } from './groups';
import { openLoopStep } from './open-loop';
import type { DreamerSetup } from './setup';

/**
 * The functions of tensors that Dreamer runs. Each is compiled when it first runs, so that only the functions of the
 * schedule are compiled.
 */
export interface DreamerFunctions {
  readonly act: Compiled;
  readonly joint: Compiled;
  readonly coupled: Compiled;
  readonly world: Compiled;
  readonly behaviour: Compiled;
  /** See `openLoopStep`; changes nothing */
  readonly openLoop: Compiled;
}

/** Parameters by group, and the functions over them. Acting and training see the same weights. */
export type DreamerNetwork = Network<DreamerGroup, DreamerFunctions>;

/** A network without parameters as yet. Fresh ones: the slow critic begins as the critic, the range of returns at 0. */
export function dreamerNetwork(
  setup: Pick<DreamerSetup, 'nets' | 'options' | 'executor'>,
  name: string,
): DreamerNetwork {
  const { executor } = setup;
  const common = { executor, acceptState: areFinite, memory: 'arena' } as const; // reuses large arrays
  return new Network({
    name: `DreamerV3 (${name})`,
    init: (generator) => {
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
    },
    slots: ['worldSlots', 'behaviourSlots'],
    functions: (groups) => {
      const { world, worldSlots, behaviour } = groups;
      return {
        act: mergeRows(compile(actStep(setup), { name: 'dreamer/act', state: { world, behaviour }, executor })),
        joint: compile(jointStep(setup), { name: 'dreamer/joint', state: groups, ...common }),
        coupled: compile(coupledStep(setup), { name: 'dreamer/coupled', state: groups, ...common }),
        world: compile(separateWorldStep(setup), { name: 'dreamer/world', state: { world, worldSlots }, ...common }),
        behaviour: compile(separateBehaviourStep(setup), { name: 'dreamer/behaviour', state: groups, ...common }),
        openLoop: compile(openLoopStep(setup), { name: 'dreamer/open_loop', state: { world }, executor }),
      };
    },
  });
}

/** Whether losses and gradients are finite. */
function areFinite(outputs: NamedArrays): boolean {
  return nonFinite(outputs) === undefined;
}

/** The first loss or gradient norm that isn't finite. */
export function nonFinite(outputs: NamedArrays): string | undefined {
  return Object.keys(outputs).find((name) => name.startsWith('opt/') && !Number.isFinite(outputs[name].data[0]));
}
