import { createGenerator, fail, type Generator, type NamedArrays, ndarray } from '@coplay/core';
import type { WorldModel } from '@coplay/models';
import {
  adam,
  type Compiled,
  compile,
  compileScanEach,
  compileStacked,
  type Optimiser,
  type ScanInputs,
  type StepFunction,
  stackVariables,
  type tf,
  type Variables,
  valueAndGradients,
  variables,
} from '@coplay/tensor';
import { areFinite } from '../training/finite-steps';
import { checkSavedArrays } from '../training/saved-arrays';
import type { WorldModelSetup } from './options';

/** Parameters of all members and the compiled functions over them. */
export interface Machine {
  readonly params: readonly Variables[];
  readonly slots: readonly Variables[];
  /**
   * S gradient steps of one member. Each learns by itself, through a graph that all share: measured at 6.7 ms a step,
   * and at 10 ms a member where five were stacked in one graph.
   *
   * @param each  [S, B, ...] transitions
   * @returns [S] `loss`, `gradientNorm` and the parts of the loss
   */
  train(member: number, each: NamedArrays, learningRate: number): Promise<NamedArrays>;
  /**
   * The members' predictions, in one graph: rows [N, B, ...] to [N, B, ...]; without the first axis for a single
   * member.
   */
  imagine(rows: NamedArrays): Promise<NamedArrays>;
  dispose(): void;
}

/** Parameters and optimiser slots of one member, as arrays. */
export interface MemberArrays {
  readonly params: NamedArrays;
  readonly slots: NamedArrays;
}

/** Fresh ones: each member begins elsewhere. */
export function freshMembers(setup: WorldModelSetup, generator: Generator): MemberArrays[] {
  return Array.from({ length: setup.members }, () => {
    const params = setup.model.init(generator.fork());
    return { params, slots: adam().init(params) };
  });
}

/** Refuses arrays that were saved of another model. */
export function checkMembers(setup: WorldModelSetup, saved: readonly MemberArrays[]): void {
  const remedy = 'Make the world model with the game and options that it was saved with.';
  if (saved?.length !== setup.members) {
    fail('worldModel.restore', `${setup.members} members`, String(saved?.length), remedy);
  }
  const params = setup.model.init(createGenerator(0));
  const slots = adam().init(params);
  saved.forEach((member, i) => {
    checkSavedArrays('worldModel.restore', `saved.members[${i}].params`, params, member.params);
    checkSavedArrays('worldModel.restore', `saved.members[${i}].slots`, slots, member.slots);
  });
}

/** Puts arrays to work. */
export function createMachine(setup: WorldModelSetup, members: readonly MemberArrays[]): Machine {
  const params = members.map((member) => variables(member.params));
  const slots = members.map((member) => variables(member.slots));
  const trains = updatesOf(setup, { params, slots });
  const imagine = imagination(setup, params);
  return {
    params,
    slots,
    train: async (member, each, learningRate) => {
      const shared = { learningRate: ndarray(Float32Array.of(learningRate), []) };
      return (await trains[member]({ each, shared })) as NamedArrays;
    },
    imagine: (rows) => imagine(beforeStep(rows)) as Promise<NamedArrays>,
    dispose: () => {
      for (const part of [...trains, imagine, ...params, ...slots]) part.dispose();
    },
  };
}

/** A function that trains for each member; all of them run one graph. */
function updatesOf(
  { model, executor, ...setup }: WorldModelSetup,
  { params, slots }: Pick<Machine, 'params' | 'slots'>,
) {
  return compileScanEach<'params' | 'slots', ScanInputs>(trainStep(model, adam({ clipNorm: setup.clipNorm })), {
    name: 'world-model/update',
    states: params.map((own, i) => ({ params: own, slots: slots[i] })),
    executor,
    acceptState: areFinite,
  });
}

function imagination({ model, executor }: WorldModelSetup, params: readonly Variables[]): Compiled {
  const options = { name: 'world-model/imagine', executor };
  return params.length === 1
    ? compile(imagineStep(model), { ...options, state: { params: params[0] } })
    : compileStacked(imagineStep(model), { ...options, state: { params: stackVariables(params) } });
}

function trainStep(model: WorldModel, optimiser: Optimiser): StepFunction<'params' | 'slots', ScanInputs> {
  return (state, { each, shared }) => {
    const { loss, gradients, metrics } = valueAndGradients((params) => model.loss(params, each), state.params);
    const rate = shared['learningRate'] as tf.Scalar;
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, rate);
    return { state: { params, slots }, outputs: { ...metrics, loss, gradientNorm } };
  };
}

function imagineStep(model: WorldModel): StepFunction<'params'> {
  return (state, rows) => ({ outputs: model.imagine(state.params, rows) });
}

/** The inputs before a step. */
function beforeStep(rows: NamedArrays): NamedArrays {
  return Object.fromEntries(Object.entries(rows).filter(([name]) => name !== 'rewards' && !name.startsWith('next/')));
}
