import { fail, type NamedArrays } from '@coplay/core';
import { callable } from '../callable';
import { type Compiled, checkState, type StepFunction } from '../compile';
import type { TensorTree } from '../convert';
import type { AnyStep, Executor, StepSetup } from '../executor';
import { checkChoice, type ExecutorChoice, planExecutor } from '../executor-choice';
import { describeGroup } from '../host-arrays';
import { graphExecutor } from '../onnx/executor';
import { StateBinding } from '../onnx/feeds';
import type { Runtime } from '../onnx/runtime';
import type { ThreadSetting } from '../onnx/threads';
import { buildScan, type ScanInputs } from '../scan/compile-scan';
import { eagerScan } from '../scan/eager-scan';
import type { Variables } from '../variables';
import { MemberBinding } from './member-binding';

/** How {@link compileScanEach} compiles. */
export interface ScanEachOptions<Key extends string = string> {
  /** For messages and profiles. */
  readonly name: string;
  /** Each member's own variables; at least one member, all of the same names, shapes and dtypes. */
  readonly states: readonly Readonly<Record<Key, Variables>>[];
  /** As in `compile`. Default `auto` */
  readonly executor?: ExecutorChoice;
  /** As in `compile`. */
  readonly threads?: ThreadSetting;
  /** As in `compileScan`, for every member. Default: always taken */
  readonly acceptState?: (outputs: NamedArrays) => boolean;
}

/**
 * `compileScan` for several members of one kind, each with its own variables: the function is traced and its graphs are made
 * once for all of them, and each member's call runs on its own. (`compileStacked` computes members in one graph, which pays
 * where their arrays are small; this one keeps to what the processor's caches hold.)
 *
 * @returns one compiled function for each member; when one is disposed, the others make their graphs again
 * @throws CoplayError as `compileScan`, and for members unlike the first
 */
export function compileScanEach<Key extends string, Inputs extends ScanInputs<TensorTree> = ScanInputs>(
  fn: StepFunction<Key, Inputs>,
  options: ScanEachOptions<Key>,
): Compiled<Inputs>[] {
  const { name, states, executor = 'auto', threads, acceptState = () => true } = options;
  const where = `compileScanEach(${name})`;
  checkChoice(where, executor);
  const setups = states.map(
    (state): StepSetup => ({ name, fn: fn as unknown as AnyStep, state: checkState(where, state), acceptState }),
  );
  checkAlike(where, setups);
  let caller = 0;
  let shared: Promise<Executor> | undefined;
  const start = async (member: number): Promise<Executor> => {
    const { runtime } = await planExecutor(where, executor);
    if (!runtime) return eagerScan(setups[member]);
    shared ??= Promise.resolve(sharedExecutor(runtime, setups, () => caller, threads));
    const machine = await shared;
    const run: Executor['run'] = (inputs, statics) => {
      caller = member; // calls take turns: nobody else's comes before this one has ended
      return machine.run(inputs, statics);
    };
    return { run, dispose: () => machine.dispose() };
  };
  return setups.map((_, member) =>
    callable(`compiled function ${name}`, () => start(member)),
  ) as unknown as Compiled<Inputs>[];
}

function sharedExecutor(
  runtime: Runtime,
  setups: readonly StepSetup[],
  caller: () => number,
  threads: ThreadSetting | undefined,
): Executor {
  return graphExecutor(
    runtime,
    setups[0].name,
    (inputs, statics) => {
      const { graph, outputs } = buildScan(setups[0], inputs, statics);
      const members = setups.map(({ state, acceptState }) => new StateBinding(runtime, state, graph, acceptState));
      return { graph, outputs, binding: new MemberBinding(members, caller) };
    },
    { threads },
  );
}

function checkAlike(where: string, setups: readonly StepSetup[]): void {
  if (setups.length === 0) fail(where, 'states of at least one member', 'none', 'Give some.');
  const kinds = setups.map(({ state }) => describe(state));
  const odd = kinds.findIndex((kind) => kind !== kinds[0]);
  if (odd > 0) fail(where, `variables like the first member's: ${kinds[0]}`, kinds[odd], 'Give members of one kind.');
}

function describe(state: StepSetup['state']): string {
  return Object.entries(state)
    .map(([key, group]) => `${key}: ${describeGroup(group)}`)
    .join('; ');
}
