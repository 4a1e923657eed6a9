import { checkArgument, checkFunction, type Generator, type NamedArrays } from '@coplay/core';
import type { TensorRecord, tf } from '@coplay/tensor';
import { z } from 'zod';
import type { InputShapes } from '../inputs';

/** The body of a network: from everything it reads to one vector of features. */
export interface Torso {
  readonly outputSize: number;
  init(generator: Generator): NamedArrays;
  /**
   * @param inputs one tensor [B, ...shape] for each of the input shapes; float32
   * @returns [B, outputSize]
   */
  apply(params: TensorRecord, inputs: TensorRecord): tf.Tensor2D;
}

/**
 * What a user chooses as a network: given the shapes of its inputs, a torso. `config` describes it in run directories.
 */
export interface TorsoBuilder {
  (shapes: InputShapes): Torso;
  readonly config: Readonly<Record<string, unknown>>;
}

const configSchema = z.record(z.string(), z.unknown());

/** Puts the description beside the function. */
export function torsoBuilder(config: Record<string, unknown>, build: (shapes: InputShapes) => Torso): TorsoBuilder {
  checkArgument('torsoBuilder', 'config', configSchema, config);
  checkFunction('torsoBuilder', 'build', build);
  return Object.assign((shapes: InputShapes) => build(shapes), { config });
}
