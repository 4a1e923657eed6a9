import { checkOptions, fail, type NDArray, show } from '@coplay/core';
import { z } from 'zod';
import { optimiseGraph } from '../../passes';
import { scanGraph } from '../../scan';
import { readApart, readFlat, stackGraph } from '../../stack';
import { callable } from '../callable';
import { type Compiled, checkGroups, checkStep, commonSchema, type StepFunction, stateSchema } from '../compile';
import type { TensorRecord, TensorTree } from '../convert';
import { isArray } from '../convert';
import { eagerExecutor } from '../eager';
import type { AnyStep, Executor } from '../executor';
import { checkChoice, type ExecutorChoice, planExecutor } from '../executor-choice';
import { planned } from '../fallback';
import { floatNames } from '../host-arrays';
import { graphExecutor } from '../onnx/executor';
import { record } from '../onnx/record';
import type { Runtime } from '../onnx/runtime';
import type { ThreadSetting } from '../onnx/threads';
import { eagerScan } from '../scan/eager-scan';
import { inputsOfStep, isEachInput, stepCount } from '../scan/scan-inputs';
import { leavesOf, type Tree } from '../tree';
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
  /** As in `compile`. */
  readonly threads?: ThreadSetting;
  /**
   * The function runs S times in one call, as in `compileScan`: inputs are `{ each: [A, S, ...], shared: [A, ...] }`.
   * Default false
   */
  readonly scan?: boolean;
  /** Looks at one member's outputs before its new state is taken. Default: always taken */
  readonly acceptState?: AcceptMember;
}

const schema = z.strictObject({ ...commonSchema, state: stateSchema, scan: z.boolean().default(false) });

/**
 * A step function of one member, compiled for A members at once: every input and every output has a leading axis [A,
 * ...], each member has its own variables, and nothing mixes members. One graph does the work of A, with larger
 * matrices.
 *
 * @throws CoplayError as `compile`, and for inputs whose first axis isn't A
 */
export function compileStacked<
  Key extends string,
  Inputs extends TensorTree = TensorRecord,
  Outputs extends TensorTree = TensorRecord,
>(fn: StepFunction<Key, Inputs, Outputs>, options: StackedOptions<Key>): Compiled<Inputs, Outputs> {
  checkStep('compileStacked', fn, options);
  const { name, executor = 'auto', threads, scan = false, acceptState = () => true } = options;
  const where = `compileStacked(${name})`;
  checkChoice(where, executor);
  checkOptions(where, schema, options);
  const setup: StackSetup = {
    name,
    fn: fn as unknown as AnyStep,
    state: checkState(where, options.state),
    members: Object.values<StackedVariables>(options.state)[0].members.length,
    acceptState,
    scan,
  };
  const start = async (): Promise<Executor> => {
    const plan = await planExecutor(where, executor);
    const compiled = (runtime: Runtime) => onnxStack(runtime, setup, threads);
    return planned(`compiled function ${name}`, plan, compiled, () => eagerStack(setup));
  };
  const check = (inputs: Tree<NDArray>) => checkInputs(`compiled function ${name}`, inputs, setup.members);
  return callable(`compiled function ${name}`, start, check) as unknown as Compiled<Inputs, Outputs>;
}

interface StackSetup {
  readonly name: string;
  readonly fn: AnyStep;
  readonly state: Stores;
  readonly members: number;
  readonly acceptState: AcceptMember;
  readonly scan: boolean;
}

function checkInputs(where: string, inputs: Tree<NDArray>, members: number): void {
  for (const [path, { shape }] of leavesOf(where, inputs, isArray)) {
    if (shape[0] === members) continue;
    fail(where, `${path} of shape [${members}, ...], one part for each member`, `[${shape}]`, 'Stack the inputs.');
  }
}

type Stores = Readonly<Record<string, StackedStore>>;

function checkState(where: string, state: Readonly<Record<string, StackedVariables>>): Stores {
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
  checkGroups(where, state);
  return state as Stores;
}

function onnxStack(runtime: Runtime, setup: StackSetup, threads: ThreadSetting | undefined): Executor {
  const { name, fn, state, members, acceptState, scan } = setup;
  const where = `compiled function ${name}`;
  const firsts = Object.fromEntries(Object.entries(state).map(([key, store]) => [key, store.members[0]]));
  return graphExecutor(
    runtime,
    name,
    (inputs, statics) => {
      const own = memberOf(inputs, 0, members);
      const traced = record(where, fn, firsts, scan ? inputsOfStep(own, 0) : own, statics);
      let single = optimiseGraph(traced.graph);
      for (const [key, store] of Object.entries(state)) {
        const [first] = store.members;
        const floats = { names: floatNames(first), shapes: first.shapes };
        single = store.layout === 'flat' ? readFlat(single, key, floats) : readApart(single, key, floats);
      }
      const stacked = optimiseGraph(stackGraph(optimiseGraph(single), members));
      const repeat = () => ({ steps: stepCount(where, inputs, 1), isEach: isEachInput, axis: 1 as const });
      const graph = scan ? scanGraph(stacked, repeat()) : stacked;
      return { graph, outputs: traced.outputs, binding: new StackBinding(runtime, state, graph, acceptState) };
    },
    { threads },
  );
}

/** Member by member. */
function eagerStack({ name, fn, state, members, acceptState, scan }: StackSetup): Executor {
  const executor = scan ? eagerScan : eagerExecutor;
  const singles = Array.from({ length: members }, (_, member) =>
    executor({
      name,
      fn,
      state: Object.fromEntries(Object.entries(state).map(([key, store]) => [key, store.members[member]])),
      acceptState: (outputs) => acceptState(outputs, member),
    }),
  );
  return {
    async run(inputs, statics) {
      const results: Tree<NDArray>[] = [];
      for (let i = 0; i < members; i++) results.push(await singles[i].run(memberOf(inputs, i, members), statics));
      return joinMembers(results);
    },
    async dispose() {},
  };
}
