import type { NamedArrays, NDArray } from '@coplay/core';
import { type Compiled, compile, type StepFunction } from '../compile';
import type { ExecutorChoice } from '../executor-choice';
import type { Variables } from '../variables';
import type { AcceptMember } from './binding';
import { memberOf } from './binding';
import { compileStacked } from './compile-stacked';
import { gatherCalls } from './gather-calls';
import { joinMembers } from './join';
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
  /** Brings inputs of calls that meet to the same shapes, so that they can be stacked. Default: they have them */
  readonly align?: (inputs: readonly NamedArrays[]) => readonly NamedArrays[];
}

/** One member's call. */
interface Call {
  readonly member: number;
  readonly inputs: NamedArrays;
}

/**
 * The same step function for each of A members. Calls that meet (made in the same turn of the event loop) are computed in one
 * graph, as `compileStacked` does it, if most members make one; otherwise one by one. Either way all that met are answered
 * together, so that members that go in lockstep stay in it. What meets depends on the calls alone, not on time.
 *
 * @returns one compiled function for each member; disposing one disposes all
 */
export function compileTogether<Key extends string>(fn: StepFunction<Key>, options: TogetherOptions<Key>): Compiled[] {
  const { name, state, executor = 'auto', acceptState = () => true, align = (inputs) => inputs } = options;
  const groups = Object.entries(state) as [Key, StackedVariables][];
  const count = groups[0][1].members.length;
  // A member that makes no call is computed all the same, on another's inputs; its state is left as it was.
  let callers: ReadonlySet<number> = new Set();
  const stacked = compileStacked<Key>(fn, {
    name,
    state,
    executor,
    acceptState: (outputs, member) => callers.has(member) && acceptState(outputs, member),
  });
  const singles = Array.from({ length: count }, (_, member) =>
    compile<Key>(fn, {
      name,
      executor,
      state: Object.fromEntries(groups.map(([key, { members }]) => [key, members[member]])) as Record<Key, Variables>,
      acceptState: (outputs) => acceptState(outputs, member),
    }),
  );

  const inOneGraph = async (calls: readonly Call[]): Promise<NamedArrays[]> => {
    callers = new Set(calls.map(({ member }) => member));
    const aligned = align(calls.map(({ inputs }) => inputs));
    const byMember = Array.from({ length: count }, (_, member) => {
      return aligned[
        Math.max(
          0,
          calls.findIndex((call) => call.member === member),
        )
      ];
    });
    const outputs = (await stacked(joinMembers(byMember) as NamedArrays)) as NamedArrays;
    return calls.map(({ member }) => ownCopy(memberOf(outputs, member, count)));
  };
  const oneByOne = (calls: readonly Call[]) => Promise.all(calls.map(({ member, inputs }) => singles[member](inputs)));

  const call = gatherCalls<Call, NamedArrays>(async (calls) => {
    const isEachOnce = new Set(calls.map(({ member }) => member)).size === calls.length;
    return isEachOnce && calls.length > count / 2 ? inOneGraph(calls) : oneByOne(calls);
  });
  const dispose = () => {
    for (const part of [stacked, ...singles]) part.dispose();
  };
  return singles.map((_, member) =>
    Object.assign((inputs: NamedArrays) => call({ member, inputs }), { dispose }),
  ) as Compiled[];
}

/** Outputs that outlive those of the other members. */
function ownCopy(arrays: NamedArrays): NamedArrays {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, { data, shape }]) => [name, { data: data.slice(), shape } as NDArray]),
  );
}
