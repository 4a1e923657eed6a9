import { type MinibatchRows, type PpoBuffer, planMinibatches } from '@coplay/buffers';
import {
  type ActionSpaces,
  type Experience,
  fail,
  type Generator,
  type NamedArrays,
  type NDArray,
  ndarray,
  normaliseAdvantages,
} from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import {
  allocateRows,
  gatherRows,
  mapColumns,
  nonZero,
  paddedCount,
  type RowSpec,
  reshapeRows,
  rowSpecOf,
  seatRows,
  sliceRows,
} from '@coplay/core/rows';
import { experienceRows, type InputEncoder } from '@coplay/models';
import { prefixed } from '@coplay/models/layers';
import type { ActionDistribution } from '../training/action-distribution';
import type { Targets } from './algorithm';
import type { ResolvedPpoOptions } from './options';
import type { PpoSetup } from './setup';

/**
 * All rows of one update, as the compiled update takes them: the inputs of `ppoUpdate` by name, [R, ...]. A row is a
 * step, for recurrent networks a sequence of L steps. Steps in which an agent wasn't there have rows too; no minibatch
 * takes them.
 */
export interface RowTable {
  readonly columns: NamedArrays;
  /** L; 1 for feedforward networks */
  readonly length: number;
  /** Rows that are given to seats so far. */
  used: number;
}

/** The rows of one seat of an experience: a part of a table. */
export interface SeatRows {
  readonly experience: Experience<ActionSpaces>;
  readonly seat: number;
  /** [E T] 1 where the agent was there */
  readonly active: Uint8Array;
  /** Place of its first row in the table. */
  readonly start: number;
  /** n = E T / L, rows of steps or sequences; rows of zeros follow where there are more */
  readonly count: number;
  /** [P, ...] the columns of the table at these rows; to write here is to write there */
  readonly columns: NamedArrays;
  /** The same memory by steps [E T, ...], without the states. */
  readonly steps: NamedArrays;
}

/** A table of zeros with room for what these learners' agents saw in some experience. */
export function createTable(setup: PpoSetup, experiences: readonly Experience<ActionSpaces>[], length = 1): RowTable {
  const sizes = experiences.map((experience) => seatSize(setup, experience, length));
  const rows = sizes.reduce((sum, size) => sum + size, 0) * setup.ids.length;
  // The number of imagined rows changes in every update. Padded it takes few values, each a graph to compile.
  const columns = allocateRows(tableSpec(setup, length), setup.net.stateSize > 0 ? rows : paddedCount(rows));
  return { columns, length, used: 0 };
}

/** The rows that a seat takes. What feedforward networks value at once is padded. */
function seatSize({ net }: PpoSetup, { envs, steps }: Experience<ActionSpaces>, length: number): number {
  return net.stateSize > 0 ? (envs * steps) / length : paddedCount(envs * steps);
}

function tableSpec(setup: PpoSetup, length: number): RowSpec {
  const { net, actorEncoder, criticEncoder, distribution, options, policyTarget } = setup;
  const inputs = (prefix: string, encoder: InputEncoder) => rowSpecOf(prefixed(prefix, encoder.allocate(0)));
  const number = { dtype: 'float32', shape: [] } as const;
  const steps: RowSpec = {
    ...inputs('actor', actorEncoder),
    ...(criticEncoder === actorEncoder ? {} : inputs('critic', criticEncoder)),
    ...(net.actions > 0 && { mask: { dtype: 'uint8', shape: [net.actions] } as const }),
    actions: distribution.action,
    ...{ logProbs: number, values: number, advantages: number, returns: number },
    ...(options.imaginedActor === 'real-only' && { actorWeights: number }),
    ...(options.imaginedCritic === 'real-only' && { criticWeights: number }),
    ...(policyTarget && { policyTarget: { dtype: 'float32', shape: [net.actions] } }),
  };
  if (net.stateSize === 0) return steps;
  const sequences = mapColumns({ ...steps, isFirst: number }, ({ dtype, shape }) => ({
    dtype,
    shape: [length, ...shape],
  }));
  const state = { dtype: 'float32', shape: [net.stateSize] } as const;
  return { ...sequences, criticState: state, actorState: state };
}

/**
 * Takes the next rows of a table for a seat and encodes its observations once: for the critic's values and for the
 * update.
 */
export function encodeSeat(
  setup: PpoSetup,
  table: RowTable,
  experience: Experience<ActionSpaces>,
  seat: number,
): SeatRows {
  const { net, actorEncoder, criticEncoder } = setup;
  const { used: start, length } = table;
  table.used += seatSize(setup, experience, length);
  const columns = sliceRows(table.columns, start, table.used);
  const { criticState: _, actorState: __, ...perStep } = columns;
  const steps = net.stateSize > 0 ? reshapeRows(perStep, [experience.envs * experience.steps], 2) : perStep;
  const active = seatRows(experience.active, seat, experience.agents.length).data;
  const source = experienceRows(experience, seat);
  const seen = [actorEncoder.encode(source, below('actor/', steps))];
  if (criticEncoder !== actorEncoder) seen.push(criticEncoder.encode(source, below('critic/', steps)));
  // Rows of an absent agent have weight 0, but NaN times 0 would still be NaN, and a recurrent state would carry it on.
  if (net.stateSize > 0) for (const inputs of seen) clearAbsent(inputs, active);
  return { experience, seat, active, start, count: active.length / length, columns, steps };
}

/** Sets the rows [E T, ...] of an absent agent to 0, in place. */
function clearAbsent(arrays: NamedArrays, active: ArrayLike<number>): void {
  for (const { data } of Object.values(arrays)) {
    const size = data.length / active.length;
    for (let row = 0; row < active.length; row++) {
      if (active[row] === 0) data.fill(0, row * size, (row + 1) * size);
    }
  }
}

/** The critic's inputs from a seat's rows, by steps. */
export function criticColumns({ steps }: SeatRows): NamedArrays {
  const own = below('critic/', steps);
  return Object.keys(own).length > 0 ? own : below('actor/', steps);
}

/** The arrays whose names begin with a prefix, without it. */
function below(prefix: string, arrays: NamedArrays): NamedArrays {
  const found = Object.entries(arrays).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(found.map(([name, array]) => [name.slice(prefix.length), array]));
}

/**
 * Writes the rest of a seat's rows; an absent agent's stay 0.
 *
 * @param values   [E, T, A] as the critic predicts them
 * @param targets  in the unit of the predictions
 */
export function fillSeat(
  { net, distribution }: Pick<PpoSetup, 'net' | 'distribution'>,
  { experience, seat, active, steps }: SeatRows,
  values: Float32Array,
  targets: Targets,
): void {
  const { agents, masks, isImagined, extras } = experience;
  const K = experience.actionCount;
  const { data: taken, width: W } = learnedActions(experience, distribution);
  const w = sizeOf(distribution.action.shape);
  const logProbs = extras['logProbs'];
  if (!logProbs) {
    fail('ppo.update', 'experience with the extra logProbs', 'none', 'Collect it with the agent of this learner.');
  }
  for (let step = 0; step < active.length; step++) {
    if (active[step] === 0) continue;
    const from = step * agents.length + seat;
    const isReal = 1 - isImagined[Math.floor(step / experience.steps)];
    for (let k = 0; k < net.actions; k++) steps['mask'].data[step * net.actions + k] = masks[from * K + k];
    for (let i = 0; i < w; i++) steps['actions'].data[step * w + i] = taken[from * W + i];
    steps['logProbs'].data[step] = logProbs.data[from];
    steps['values'].data[step] = values[from];
    steps['advantages'].data[step] = targets.advantages[from];
    steps['returns'].data[step] = targets.returns[from];
    if (steps['actorWeights']) steps['actorWeights'].data[step] = isReal;
    if (steps['criticWeights']) steps['criticWeights'].data[step] = isReal;
  }
}

/** The actions [E, T, A, W] to learn from: of a box the samples before they were clipped or squashed. */
function learnedActions(experience: Experience<ActionSpaces>, { action }: ActionDistribution) {
  const width = experience.actions.length / experience.rewards.length;
  if (action.dtype === 'int32') return { data: experience.actions, width };
  const raw = experience.extras['rawActions'];
  if (!raw) {
    fail('ppo.update', 'experience with the extra rawActions', 'none', 'Collect it with the agent of this learner.');
  }
  return { data: raw.data, width };
}

/** Writes the distributions [E, T, A, K] that the policy is trained towards, in the steps that the agent played. */
export function fillPolicyTarget({ seat, active, steps }: SeatRows, targets: NDArray, agents: number): void {
  const { data } = steps['policyTarget']; // of padded rows, which are more than the steps
  const K = targets.shape[3];
  for (let step = 0; step < active.length; step++) {
    if (active[step] === 0) continue;
    for (let k = 0; k < K; k++) data[step * K + k] = targets.data[(step * agents + seat) * K + k];
  }
}

/**
 * Writes the additional inputs of recurrent networks: the starts of episodes, and the initial state of each sequence.
 *
 * @param criticStates  [E T, S] in which the critic entered each step
 */
export function fillStates({ experience, seat, active, count, columns }: SeatRows, criticStates: NDArray): void {
  const [, size] = criticStates.shape;
  const length = active.length / count;
  const actorStates = experience.extras['actorStates'];
  if (!actorStates) {
    fail('ppo.update', 'experience with the extra actorStates', 'none', 'Collect it with the agent of this learner.');
  }
  for (let step = 0; step < active.length; step++) columns['isFirst'].data[step] = experience.isFirst[step];
  for (let row = 0; row < count; row++) {
    const step = row * length;
    const from = (step * experience.agents.length + seat) * size;
    for (let i = 0; i < size; i++) {
      columns['criticState'].data[row * size + i] = criticStates.data[step * size + i];
      if (active[step] === 1) columns['actorState'].data[row * size + i] = actorStates.data[from + i];
    }
  }
}

/**
 * The rows of a seat that are learned from, as the buffer takes them: their `place` in the table, `isImagined`, and for
 * recurrent networks `weights` [B, L], 0 where the agent wasn't there.
 */
export function learnedRows({ net }: PpoSetup, { experience, active, start, count }: SeatRows): NamedArrays {
  const length = active.length / count;
  const isUsed = Array.from({ length: count }, (_, row) => {
    return active.subarray(row * length, (row + 1) * length).includes(1) ? 1 : 0;
  });
  const imagined = Uint8Array.from({ length: count }, (_, row) => {
    return experience.isImagined[Math.floor((row * length) / experience.steps)];
  });
  const rows = {
    place: ndarray(Int32Array.from({ length: count }, (_, row) => start + row)),
    isImagined: ndarray(imagined),
    ...(net.stateSize > 0 && { weights: ndarray(Float32Array.from(active), [count, length]) }),
  };
  return gatherRows(rows, nonZero(isUsed));
}

/** Minibatches of one update or epoch, as inputs of `tableUpdate`. */
export interface Minibatches {
  /** [S, ...]: `places`, `weights`, `advantages` */
  readonly each: NamedArrays;
  /** By minibatch, the number of steps with a weight above 0. */
  readonly rows: readonly number[];
}

/** What minibatches depend on. */
export type MinibatchSettings = Pick<ResolvedPpoOptions, 'minibatchSize' | 'normaliseAdvantages'> & {
  /** Share of real rows in this update. */
  readonly realRatio: number;
  /** Steps in a row of the buffer: 1, or the length of the sequences. */
  readonly stepsPerRow: number;
};

/** The places in the table of the rows in the buffer, in the order of `buffer.plan`. */
export function placesOf(buffer: PpoBuffer): Int32Array {
  return buffer.table()['place'].data as Int32Array;
}

/** One epoch over the buffer: each row once, in a fresh order. */
export function planEpoch(buffer: PpoBuffer, settings: MinibatchSettings, generator: Generator): MinibatchRows[] {
  const size = Math.max(1, Math.round(settings.minibatchSize / settings.stepsPerRow));
  return buffer.plan(generator, {
    size,
    realRatio: settings.realRatio,
    padTo: paddedSize(buffer, size, settings.realRatio),
  });
}

/**
 * Minibatches one after the other, as inputs.
 *
 * @param columns  of the table
 * @param places   of the buffer's rows in the table
 */
export function minibatchInputs(
  plan: readonly MinibatchRows[],
  columns: NamedArrays,
  places: Int32Array,
  settings: MinibatchSettings,
): Minibatches {
  const isNormalised = settings.normaliseAdvantages === 'minibatch';
  const inTable = plan.map((batch) => ({ ...batch, places: batch.places.map((row) => places[row]) }));
  const advantages = inTable.map((batch) => advantagesOf(batch, columns, isNormalised));
  const [{ weights }] = plan;
  const steps = plan.length;
  const size = weights.data.length;
  return {
    each: {
      places: ndarray(
        join(
          new Int32Array(steps * weights.shape[0]),
          inTable.map((batch) => batch.places),
        ),
        [steps, weights.shape[0]],
      ),
      weights: ndarray(
        join(
          new Float32Array(steps * size),
          plan.map((batch) => batch.weights.data),
        ),
        [steps, ...weights.shape],
      ),
      advantages: ndarray(join(new Float32Array(steps * size), advantages), [steps, ...weights.shape]),
    },
    rows: plan.map((batch) => countPositive(batch.weights.data)),
  };
}

function advantagesOf({ places, weights }: MinibatchRows, columns: NamedArrays, isNormalised: boolean): Float32Array {
  const all = columns['advantages'].data;
  const length = weights.data.length / places.length;
  const own = new Float32Array(weights.data.length);
  places.forEach((place, row) => {
    for (let i = 0; i < length; i++) own[row * length + i] = all[place * length + i];
  });
  return isNormalised ? normaliseAdvantages(own, weights.data) : own;
}

function join<Data extends Float32Array | Int32Array>(target: Data, parts: readonly Data[]): Data {
  parts.forEach((part, i) => {
    target.set(part, i * part.length);
  });
  return target;
}

/** How many sizes of minibatches there are at most: each is another graph to compile. */
const SIZES = 8;

/**
 * The rows that a minibatch is filled up to. Agents that leave early make their number another one in every update; in
 * steps of an eighth of the largest it takes few values.
 */
function paddedSize({ rows }: PpoBuffer, size: number, realRatio: number): number {
  const plan = planMinibatches(rows, { size, realRatio });
  const largest = Math.max(...plan.map(({ real, imagined }) => real + imagined));
  const step = Math.ceil(Math.min(size, paddedCount(rows.real + rows.imagined)) / SIZES);
  return Math.ceil(largest / step) * step;
}

function countPositive(values: ArrayLike<number>): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > 0) count++;
  return count;
}
