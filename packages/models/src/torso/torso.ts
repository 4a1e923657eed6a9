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

/** A user's choice of a network: makes a torso for given shapes of inputs. `config` describes it in run directories. */
export interface TorsoBuilder {
  (shapes: InputShapes): Torso;
  readonly config: Readonly<Record<string, unknown>>;
}

const configSchema = z.record(z.string(), z.unknown());

/** Adds the description to the function. */
export function torsoBuilder(config: Record<string, unknown>, build: (shapes: InputShapes) => Torso): TorsoBuilder {
  checkArgument('torsoBuilder', 'config', configSchema, config);
  checkFunction('torsoBuilder', 'build', build);
  return Object.assign((shapes: InputShapes) => build(shapes), { config });
}
