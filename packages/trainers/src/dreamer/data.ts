/*
 * The data of an update: a sample of the replay and noise become arrays, the inputs of a compiled update; inside it
 * their tensors become what losses read. Shapes: B sequences of T steps, N start states, H imagined steps, A numbers of
 * an action's code, M co-players, D numbers of h, S latents of z.
 */
import type { SequenceSample } from '@coplay/buffers';
import { type Generator, type NamedArrays, type NDArray, ndarray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import type { DreamerBatch, DreamerNets, RssmState } from '@coplay/models/dreamer';
import { oneHotCode } from '@coplay/models/dreamer';
import { type TensorRecord, tf } from '@coplay/tensor';
import type { ImaginationNoise } from './imagination';
import type { ResolvedDreamerOptions } from './options';

/** What every part of an update needs. */
export interface DreamerParts {
  readonly nets: DreamerNets;
  readonly options: ResolvedDreamerOptions;
}

/**
 * A sample as inputs of an update:
 *
 *   obs/NAME                                    [B, T, ...]
 *   previousActions                             [B, T] int32, that led here; -1: none. Several choices [B, T, choices];
 *                                               of a box [B, T, values] float32 from -1 to 1, 0 for none
 *   rewards, isFirst, isLast, isTerminal        [B, T] on arrival
 *   legal                                       [B, T, options] where the legal actions are learned
 *   coPlayerActions                             [B, T, M] int32 as previousActions, where co-players are modelled
 *   coPlayersActive                             [B, T, M] 1 for co-players that act after this observation
 *   startDeter, startStoch                      [B, D], [B, S] the state before the first step, its classes as int32
 *
 * Without stored states every sequence begins as an episode does. An episode that was broken off, so that the next one
 * follows in the stream, ends there: DreamerV3's annotation of its replay.
 */
export function batchInputs({ rows }: SequenceSample, replayLatents: boolean): NamedArrays {
  const { startDeter, startStoch, ...fields } = rows;
  const [B, T] = fields['isFirst'].shape;
  const isFirst = fields['isFirst'].data;
  const isLast = fields['isLast'].data;
  for (let b = 0; b < B; b++) {
    if (!replayLatents) isFirst[b * T] = 1;
    for (let t = 0; t < T - 1; t++) if (isFirst[b * T + t + 1] === 1) isLast[b * T + t] = 1;
  }
  if (!startDeter) return fields;
  const deter = Float32Array.from(firstSteps(startDeter, 1).data);
  const stoch = Int32Array.from(firstSteps(startStoch, 1).data);
  const [D, S] = [startDeter, startStoch].map(({ shape }) => shape[2]);
  return { ...fields, startDeter: ndarray(deter, [B, D]), startStoch: ndarray(stoch, [B, S]) };
}

/** [B, T, ...] to [B, count, ...] */
export function firstSteps({ data, shape: [B, T, ...rest] }: NDArray, count: number): NDArray {
  const size = sizeOf(rest);
  const first = data.slice(0, B * count * size);
  for (let b = 0; b < B; b++) first.set(data.subarray(b * T * size, (b * T + count) * size), b * count * size);
  return { data: first, shape: [B, count, ...rest] };
}

/** Uniform numbers in [0, 1) that float32 holds exactly: none rounds up to 1. */
export function uniformNoise(generator: Generator, shape: readonly number[]): NDArray<Float32Array> {
  const data = new Float32Array(sizeOf(shape));
  for (let i = 0; i < data.length; i++) data[i] = (generator.uint32() >>> 8) / 0x1000000;
  return ndarray(data, [...shape]);
}

/** Numbers of the standard normal distribution. */
function normalNoise(generator: Generator, shape: readonly number[]): NDArray<Float32Array> {
  return ndarray(
    Float32Array.from({ length: sizeOf(shape) }, () => generator.normal()),
    [...shape],
  );
}

/** Noise of the posterior samples of B sequences of T steps: `noise/posterior` [B, T, S]. */
export function posteriorNoise(nets: DreamerNets, generator: Generator, B: number, T: number): NamedArrays {
  return { 'noise/posterior': uniformNoise(generator, [B, T, nets.sizes.stoch]) };
}

/**
 * Noise of H imagined steps from N states: `noise/prior` [H, N, S], `noise/actions` [H + 1, N, a] as `actor.noise`
 * says, and `noise/coPlayers` [H, N, M] where co-players are modelled.
 */
export function imaginationNoise(nets: DreamerNets, generator: Generator, N: number, H: number): NamedArrays {
  const { kind, size } = nets.actor.noise;
  const actionNoise = kind === 'normal' ? normalNoise : uniformNoise;
  return {
    'noise/prior': uniformNoise(generator, [H, N, nets.sizes.stoch]),
    'noise/actions': actionNoise(generator, [H + 1, N, size]),
    ...(nets.coPlayers && { 'noise/coPlayers': uniformNoise(generator, [H, N, nets.coPlayers.count]) }),
  };
}

/** The arrays of {@link imaginationNoise}, once they are tensors, as imagination reads them. */
export function noiseOf(inputs: TensorRecord): ImaginationNoise {
  const [latents, actions, coPlayers] = ['prior', 'actions', 'coPlayers'].map(
    (name) => inputs[`noise/${name}`] as tf.Tensor3D,
  );
  return { latents, actions, ...(coPlayers && { coPlayers }) };
}

/** The tensors of {@link batchInputs} as the world model reads them. */
export function batchOf({ nets }: DreamerParts, inputs: TensorRecord): DreamerBatch {
  return {
    observations: observationsOf(nets, inputs),
    actions: previousCodes(nets, inputs) as tf.Tensor3D,
    rewards: inputs['rewards'] as tf.Tensor2D,
    isFirst: inputs['isFirst'] as tf.Tensor2D,
    isTerminal: inputs['isTerminal'] as tf.Tensor2D,
  };
}

/** `obs/NAME` of the inputs by NAME. */
export function observationsOf(nets: DreamerNets, inputs: TensorRecord): TensorRecord {
  return Object.fromEntries(Object.keys(nets.observations).map((name) => [name, inputs[`obs/${name}`]]));
}

/**
 * Codes of the actions that led here, [..., A]; with the co-players' after the agent's own where they are modelled,
 * [..., A + M A].
 */
export function previousCodes({ actor, coPlayers }: DreamerNets, inputs: TensorRecord): tf.Tensor {
  const own = actor.code(inputs['previousActions']);
  return coPlayers ? tf.concat([own, coPlayers.code(inputs['coPlayerActions'])], -1) : own;
}

/** Which co-players act in the start states of imagination, [N, M]; nothing where they aren't modelled. */
export function startingCoPlayers({ nets, options }: DreamerParts, inputs: TensorRecord): tf.Tensor2D | undefined {
  if (!nets.coPlayers) return undefined;
  const [B, T, M] = inputs['coPlayersActive'].shape;
  const K = Math.min(options.starts, T);
  return tf.reshape(tf.slice(inputs['coPlayersActive'], [0, T - K, 0], [B, K, M]), [B * K, M]);
}

/** The states before the first steps. */
export function startOf({ nets }: DreamerParts, inputs: TensorRecord): RssmState {
  const rows = inputs['isFirst'].shape[0];
  if (!inputs['startDeter']) return nets.rssm.initial(rows);
  return stateOf(nets, inputs['startDeter'], inputs['startStoch']);
}

/** A state of its numbers [..., D] and the classes [..., S] of its latents. */
export function stateOf(nets: DreamerNets, deter: tf.Tensor, classes: tf.Tensor): RssmState {
  return { deter: deter as tf.Tensor2D, stoch: oneHotCode(classes, nets.sizes.classes) as tf.Tensor3D };
}

/** The classes [..., S] int32 of one-hot latents [..., S, C]. */
export function classesOf(stoch: tf.Tensor): tf.Tensor {
  return tf.argMax(stoch, -1);
}

/** A mean over everything, []. */
export function meanOf(x: tf.Tensor): tf.Scalar {
  return tf.mean(x) as tf.Scalar;
}
