import type { Generator, NamedArrays } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import { symlog } from '@coplay/tensor/distributions';
import { initialise, normMlp, type ParamSpecs, prefixed, prefixedSpecs, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { ownNetwork } from '../torso/own-network';
import { imageEncoder } from './image-nets';
import {
  type DreamerObservations,
  flatSizeOf,
  highOfImage,
  observed,
  oneHotCode,
  shapeOf,
  sortedNames,
} from './observations';
import type { DreamerSizes } from './sizes';

/** From observations to tokens. */
export interface DreamerEncoder {
  /** E: units of the perceptron, if there's anything for it, and what convolutions leave of images */
  readonly outputSize: number;
  /** Of a network of one's own, none: only its `init` knows them */
  readonly specs: ParamSpecs;
  /** Fresh parameters. */
  init(generator: Generator): NamedArrays;
  /**
   * @param observations [N, ...] by name
   * @returns [N, E]
   */
  apply(params: TensorRecord, observations: TensorRecord): tf.Tensor2D;
}

/**
 * DreamerV3's encoder: vectors (their symlog), one-hot codes and planes side by side, sorted by name, through a
 * perceptron `mlp/...`; images of one size, their channels joined, through convolutions `cnn/...`.
 *
 * With a network of one's own, `body/...`, the tokens are its features. It reads fields of shape [H, W, C] by name,
 * images as value / high, and everything else in `vector`, sorted by name: symlogs of vectors, one-hot codes, zeros
 * and ones.
 */
export function dreamerEncoder(
  observations: DreamerObservations,
  sizes: DreamerSizes,
  network?: TorsoBuilder,
): DreamerEncoder {
  if (network) return ownEncoder(observations, network);
  const { flat, images } = sortedNames(observations);
  const inputSize = flat.reduce((sum, name) => sum + flatSizeOf(observations[name]), 0);
  const mlp = flat.length > 0 ? normMlp(inputSize, sizes.units, sizes.layers) : undefined;
  const cnn = images.length > 0 ? imageEncoder(joinedShape(observations, images), sizes.depth) : undefined;
  const specs = { ...prefixedSpecs('mlp', mlp?.specs ?? {}), ...prefixedSpecs('cnn', cnn?.specs ?? {}) };
  return {
    outputSize: (mlp?.outputSize ?? 0) + (cnn?.outputSize ?? 0),
    specs,
    init: (generator) => initialise(specs, generator),
    apply: (params, batch) => {
      const tokens: tf.Tensor2D[] = [];
      if (mlp)
        tokens.push(
          mlp.apply(
            within('mlp', params),
            joined(
              flat.map((name) => readFlat(observations, batch, name)),
              1,
            ),
          ),
        );
      if (cnn) {
        const pictures = images.map((name) => readImage(observations, batch, name));
        tokens.push(cnn.apply(within('cnn', params), joined(pictures, 3)));
      }
      return joined(tokens, 1);
    },
  };
}

/** The tokens of a user's network. */
function ownEncoder(observations: DreamerObservations, network: TorsoBuilder): DreamerEncoder {
  const { flat, images } = sortedNames(observations);
  const inputs = Object.fromEntries([...flat, ...images].map((name) => [name, shapeOf(observations[name])]));
  const body = ownNetwork('dreamerNets: option encoderNetwork', network, { inputs });
  return {
    outputSize: body.outputSize,
    specs: {},
    init: (generator) => prefixed('body', body.init(generator)),
    apply: (params, batch) => {
      const read = flat.map((name): [string, tf.Tensor] => {
        return [name, tf.reshape(readFlat(observations, batch, name), [-1, ...inputs[name]])];
      });
      const pictures = images.map((name): [string, tf.Tensor] => [name, readImage(observations, batch, name)]);
      return body.apply(within('body', params), Object.fromEntries([...read, ...pictures]));
    },
  };
}

/** An observation as networks read it, flattened: [N, size] */
function readFlat(observations: DreamerObservations, batch: TensorRecord, name: string): tf.Tensor {
  const observation = observations[name];
  const x = observed('encoder', batch, name);
  if (observation.kind === 'discrete') return oneHotCode(tf.reshape(x, [-1]), observation.classes);
  const numbers = tf.reshape(x, [-1, flatSizeOf(observation)]);
  return observation.kind === 'vector' ? symlog(numbers) : numbers;
}

/** [N, H, W, C] from 0 to 1 */
function readImage(observations: DreamerObservations, batch: TensorRecord, name: string): tf.Tensor {
  return tf.div(observed('encoder', batch, name), highOfImage(observations[name]));
}

/** The shape of all images with their channels joined. */
export function joinedShape(observations: DreamerObservations, images: readonly string[]): readonly number[] {
  const shapes = images.map((name) => (observations[name] as { readonly shape: readonly number[] }).shape);
  const [height, width] = shapes[0];
  return [height, width, shapes.reduce((sum, [, , channels]) => sum + channels, 0)];
}

function joined<T extends tf.Tensor>(parts: readonly tf.Tensor[], axis: number): T {
  return (parts.length === 1 ? parts[0] : tf.concat([...parts], axis)) as T;
}
