import { type TensorRecord, tf } from '@coplay/tensor';
import { symlog } from '@coplay/tensor/distributions';
import { normMlp, type ParamSpecs, prefixedSpecs, within } from '../layers';
import { imageEncoder } from './image-nets';
import { type DreamerObservations, flatSizeOf, highOfImage, observed, oneHotCode, sortedNames } from './observations';
import type { DreamerSizes } from './sizes';

/** From observations to tokens. */
export interface DreamerEncoder {
  /** E: units of the perceptron, if there's anything for it, and what convolutions leave of images */
  readonly outputSize: number;
  readonly specs: ParamSpecs;
  /**
   * @param observations [N, ...] by name
   * @returns [N, E]
   */
  apply(params: TensorRecord, observations: TensorRecord): tf.Tensor2D;
}

/**
 * DreamerV3's encoder: vectors (their symlog), one-hot codes and planes side by side, sorted by name, through a
 * perceptron `mlp/...`; images of one size, their channels joined, through convolutions `cnn/...`.
 */
export function dreamerEncoder(observations: DreamerObservations, sizes: DreamerSizes): DreamerEncoder {
  const { flat, images } = sortedNames(observations);
  const inputSize = flat.reduce((sum, name) => sum + flatSizeOf(observations[name]), 0);
  const mlp = flat.length > 0 ? normMlp(inputSize, sizes.units, sizes.layers) : undefined;
  const cnn = images.length > 0 ? imageEncoder(joinedShape(observations, images), sizes.depth) : undefined;
  const read = (batch: TensorRecord, name: string): tf.Tensor => {
    const observation = observations[name];
    const x = observed('encoder', batch, name);
    if (observation.kind === 'discrete') return oneHotCode(tf.reshape(x, [-1]), observation.classes);
    const numbers = tf.reshape(x, [-1, flatSizeOf(observation)]);
    return observation.kind === 'vector' ? symlog(numbers) : numbers;
  };
  return {
    outputSize: (mlp?.outputSize ?? 0) + (cnn?.outputSize ?? 0),
    specs: { ...prefixedSpecs('mlp', mlp?.specs ?? {}), ...prefixedSpecs('cnn', cnn?.specs ?? {}) },
    apply: (params, batch) => {
      const tokens: tf.Tensor2D[] = [];
      if (mlp)
        tokens.push(
          mlp.apply(
            within(params, 'mlp'),
            joined(
              flat.map((name) => read(batch, name)),
              1,
            ),
          ),
        );
      if (cnn) {
        const pictures = images.map((name) =>
          tf.div(observed('encoder', batch, name), highOfImage(observations[name])),
        );
        tokens.push(cnn.apply(within(params, 'cnn'), joined(pictures, 3)));
      }
      return joined(tokens, 1);
    },
  };
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
