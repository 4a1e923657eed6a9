import { createGenerator, fail, type Generator, type NamedArrays, ndarray } from '@coplay/core';
import type { WorldModel } from '@coplay/models';
import {
  adam,
  type Compiled,
  compile,
  compileScan,
  compileStacked,
  type Optimiser,
  type ScanInputs,
  type StepFunction,
  stackVariables,
  type Variables,
  valueAndGradients,
  variables,
} from '@coplay/tensor';
import type { WorldModelSetup } from './options';

/** Parameters of all members and the compiled functions over them. */
export interface Machine {
  readonly params: readonly Variables[];
  readonly slots: readonly Variables[];
  /**
   * S gradient steps of every member.
   *
   * @param each  [N, S, B, ...] transitions; [S, B, ...] for a single member
   * @returns [N, S] `loss`, `gradientNorm` and the parts of the loss; [S] for a single member
   */
  train(each: NamedArrays, learningRate: number): Promise<NamedArrays>;
  /** What the members expect: rows [N, B, ...] to [N, B, ...]; without the first axis for a single member. */
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
  return Array.from({ length: setup.members }, (_, member) => {
    const params = setup.model.init(generator.split(member));
    return { params, slots: optimiserOf(setup).init(params) };
  });
}

/** Refuses arrays that were saved of another model. */
export function checkMembers(setup: WorldModelSetup, saved: readonly MemberArrays[]): void {
  const expected = freshMembers({ ...setup, members: 1 }, createGenerator(0))[0];
  const describe = (arrays: NamedArrays) =>
    Object.entries(arrays)
      .map(([name, { shape }]) => `${name} [${shape}]`)
      .sort()
      .join(', ');
  const remedy = 'Make the world model with the game and options that it was saved with.';
  if (saved?.length !== setup.members) {
    fail('worldModel.restore', `${setup.members} members`, String(saved?.length), remedy);
  }
  for (const { params } of saved) {
    const [wanted, got] = [describe(expected.params), describe(params)];
    if (wanted !== got) fail('worldModel.restore', wanted, got, remedy);
  }
}

/** Puts arrays to work. */
export function createMachine(setup: WorldModelSetup, members: readonly MemberArrays[]): Machine {
  const params = members.map((member) => variables(member.params));
  const slots = members.map((member) => variables(member.slots));
  const { train, imagine } =
    members.length === 1 ? singleFunctions(setup, params[0], slots[0]) : stackedFunctions(setup, params, slots);
  return {
    params,
    slots,
    train: async (each, learningRate) => {
      const rate =
        members.length === 1
          ? ndarray(Float32Array.of(learningRate), [])
          : ndarray(new Float32Array(members.length).fill(learningRate));
      return (await train({ each, shared: { learningRate: rate } })) as NamedArrays;
    },
    imagine: (rows) => imagine(beforeStep(rows)) as Promise<NamedArrays>,
    dispose: () => {
      for (const part of [train, imagine, ...params, ...slots]) part.dispose();
    },
  };
}

/** A single member needs no axis for members. */
function singleFunctions(setup: WorldModelSetup, params: Variables, slots: Variables) {
  const { model, executor } = setup;
  return {
    train: compileScan(trainStep(model, optimiserOf(setup)), {
      name: 'world-model/update',
      state: { params, slots },
      executor,
      acceptState: areFinite,
    }) as Compiled<ScanInputs>,
    imagine: compile(imagineStep(model), { name: 'world-model/imagine', state: { params }, executor }),
  };
}

/** All members in one graph. */
function stackedFunctions(setup: WorldModelSetup, members: readonly Variables[], slots: readonly Variables[]) {
  const { model, executor } = setup;
  const params = stackVariables(members);
  return {
    train: compileStacked(trainStep(model, optimiserOf(setup)), {
      name: 'world-model/update',
      state: { params, slots: stackVariables(slots, 'apart') },
      executor,
      scan: true,
      acceptState: areFinite,
    }) as Compiled<ScanInputs>,
    imagine: compileStacked(imagineStep(model), { name: 'world-model/imagine', state: { params }, executor }),
  };
}

function optimiserOf({ clipNorm }: WorldModelSetup): Optimiser {
  return adam({ clipNorm });
}

function trainStep(model: WorldModel, optimiser: Optimiser): StepFunction<'params' | 'slots', ScanInputs> {
  return (state, { each, shared }) => {
    const { loss, gradients, metrics } = valueAndGradients((params) => model.loss(params, each), state.params);
    const rate = shared['learningRate'] as Parameters<Optimiser['update']>[3];
    const { params, slots, gradientNorm } = optimiser.update(gradients, state.slots, state.params, rate);
    return { state: { params, slots }, outputs: { ...metrics, loss, gradientNorm } };
  };
}

function imagineStep(model: WorldModel): StepFunction<'params'> {
  return (state, rows) => ({ outputs: model.imagine(state.params, rows) });
}

/** What is known before a step. */
function beforeStep(rows: NamedArrays): NamedArrays {
  return Object.fromEntries(Object.entries(rows).filter(([name]) => name !== 'rewards' && !name.startsWith('next/')));
}

/** Whether losses and gradients of all steps are finite. */
export function areFinite(outputs: NamedArrays): boolean {
  return [outputs['loss'], outputs['gradientNorm']].every(({ data }) => data.every((x: number) => Number.isFinite(x)));
}
