import { fail } from '@coplay/core';
import { type TensorRecord, tf } from '@coplay/tensor';
import {
  blockDense,
  blockDenseSpecs,
  linear,
  linearSpecs,
  normed,
  normLayer,
  normLayerSpecs,
  type ParamSpecs,
  prefixedSpecs,
  within,
} from '../layers';
import { paramOf } from '../layers/params';
import type { DreamerSizes } from './sizes';

/** Side of all kernels. */
const KERNEL = 5;
/** Channels of the stages, times `depth`. */
const MULTIPLES = [2, 3, 4, 4];
const STAGES = MULTIPLES.length;

/** Convolutions over images with values from 0 to 1, [N, H, W, C] to [N, outputSize]. */
export interface ImageEncoder {
  readonly outputSize: number;
  readonly specs: ParamSpecs;
  apply(params: TensorRecord, images: tf.Tensor4D): tf.Tensor2D;
}

/** The way back: from h and z to images [N, H, W, C] in (0, 1). */
export interface ImageDecoder {
  readonly specs: ParamSpecs;
  apply(params: TensorRecord, deter: tf.Tensor2D, stoch: tf.Tensor2D): tf.Tensor4D;
}

/** Kernel, bias and the scale of the norm behind it. */
function convSpecs(inputs: number, outputs: number, hasNorm = true): ParamSpecs {
  const fanIn = KERNEL * KERNEL * inputs;
  return {
    kernel: { shape: [KERNEL, KERNEL, inputs, outputs], start: { fanIn, scale: 1 } },
    bias: { shape: [outputs], start: 0 },
    ...(hasNorm && { scale: { shape: [outputs], start: 1 } }),
  };
}

function convolved(params: TensorRecord, name: string, x: tf.Tensor4D): tf.Tensor4D {
  const kernel = paramOf<tf.Tensor4D>('dreamerNets', params, `${name}/kernel`, [KERNEL, KERNEL, x.shape[3], -1]);
  const bias = paramOf<tf.Tensor1D>('dreamerNets', params, `${name}/bias`, [kernel.shape[3]]);
  return tf.add(tf.conv2d(x, kernel, 1, 'same'), bias);
}

/** Sides of the smallest feature map. */
function smallest([height, width]: readonly number[]): [number, number] {
  const factor = 2 ** STAGES;
  if (height % factor !== 0 || width % factor !== 0) {
    const remedy = "Pad the image, or read it without convolutions: images: 'vector'.";
    fail('dreamerNets', `images with sides that ${factor} divides`, `${height} x ${width}`, remedy);
  }
  return [height / factor, width / factor];
}

/** DreamerV3's: four times a convolution, 2x2 max pooling, RMSNorm over channels, SiLU. */
export function imageEncoder(shape: readonly number[], depth: number): ImageEncoder {
  const [height, width] = smallest(shape);
  const channels = [shape[2], ...MULTIPLES.map((multiple) => multiple * depth)];
  const stages = MULTIPLES.map((_, i) => String(i));
  const outputSize = height * width * channels[STAGES];
  return {
    outputSize,
    specs: Object.assign({}, ...stages.map((name, i) => prefixedSpecs(name, convSpecs(channels[i], channels[i + 1])))),
    apply: (params, images) => {
      const centred = tf.sub(images, 0.5) as tf.Tensor4D;
      const features = stages.reduce((x, name) => {
        const pooled = tf.maxPool(convolved(params, name, x), 2, 2, 'same');
        return normed(pooled, paramOf('dreamerNets', params, `${name}/scale`, [pooled.shape[3]]));
      }, centred);
      return tf.reshape(features, [-1, outputSize]);
    },
  };
}

/** DreamerV3's: a small map out of h (in 8 blocks) and z, then four times doubled and convolved. */
export function imageDecoder(shape: readonly number[], sizes: DreamerSizes): ImageDecoder {
  const [height, width] = smallest(shape);
  const { deter, stoch, classes, units, depth } = sizes;
  const channels = MULTIPLES.map((multiple) => multiple * depth);
  const mapSize = height * width * channels[STAGES - 1];
  const blocks = Math.min(8, sizes.blocks);
  const specs: ParamSpecs = {
    ...prefixedSpecs('space0', blockDenseSpecs(deter, mapSize, blocks)),
    ...normLayerSpecs('space1', stoch * classes, 2 * units),
    ...prefixedSpecs('space2', linearSpecs(2 * units, mapSize)),
    'space/scale': { shape: [channels[STAGES - 1]], start: 1 },
    ...Object.assign({}, ...[2, 1, 0].map((i) => prefixedSpecs(String(i), convSpecs(channels[i + 1], channels[i])))),
    ...prefixedSpecs('image', convSpecs(channels[0], shape[2], false)),
  };
  return {
    specs,
    apply: (params, h, z) => {
      const ofDeter = spread(blockDense(within('space0', params), h), blocks, [height, width]);
      const ofStoch = linear(params, 'space2', normLayer(params, 'space1', z));
      const map = tf.add(ofDeter, tf.reshape(ofStoch, ofDeter.shape)) as tf.Tensor4D;
      const features = ['2', '1', '0'].reduce(
        (x, name) => normed(convolved(params, name, doubled(x)), params[`${name}/scale`]),
        normed(map, params['space/scale']),
      );
      return tf.sigmoid(convolved(params, 'image', doubled(features)));
    },
  };
}

/** Each block makes some channels of the whole map: [N, g h w c] to [N, h, w, g c]. */
function spread(x: tf.Tensor2D, blocks: number, [height, width]: readonly [number, number]): tf.Tensor4D {
  const split = tf.reshape(x, [x.shape[0], blocks, height * width, -1]);
  return tf.reshape(tf.transpose(split, [0, 2, 1, 3]), [x.shape[0], height, width, -1]);
}

/** Every pixel twice in both directions. */
function doubled(x: tf.Tensor4D): tf.Tensor4D {
  const [, height, width] = x.shape;
  return tf.image.resizeNearestNeighbor(x, [2 * height, 2 * width]);
}
