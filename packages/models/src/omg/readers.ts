import type { Generator, NamedArrays } from '@coplay/core';
import type { TensorRecord, tf } from '@coplay/tensor';
import type { InputShapes } from '../inputs';
import { type Layer, prefixed, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { flattenInputs } from '../torso/flatten';
import { ownNetwork } from '../torso/own-network';

/** A network from an observed state to features. */
export interface StateReader {
  readonly outputSize: number;
  init(generator: Generator): NamedArrays;
  /** [N, ...] for each input to [N, outputSize] */
  apply(params: TensorRecord, state: TensorRecord): tf.Tensor2D;
}

/** A layer over all inputs, flattened. */
export function flatReader(inputs: InputShapes, { outputSize, init, apply }: Layer): StateReader {
  return { outputSize, init, apply: (params, state) => apply(params, flattenInputs(inputs, state)) };
}

/** A user's network, with parameters `body/...`. */
export function ownReader(where: string, inputs: InputShapes, network: TorsoBuilder): StateReader {
  const body = ownNetwork(where, network, { inputs });
  return {
    outputSize: body.outputSize,
    init: (generator) => prefixed('body', body.init(generator)),
    apply: (params, state) => body.apply(within('body', params), state),
  };
}
