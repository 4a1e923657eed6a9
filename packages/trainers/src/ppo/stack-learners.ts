import { allocate, dtypeOf, type NamedArrays, type NDArray } from '@coplay/core';
import { type AlignedCalls, type ArraysOf, compileTogether, stackVariables } from '@coplay/tensor';
import type { Learner } from '../learner';
import { valueStep } from './critic';
import { PpoLearner } from './learner';
import { areFinite, type PpoNetworks, updateOf } from './networks';
import { actStep } from './policy';
import { padRows } from './rows';
import type { PpoSetup } from './setup';
import type { UpdateInputs } from './step';

/** Networks that have been put together, and with which others. */
const stacks = new WeakMap<PpoNetworks, readonly PpoNetworks[]>();

/**
 * Puts PPO learners of one kind (the same networks and options, each with its own weights) together, so that what they do in
 * the same turn runs in one graph: acting, valuing and learning of A agents cost little more than those of one with wider
 * matrices. What each of them learns stays its own. Learners that are alone of their kind stay as they are.
 */
export function stackLearners(learners: readonly Learner[]): void {
  const kinds = new Map<string, PpoLearner[]>();
  for (const learner of learners) {
    if (!(learner instanceof PpoLearner) || learner.setup.executor === 'eager') continue;
    const kind = kindOf(learner.setup);
    kinds.set(kind, [...(kinds.get(kind) ?? []), learner]);
  }
  for (const members of kinds.values()) if (members.length > 1) stack(members);
}

function stack(learners: readonly PpoLearner[]): void {
  const networks = learners.map((learner) => learner.ready());
  const before = stacks.get(networks[0]);
  if (before?.length === networks.length && before.every((member, i) => member === networks[i])) return;
  const { setup } = learners[0];
  const { net, executor } = setup;
  const params = stackVariables(networks.map((member) => member.params));
  const slots = stackVariables(
    networks.map((member) => member.slots),
    'apart',
  );
  const acts = compileTogether(actStep(net), { name: 'ppo/act', state: { params }, executor });
  const values = compileTogether(valueStep(net), { name: 'ppo/value', state: { params }, executor });
  const updates = compileTogether(updateOf(setup), {
    name: 'ppo/update',
    state: { params, slots },
    executor,
    scan: true,
    acceptState: areFinite,
    align: (inputs) => alignUpdates(inputs as readonly UpdateArrays[]),
  });
  networks.forEach((member, i) => {
    member.use({ act: acts[i], value: values[i], update: updates[i] });
    stacks.set(member, networks);
  });
}

/** What learners must have in common to be computed by one graph. */
function kindOf({ config, net, ids, networks }: PpoSetup): string {
  const builders = [networks.network, networks.criticNetwork].map(idOf);
  return JSON.stringify([config, net.stateSize, net.actions, ids.length, builders]);
}

const ids = new WeakMap<object, number>();
let count = 0;

/** A number for each builder of a network that isn't ours: two of the same name may build different ones. */
function idOf(builder: { readonly config: Readonly<Record<string, unknown>> } | undefined): number {
  if (builder?.config['kind'] !== 'layers-model') return 0;
  if (!ids.has(builder)) ids.set(builder, ++count);
  return ids.get(builder)!;
}

/** The inputs of {@link updateOf}, as arrays. */
type UpdateArrays = ArraysOf<UpdateInputs>;

/**
 * Updates of as many steps, minibatches of as many rows and tables of as many rows as the largest has. Rows that are added have
 * weight 0; steps that are added change nothing.
 */
function alignUpdates(inputs: readonly UpdateArrays[]): AlignedCalls {
  const most = (size: (update: UpdateArrays) => number) => Math.max(...inputs.map(size));
  const steps = most(({ each }) => each['places'].shape[0]);
  const rows = most(({ each }) => each['places'].shape[1]);
  const table = most(({ shared }) => Object.values(shared.table)[0].shape[0]);
  return {
    inputs: inputs.map(({ each, shared }) => ({
      each: padSteps(padColumns(each, rows), steps),
      shared: { table: padRows(shared.table, table), scalars: shared.scalars },
    })),
    statics: { isGated: inputs.some(({ each }) => each['places'].shape[0] !== steps) },
  };
}

/** Steps that are added repeat the first one, so that their numbers are finite, with `isStep` 0. */
function padSteps(each: NamedArrays, steps: number): NamedArrays {
  const padded = padRows(each, steps);
  const given = each['isStep'].shape[0];
  for (const [name, { data }] of Object.entries(padded)) {
    if (name === 'isStep') continue;
    const size = data.length / steps;
    for (let step = given; step < steps; step++) data.copyWithin(step * size, 0, size);
  }
  return padded;
}

/** [S, P, ...] to [S, rows, ...] with zeros. */
function padColumns(each: NamedArrays, rows: number): NamedArrays {
  return Object.fromEntries(
    Object.entries(each).map(([name, array]) => [name, name === 'isStep' ? array : padSecond(array, rows)]),
  );
}

function padSecond({ data, shape }: NDArray, rows: number): NDArray {
  const [steps, given, ...rest] = shape as [number, number, ...number[]];
  if (given === rows) return { data, shape };
  const size = data.length / (steps * given);
  const padded = allocate(dtypeOf(data), steps * rows * size);
  for (let step = 0; step < steps; step++) {
    const own = data.subarray(step * given * size, (step + 1) * given * size);
    padded.set(own as Float32Array, step * rows * size);
  }
  return { data: padded, shape: [steps, rows, ...rest] };
}
