import { type Generator, type NamedArrays, ndarray } from '@coplay/core';
import type { DreamerNets } from '@coplay/models';

/** Uniform numbers in [0, 1) that float32 holds exactly: none rounds up to 1. */
export function uniformNoise(generator: Generator, shape: readonly number[]) {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  for (let i = 0; i < data.length; i++) data[i] = (generator.uint32() >>> 8) / 0x1000000;
  return ndarray(data, [...shape]);
}

/** Noise of the posterior samples of B sequences of T steps: `noise/posterior` [B, T, S]. */
export function posteriorNoise(nets: DreamerNets, generator: Generator, B: number, T: number): NamedArrays {
  return { 'noise/posterior': uniformNoise(generator, [B, T, nets.sizes.stoch]) };
}

/**
 * Noise of H imagined steps from N states: `noise/prior` [H, N, S], `noise/actions` [H + 1, N, 1], and
 * `noise/coPlayers` [H, N, M] where co-players are modelled.
 */
export function imaginationNoise(nets: DreamerNets, generator: Generator, N: number, H: number): NamedArrays {
  return {
    'noise/prior': uniformNoise(generator, [H, N, nets.sizes.stoch]),
    'noise/actions': uniformNoise(generator, [H + 1, N, nets.actor.noise.size]),
    ...(nets.coPlayers && { 'noise/coPlayers': uniformNoise(generator, [H, N, nets.coPlayers.count]) }),
  };
}
