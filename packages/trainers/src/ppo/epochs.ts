import { gatherRows, type PpoBuffer } from '@coplay/buffers';
import { type Generator, type Metrics, type NamedArrays, ndarray } from '@coplay/core';
import type { Compiled } from '@coplay/tensor';
import { findNonFinite, NonFiniteError } from '../training';
import { firstNonFinite, isFiniteStep } from '../training/finite-steps';
import { type BatchTally, batchTally } from './metrics';
import { type MinibatchSettings, minibatchInputs, planEpoch, rowTable } from './minibatches';
import type { ResolvedPpoOptions } from './options';
import type { UpdateInputs } from './step';

/** What the epochs of one update are made with. */
export interface EpochParts {
  /** For messages: `PPO (agent_0), update 3` */
  readonly where: string;
  readonly buffer: PpoBuffer;
  readonly update: Compiled<UpdateInputs>;
  readonly options: Pick<ResolvedPpoOptions, 'epochs' | 'targetKl' | 'nonFinite'>;
  readonly settings: MinibatchSettings;
  readonly annealed: Readonly<Record<'learningRate' | 'entropyWeight' | 'clip', number>>;
}

/**
 * The epochs of one update. They run in one call; one call for each epoch where `targetKl` may stop them.
 *
 * @throws NonFiniteError with the offending minibatch, unless those are skipped
 */
export async function runEpochs(parts: EpochParts, generator: Generator): Promise<Metrics> {
  const { buffer, options, settings, annealed } = parts;
  const tally = batchTally(annealed);
  if (buffer.rows.real + buffer.rows.imagined === 0) return tally.result();
  const table = rowTable(buffer);
  const epochsInCall = options.targetKl === false ? options.epochs : 1;
  for (let done = 0; done < options.epochs; done += epochsInCall) {
    const epochs = Array.from({ length: epochsInCall }, () => planEpoch(buffer, settings, generator));
    const plan = epochs.flat();
    if (plan.length === 0) break;
    const { each, rows } = minibatchInputs(plan, table, settings);
    const outputs = await runSteps(parts, table, each);
    let step = 0;
    for (const epoch of epochs) {
      tally.startEpoch();
      for (const _ of epoch) note(tally, outputs, step, rows[step++]);
    }
    if (options.targetKl !== false && tally.epochKl() > options.targetKl) break;
  }
  return tally.result();
}

function note(tally: BatchTally, outputs: NamedArrays, step: number, rows: number): void {
  if (isFiniteStep(outputs, step)) tally.add(outputs, step, rows);
  else tally.skip();
}

/** Runs minibatches one after the other; where one isn't finite, nothing of it is kept. */
async function runSteps(parts: EpochParts, table: NamedArrays, each: NamedArrays): Promise<NamedArrays> {
  const { update, annealed, options, where } = parts;
  const scalars = Object.fromEntries(
    Object.entries(annealed).map(([name, value]) => [name, ndarray(Float32Array.of(value), [])]),
  );
  const { advantages: _, ...columns } = table; // those of each step are normalised
  const shared = { table: columns, scalars };
  const outputs = (await update({ each, shared })) as NamedArrays;
  const bad = firstNonFinite(outputs);
  if (bad === undefined) return outputs;
  if (options.nonFinite === 'stop') {
    const inputs = { ...gatherStep(table, each, bad), ...scalars };
    throw new NonFiniteError(where, describeStep(outputs, bad, inputs), inputs);
  }
  const steps = each['places'].shape[0];
  const single: NamedArrays[] = [];
  for (let step = 0; step < steps; step++)
    single.push((await update({ each: stepOf(each, step), shared })) as NamedArrays);
  return Object.fromEntries(
    Object.keys(outputs).map((name) => [name, ndarray(Float32Array.from(single, (out) => out[name].data[0]))]),
  );
}

/** One step's part, as a scan of one step. */
function stepOf(each: NamedArrays, step: number): NamedArrays {
  return Object.fromEntries(
    Object.entries(each).map(([name, { data, shape }]) => {
      const size = data.length / shape[0];
      return [name, { data: data.subarray(step * size, (step + 1) * size), shape: [1, ...shape.slice(1)] }];
    }),
  ) as NamedArrays;
}

/** The minibatch of a step, for people to look at. */
function gatherStep(table: NamedArrays, each: NamedArrays, step: number): NamedArrays {
  const { places, ...own } = stepOf(each, step);
  const rows = gatherRows(table, places.data);
  const flat = Object.entries(own).map(([name, { data, shape }]) => [name, { data, shape: shape.slice(1) }]);
  return { ...rows, ...(Object.fromEntries(flat) as NamedArrays) };
}

function describeStep(outputs: NamedArrays, step: number, inputs: NamedArrays): string {
  const given = findNonFinite(inputs);
  const came = `loss ${outputs['loss'].data[step]}, gradient norm ${outputs['gradientNorm'].data[step]}`;
  return given ? `${came}, from the input ${given}` : `${came}, from finite inputs`;
}
