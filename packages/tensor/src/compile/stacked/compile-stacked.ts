import { fail, type NDArray, show } from '@coplay/core';
import { optimiseGraph } from '../../passes';
import { readApart, readFlat, stackGraph } from '../../stack';
import { callable } from '../callable';
import type { Compiled, StepFunction } from '../compile';
import { isArray, type TensorRecord, type TensorTree } from '../convert';
import { eagerExecutor } from '../eager';
import type { AnyStep, Executor } from '../executor';
import { type ExecutorChoice, planExecutor } from '../executor-choice';
import { floatNames } from '../host-arrays';
import { graphExecutor } from '../onnx/executor';
import { record } from '../onnx/record';
import type { Runtime } from '../onnx/runtime';
import { leavesOf, type Tree } from '../tree';
import type { VariableStore } from '../variables';
import { type AcceptMember, memberOf, StackBinding } from './binding';
import { joinMembers } from './join';
import { StackedStore, type StackedVariables } from './stacked-variables';

/** How {@link compileStacked} compiles. */
export interface StackedOptions<Key extends string = string> {
  /** For messages and profiles. */
  readonly name: string;
  /** Groups of variables of all members, made by `stackVariables`; all of the same members. */
  readonly state: Readonly<Record<Key, StackedVariables>>;
  /** As in `compile`; with `eager` the members are computed one after the other. Default `auto` */
  readonly executor?: ExecutorChoice;
  /** Looks at one member's outputs before its new state is taken. Default: always taken */
  readonly acceptState?: AcceptMember;
}

/**
 * A step function of one member, compiled for A members at once: every input and every output has a leading axis [A, ...],
 * each member has its own variables, and nothing mixes members. One graph does the work of A, with larger matrices.
 *
 * @throws CoplayError as `compile`, and for inputs whose first axis isn't A
 */
export function compileStacked<
  Key extends string,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, options: StackedOptions<Key>): Compiled<Inputs, Outputs> {
  const { name, executor = 'auto' } = options;
  const where = `compiled function ${name}`;
  const state = checkState(name, options.state);
  const members = Object.values(state)[0].members.length;
  const step = fn as unknown as AnyStep;
  const start = async (): Promise<Executor> => {
    const { runtime } = await planExecutor(`compileStacked(${name})`, executor);
    return runtime
      ? onnxStack(runtime, name, step, state, options.acceptState)
      : eagerStack(name, step, state, options.acceptState);
  };
  const check = (inputs: Tree<NDArray>): void => {
    for (const [path, { shape }] of leavesOf(where, inputs, isArray)) {
      if (shape[0] !== members) {
        fail(where, `${path} of shape [${members}, ...], one part for each member`, `[${shape}]`, 'Stack the inputs.');
      }
    }
  };
  return callable(where, start, check) as unknown as Compiled<Inputs, Outputs>;
}

type Stores = Readonly<Record<string, StackedStore>>;

function checkState(name: string, state: Readonly<Record<string, StackedVariables>>): Stores {
  const where = `compileStacked(${name})`;
  const groups = Object.entries(state);
  if (groups.length === 0)
    fail(where, 'state, which says how many members there are', 'none', 'Give stacked variables.');
  for (const [key, group] of groups) {
    if (!(group instanceof StackedStore)) {
      fail(where, `state.${key} made by stackVariables()`, show(group), 'Wrap it: stackVariables(members).');
    }
    const count = groups[0][1].members.length;
    if (group.members.length !== count) {
      fail(
        where,
        `${count} members in state.${key}, as in the others`,
        String(group.members.length),
        'Stack the same.',
      );
    }
  }
  return state as Stores;
}

function onnxStack(runtime: Runtime, name: string, fn: AnyStep, state: Stores, acceptState: AcceptMember = () => true) {
  const where = `compiled function ${name}`;
  const members = Object.values(state)[0].members.length;
  const firsts = Object.fromEntries(
    Object.entries(state).map(
      ([
        key,
        {
          members: [first],
        },
      ]) => [key, first],
    ),
  );
  return graphExecutor(runtime, name, (inputs, statics) => {
    const traced = record(where, fn, firsts as Record<string, VariableStore>, memberOf(inputs, 0, members), statics);
    let single = optimiseGraph(traced.graph);
    for (const [key, store] of Object.entries(state)) {
      const [first] = store.members;
      const floats = { names: floatNames(first), shapes: first.shapes };
      single = store.layout === 'flat' ? readFlat(single, key, floats) : readApart(single, key, floats);
    }
    const graph = optimiseGraph(stackGraph(optimiseGraph(single), members));
    return { graph, outputs: traced.outputs, binding: new StackBinding(runtime, state, graph, acceptState) };
  });
}

/** Member by member. */
function eagerStack(name: string, fn: AnyStep, state: Stores, acceptState: AcceptMember = () => true): Executor {
  const members = Object.values(state)[0].members.length;
  const singles = Array.from({ length: members }, (_, member) =>
    eagerExecutor({
      name,
      fn,
      state: Object.fromEntries(Object.entries(state).map(([key, store]) => [key, store.members[member]])),
      acceptState: (outputs) => acceptState(outputs, member),
    }),
  );
  return {
    async run(inputs, statics) {
      const results: Tree<NDArray>[] = [];
      for (let i = 0; i < members; i++) {
        results.push(await singles[i].run(memberOf(inputs, i, members), statics));
      }
      return joinMembers(results);
    },
    async dispose() {},
  };
}
