import { checkOptions, fail, type NamedArrays, type NDArray } from '@coplay/core';
import { z } from 'zod';
import { callable } from '../callable';
import { type Compiled, checkState, checkStep, commonSchema, type StepFunction, stateSchema } from '../compile';
import { isArray, type TensorTree } from '../convert';
import type { AnyStep, Executor, Statics, StepSetup } from '../executor';
import { checkChoice, type ExecutorChoice, planExecutor } from '../executor-choice';
import { planned } from '../fallback';
import { describeGroup } from '../host-arrays';
import { graphExecutor } from '../onnx/executor';
import { StateBinding } from '../onnx/feeds';
import { type Recorded, signatureOf } from '../onnx/record';
import type { Runtime } from '../onnx/runtime';
import { MAX_SESSIONS } from '../onnx/session-cache';
import type { ThreadSetting } from '../onnx/threads';
import { buildScan, type ScanInputs } from '../scan/compile-scan';
import { eagerScan } from '../scan/eager-scan';
import { leavesOf, type Tree } from '../tree';
import { inTurnElsewhere, oneByOne } from '../turns';
import type { Variables } from '../variables';
import { type Lane, openLanes } from './lanes';
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

const schema = z.strictObject({ ...commonSchema, states: z.array(stateSchema) });

/**
 * `compileScan` for several members of one kind, each with its own variables: the function is traced once for all of
 * them, and each member's call runs on its own, several at once where there are cores for it. (`compileStacked`
 * computes members in one graph, which pays where their arrays are small; this one works on arrays that fit into the
 * processor's caches.)
 *
 * @returns one compiled function for each member; when one is disposed, the others make their graphs again
 * @throws CoplayError as `compileScan`, and for members unlike the first
 */
export function compileScanEach<Key extends string, Inputs extends ScanInputs<TensorTree> = ScanInputs>(
  fn: StepFunction<Key, Inputs>,
  options: ScanEachOptions<Key>,
): Compiled<Inputs>[] {
  checkStep('compileScanEach', fn, options);
  const { name, states, executor = 'auto', threads, acceptState = () => true } = options;
  const where = `compileScanEach(${name})`;
  checkChoice(where, executor);
  checkOptions(where, schema, options);
  const setups = states.map(
    (state): StepSetup => ({ name, fn: fn as unknown as AnyStep, state: checkState(where, state), acceptState }),
  );
  checkAlike(where, setups);
  let machines: Promise<MemberExecutors> | undefined;
  const start = async (member: number): Promise<Executor> => {
    const plan = await planExecutor(where, executor);
    // Members may run in other threads, where no code is generated: the choice mustn't depend on the number of cores.
    if (plan.runtime) machines ??= laneExecutors(plan.runtime.whole ?? plan.runtime, setups, threads);
    const compiled = await machines;
    return planned(
      `compiled function ${name}`,
      plan,
      () => compiled!(member),
      () => eagerScan(setups[member]),
    );
  };
  return setups.map(({ state }, member) => {
    const turn = <T>(job: () => Promise<T>) => inTurnElsewhere(Object.values(state), job);
    return callable(`compiled function ${name}`, () => start(member), undefined, turn);
  }) as unknown as Compiled<Inputs>[];
}

type MemberExecutors = (member: number) => Executor;

/** Members by turns on as many lanes as there are. */
async function laneExecutors(
  runtime: Runtime,
  setups: readonly StepSetup[],
  threads: ThreadSetting | undefined,
): Promise<MemberExecutors> {
  const build = once((inputs, statics) => buildScan(setups[0], inputs, statics));
  const lanes = await openLanes(runtime, setups.length, threads);
  const machines = lanes.map((lane) => laneExecutor(lane, setups, build, threads));
  // The first calls run one by one: a trial of threads is made once then, undisturbed, and holds for all lanes.
  const all = {};
  let isTried = false;
  return (member) => {
    const machine = machines[member % machines.length](member);
    const run: Executor['run'] = async (inputs, statics) => {
      if (isTried) return machine.run(inputs, statics);
      const result = await oneByOne(all, () => machine.run(inputs, statics));
      isTried = true;
      return result;
    };
    return { ...machine, run };
  };
}

/** Members that share graphs, and take turns. */
function laneExecutor(
  lane: Lane,
  setups: readonly StepSetup[],
  build: Build,
  threads: ThreadSetting | undefined,
): MemberExecutors {
  const { runtime, cores } = lane;
  let caller = 0;
  const machine = graphExecutor(
    runtime,
    setups[0].name,
    (inputs, statics) => {
      const { graph, outputs } = build(inputs, statics);
      const members = setups.map(({ state, acceptState }) => new StateBinding(runtime, state, graph, acceptState));
      return { graph, outputs, binding: new MemberBinding(members, () => caller) };
    },
    { cores, ...(threads === undefined ? {} : { threads }) },
  );
  return (member) => ({
    run: (inputs, statics) =>
      oneByOne(lane, () => {
        caller = member; // no other call comes before this one has ended
        return machine.run(inputs, statics);
      }),
    dispose: () => oneByOne(lane, () => machine.dispose()),
  });
}

type Build = (inputs: Tree<NDArray>, statics: Statics) => Recorded;

/** Caches the builds for the last signatures: lanes ask for the same. */
function once(build: Build): Build {
  const built = new Map<string, Recorded>();
  return (inputs, statics) => {
    const signature = signatureOf(leavesOf('compileScanEach', inputs, isArray), statics);
    const known = built.get(signature) ?? build(inputs, statics);
    built.set(signature, known);
    if (built.size > MAX_SESSIONS) built.delete(built.keys().next().value!);
    return known;
  };
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
