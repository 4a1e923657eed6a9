import type { PpoBuffer } from '@coplay/buffers';
import { type Generator, type Metrics, type NamedArrays, ndarray } from '@coplay/core';
import { gatherRows, mapColumns, sliceRows } from '@coplay/core/rows';
import type { Compiled } from '@coplay/tensor';
import { findNonFinite, NonFiniteError } from '../training';
import { firstNonFinite, isFiniteStep } from '../training/finite-steps';
import type { UpdateInputs } from './algorithm';
import { type MinibatchSettings, minibatchInputs, placesOf, planEpoch } from './data';
import { type BatchTally, batchTally } from './metrics';
import type { ResolvedPpoOptions } from './options';

/** The inputs of one update's epochs. */
interface EpochParts {
  /** For messages: `PPO (agent_0), update 3` */
  readonly where: string;
  readonly buffer: PpoBuffer;
  /** Of the table of all rows. */
  readonly columns: NamedArrays;
  readonly update: Compiled<UpdateInputs>;
  readonly options: Pick<ResolvedPpoOptions, 'epochs' | 'targetKl' | 'nonFinite'>;
  readonly settings: MinibatchSettings;
  /** Also `targetWeight` where the table has the column `policyTarget`. */
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
  const places = placesOf(buffer);
  const epochsInCall = options.targetKl === false ? options.epochs : 1;
  for (let done = 0; done < options.epochs; done += epochsInCall) {
    const epochs = Array.from({ length: epochsInCall }, () => planEpoch(buffer, settings, generator));
    const plan = epochs.flat();
    if (plan.length === 0) break;
    const { each, rows } = minibatchInputs(plan, parts.columns, places, settings);
    const outputs = await runMinibatches(parts, each);
    noteTargets(tally, parts.columns, each);
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

/** The critic's targets in minibatches: [S, P] rows, of recurrent networks [S, P, L] steps. */
function noteTargets(tally: BatchTally, columns: NamedArrays, { places, weights }: NamedArrays): void {
  const ofCritic = { returns: columns['returns'], weights: columns['criticWeights'] ?? columns['returns'] };
  const taken = gatherRows(ofCritic, places.data);
  const own = columns['criticWeights'] ? weights.data.map((weight, i) => weight * taken.weights.data[i]) : weights.data;
  tally.addTargets(taken.returns.data, own);
}

/** Runs minibatches one after the other; where one isn't finite, nothing of it is kept. */
async function runMinibatches(parts: EpochParts, each: NamedArrays): Promise<NamedArrays> {
  const { update, annealed, options, where } = parts;
  const scalars = mapColumns(annealed, (value) => ndarray(Float32Array.of(value), []));
  const { advantages: _, ...table } = parts.columns; // each minibatch has normalised ones
  const shared = { table, scalars };
  const outputs = (await update({ each, shared })) as NamedArrays;
  const bad = firstNonFinite(outputs);
  if (bad === undefined) return outputs;
  if (options.nonFinite === 'stop') {
    const inputs = { ...minibatchAt(parts.columns, each, bad), ...scalars };
    throw new NonFiniteError(where, describe(outputs, bad, inputs), inputs);
  }
  const single: NamedArrays[] = [];
  for (let step = 0; step < each['places'].shape[0]; step++) {
    single.push((await update({ each: sliceRows(each, step, step + 1), shared })) as NamedArrays);
  }
  return mapColumns(outputs, (_output, name) => ndarray(Float32Array.from(single, (out) => out[name].data[0])));
}

/** A minibatch, for people to look at. */
function minibatchAt(columns: NamedArrays, each: NamedArrays, step: number): NamedArrays {
  const { places, ...own } = sliceRows(each, step, step + 1);
  const flat = mapColumns(own, ({ data, shape }) => ({ data, shape: shape.slice(1) }));
  return { ...gatherRows(columns, places.data), ...flat };
}

function describe(outputs: NamedArrays, step: number, inputs: NamedArrays): string {
  const given = findNonFinite(inputs);
  const came = `loss ${outputs['loss'].data[step]}, gradient norm ${outputs['gradientNorm'].data[step]}`;
  return given ? `${came}, from the input ${given}` : `${came}, from finite inputs`;
}
