import { checkOptions, fail, type NamedArrays, type NDArray } from '@coplay/core';
import { z } from 'zod';
import { checkCall } from '../callable';
import { type Compiled, checkStep, commonSchema, compile, type StepFunction, stateSchema } from '../compile';
import { isArray, type TensorRecord, type TensorTree } from '../convert';
import type { Statics } from '../executor';
import { checkChoice, type ExecutorChoice } from '../executor-choice';
import { signatureOf } from '../onnx/record';
import { mapTree, type Tree } from '../tree';
import type { Variables } from '../variables';
import { type AcceptMember, memberOf } from './binding';
import { compileStacked } from './compile-stacked';
import { gatherCalls } from './gather-calls';
import { areAlike, joinMembers } from './join';
import type { StackedVariables } from './stacked-variables';

/** How {@link compileTogether} compiles. */
export interface TogetherOptions<Key extends string = string> {
  /** For messages and profiles. */
  readonly name: string;
  /** Groups of variables of all members, made by `stackVariables`. */
  readonly state: Readonly<Record<Key, StackedVariables>>;
  /** As in `compile`. Default `auto` */
  readonly executor?: ExecutorChoice;
  /** Looks at one member's outputs before its new state is taken. Default: always taken */
  readonly acceptState?: AcceptMember;
}

/** One member's call. */
interface Call {
  readonly member: number;
  readonly inputs: Tree<NDArray>;
  readonly statics: Statics;
}

const { threads: _, ...known } = commonSchema;
const schema = z.strictObject({ ...known, state: stateSchema });

/**
 * The same step function for each of A members. Calls that meet (made in the same turn of the event loop) are computed
 * in one graph, as `compileStacked` does it, if most members make a call and their inputs have equal shapes and static
 * values; otherwise one by one. Either way all that met are answered together, so that members that go in lockstep stay
 * in it. What meets depends on the calls alone, not on time.
 *
 * @returns one compiled function for each member; when one was disposed, the others are computed one by one
 * @throws CoplayError as `compileStacked`
 */
export function compileTogether<Key extends string, Inputs extends TensorTree = TensorRecord>(
  fn: StepFunction<Key, Inputs>,
  options: TogetherOptions<Key>,
): Compiled<Inputs>[] {
  checkStep('compileTogether', fn, options);
  const { name, state, executor = 'auto', acceptState = () => true } = options;
  const where = `compileTogether(${name})`;
  checkChoice(where, executor);
  checkOptions(where, schema, options);
  const common = { name, executor };
  const [first] = Object.values<StackedVariables>(state);
  if (!first) fail(where, 'state, which says how many members there are', 'none', 'Give it.');
  const count = first.members.length;
  // A member that makes no call is computed all the same, on another's inputs; its state is left as it was.
  let callers: ReadonlySet<number> = new Set();
  const stacked = compileStacked<Key, Inputs>(fn, {
    ...common,
    state,
    acceptState: (outputs, member) => callers.has(member) && acceptState(outputs, member),
  }) as unknown as AnyCompiled;
  const singles = Array.from({ length: count }, (_, member) => {
    const own = { ...common, state: stateOf(state, member), acceptState: acceptOf(acceptState, member) };
    return compile<Key, Inputs>(fn, own) as unknown as AnyCompiled;
  });

  const oneByOne = (calls: readonly Call[]) =>
    Promise.all(calls.map(({ member, inputs, statics }) => singles[member](inputs, statics)));
  const inOneGraph = async (calls: readonly Call[]): Promise<Tree<NDArray>[]> => {
    const firstOf = (member: number) => calls.find((call) => call.member === member) ?? calls[0];
    const byMember = Array.from({ length: count }, (_, member) => firstOf(member).inputs);
    callers = new Set(calls.map(({ member }) => member));
    const outputs = await stacked(joinMembers(byMember), calls[0].statics);
    return calls.map(({ member }) => ownCopy(memberOf(outputs, member, count)));
  };

  const disposed = new Set<number>();
  const call = gatherCalls<Call, Tree<NDArray>>(async (calls) => {
    const isEachOnce = new Set(calls.map(({ member }) => member)).size === calls.length;
    const isWhole = disposed.size === 0 && isEachOnce && calls.length > count / 2;
    return isWhole && areAlikeCalls(`compiled function ${name}`, calls) ? inOneGraph(calls) : oneByOne(calls);
  });
  const dispose = (member: number) => {
    disposed.add(member);
    for (const part of [stacked, singles[member]]) part.dispose(); // its variables may go, too
  };
  const compiledOf = (member: number) => {
    const compiled = async (inputs: Tree<NDArray>, statics: Statics = {}): Promise<Tree<NDArray>> => {
      checkCall(`compiled function ${name}`, inputs, statics); // fails for this caller only
      return call({ member, inputs, statics });
    };
    return Object.assign(compiled, { dispose: () => dispose(member) });
  };
  return singles.map((_, member) => compiledOf(member) as unknown as Compiled<Inputs>);
}

/** Whether calls need the same graph. */
function areAlikeCalls(where: string, calls: readonly Call[]): boolean {
  const kinds = new Set(calls.map(({ statics }) => signatureOf([], statics)));
  const inputs = calls.map((call) => call.inputs);
  return kinds.size === 1 && areAlike(where, inputs);
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

/** Outputs that outlive the other members' outputs. */
function ownCopy(arrays: Tree<NDArray>): Tree<NDArray> {
  return mapTree(arrays, isArray, ({ data, shape }): NDArray => ({ data: data.slice(), shape }));
}
