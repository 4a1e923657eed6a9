import { fail, type NamedArrays, type NDArray } from '@coplay/core';
import { type Compiled, compile, type StepFunction } from '../compile';
import { isArray, type TensorRecord, type TensorTree } from '../convert';
import type { Statics } from '../executor';
import type { ExecutorChoice } from '../executor-choice';
import { compileScan, type ScanInputs } from '../scan/compile-scan';
import { mapTree, type Tree } from '../tree';
import type { Variables } from '../variables';
import { type AcceptMember, memberOf } from './binding';
import { compileStacked } from './compile-stacked';
import { gatherCalls } from './gather-calls';
import { areAlike, joinMembers } from './join';
import type { StackedVariables } from './stacked-variables';

/** Inputs of calls that meet, brought to the same shapes. */
export interface AlignedCalls {
  readonly inputs: readonly Tree<NDArray>[];
  /** For the call that they become. Default: none */
  readonly statics?: Statics;
}

/** How {@link compileTogether} compiles. */
export interface TogetherOptions<Key extends string = string> {
  /** For messages and profiles. */
  readonly name: string;
  /** Groups of variables of all members, made by `stackVariables`. */
  readonly state: Readonly<Record<Key, StackedVariables>>;
  /** As in `compile`. Default `auto` */
  readonly executor?: ExecutorChoice;
  /** The function runs S times in one call, as in `compileScan`. Default false */
  readonly scan?: boolean;
  /** Looks at one member's outputs before its new state is taken. Default: always taken */
  readonly acceptState?: AcceptMember;
  /** Brings inputs of calls that meet to the same shapes, so that they can be stacked. Default: they have them */
  readonly align?: (inputs: readonly Tree<NDArray>[]) => AlignedCalls;
}

/** One member's call. */
interface Call {
  readonly member: number;
  readonly inputs: Tree<NDArray>;
}

/**
 * The same step function for each of A members. Calls that meet (made in the same turn of the event loop) are computed in one
 * graph, as `compileStacked` does it, if most members make one and their inputs are alike; otherwise one by one. Either way all
 * that met are answered together, so that members that go in lockstep stay in it. What meets depends on the calls alone, not
 * on time.
 *
 * @returns one compiled function for each member; when one was disposed, the others are computed one by one
 * @throws CoplayError as `compileStacked`
 */
export function compileTogether<Key extends string, Inputs extends TensorTree = TensorRecord>(
  fn: StepFunction<Key, Inputs>,
  options: TogetherOptions<Key>,
): Compiled<Inputs>[] {
  const { state, acceptState = () => true, align = (inputs): AlignedCalls => ({ inputs }), ...rest } = options;
  const [first] = Object.values<StackedVariables>(state);
  if (!first)
    fail(`compileTogether(${options.name})`, 'state, which says how many members there are', 'none', 'Give it.');
  const count = first.members.length;
  // A member that makes no call is computed all the same, on another's inputs; its state is left as it was.
  let callers: ReadonlySet<number> = new Set();
  const stacked = compileStacked<Key, Inputs>(fn, {
    ...rest,
    state,
    acceptState: (outputs, member) => callers.has(member) && acceptState(outputs, member),
  }) as unknown as AnyCompiled;
  const singles = Array.from({ length: count }, (_, member) => {
    const own = { name: rest.name, state: stateOf(state, member), acceptState: acceptOf(acceptState, member) };
    const single = { ...own, ...(rest.executor ? { executor: rest.executor } : {}) };
    const scanned = () =>
      compileScan<Key, Inputs & ScanInputs<TensorTree>>(
        fn as unknown as StepFunction<Key, Inputs & ScanInputs<TensorTree>>,
        single,
      );
    return (rest.scan ? scanned() : compile<Key, Inputs>(fn, single)) as unknown as AnyCompiled;
  });

  const oneByOne = (calls: readonly Call[]) => Promise.all(calls.map(({ member, inputs }) => singles[member](inputs)));
  const inOneGraph = async (calls: readonly Call[]): Promise<Tree<NDArray>[]> => {
    const { inputs, statics } = align(calls.map((call) => call.inputs));
    if (!areAlike(`compiled function ${rest.name}`, inputs)) return oneByOne(calls);
    const byMember = Array.from({ length: count }, (_, member) => {
      return inputs[
        Math.max(
          0,
          calls.findIndex((call) => call.member === member),
        )
      ];
    });
    callers = new Set(calls.map(({ member }) => member));
    const outputs = await stacked(joinMembers(byMember), statics);
    return calls.map(({ member }) => ownCopy(memberOf(outputs, member, count)));
  };

  const disposed = new Set<number>();
  const call = gatherCalls<Call, Tree<NDArray>>(async (calls) => {
    const isEachOnce = new Set(calls.map(({ member }) => member)).size === calls.length;
    return disposed.size === 0 && isEachOnce && calls.length > count / 2 ? inOneGraph(calls) : oneByOne(calls);
  });
  const dispose = (member: number) => {
    disposed.add(member);
    for (const part of [stacked, singles[member]]) part.dispose(); // its variables may go, too
  };
  const compiledOf = (member: number) =>
    Object.assign((inputs: Tree<NDArray>) => call({ member, inputs }), { dispose: () => dispose(member) });
  return singles.map((_, member) => compiledOf(member) as unknown as Compiled<Inputs>);
}

interface AnyCompiled {
  (inputs: Tree<NDArray>, statics?: Statics): Promise<Tree<NDArray>>;
  dispose(): void;
}

function stateOf<Key extends string>(state: Readonly<Record<Key, StackedVariables>>, member: number) {
  const groups = Object.entries(state) as [Key, StackedVariables][];
  return Object.fromEntries(groups.map(([key, { members }]) => [key, members[member]])) as Record<Key, Variables>;
}

function acceptOf(acceptState: AcceptMember, member: number) {
  return (outputs: NamedArrays) => acceptState(outputs, member);
}

/** Outputs that outlive those of the other members. */
function ownCopy(arrays: Tree<NDArray>): Tree<NDArray> {
  return mapTree(arrays, isArray, ({ data, shape }): NDArray => ({ data: data.slice(), shape }));
}
