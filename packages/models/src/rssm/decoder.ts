import type { Generator, NamedArrays } from '@coplay/core';
import { mapColumns } from '@coplay/core/rows';
import { type TensorRecord, tf } from '@coplay/tensor';
import { bernoulliLoss, codesLoss, symexp, symlog } from '@coplay/tensor/distributions';
import { initialise, linear, linearSpecs, normMlp, type ParamSpecs, prefixed, prefixedSpecs, within } from '../layers';
import type { TorsoBuilder } from '../torso';
import { ownNetwork } from '../torso/own-network';
import { joinedShape } from './encoder';
import { imageDecoder } from './image-nets';
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

/** Flattened states that are decoded. */
export interface FlatState {
  /** [N, D] */
  readonly deter: tf.Tensor2D;
  /** [N, Z] */
  readonly stoch: tf.Tensor2D;
}

/** From states back to observations. */
export interface DreamerDecoder {
  /** Of a network of one's own, none: only its `init` knows them */
  readonly specs: ParamSpecs;
  /** Fresh parameters. */
  init(generator: Generator): NamedArrays;
  /**
   * Raw outputs by name, [N, size]: symlogs of vectors, logits of discrete ones, codes and planes, and values / high of
   * images.
   */
  apply(params: TensorRecord, state: FlatState): TensorRecord;
  /**
   * The loss of each observation [N], summed over its dimensions: squared error in symlog space for vectors (without a
   * factor of 1/2), cross entropy for discrete ones, codes and planes, squared error for images.
   */
  losses(outputs: TensorRecord, observations: TensorRecord): TensorRecord;
  /** The expected observation, for pictures: numbers, probabilities of classes, chances of a 1, values 0 to high. */
  predictions(outputs: TensorRecord): TensorRecord;
}

/**
 * DreamerV3's decoder: a perceptron `mlp/...` over [z, h] with one linear head for each observation, and `cnn/...` for
 * images.
 *
 * With a network of one's own, `body/...`, it reads [z, h] as `vector` and predicts an array of the observation's shape
 * for each, sorted by name, images last: symlogs of vectors, logits of discrete ones, codes and planes, and logits of
 * value / high of images.
 */
export function dreamerDecoder(
  observations: DreamerObservations,
  sizes: DreamerSizes,
  network?: TorsoBuilder,
): DreamerDecoder {
  const outputs = network ? ownOutputs(observations, sizes, network) : defaultOutputs(observations, sizes);
  return { ...outputs, ...likelihood(observations) };
}

type Outputs = Pick<DreamerDecoder, 'specs' | 'init' | 'apply'>;

/** The raw outputs of our perceptron and convolutions. */
function defaultOutputs(observations: DreamerObservations, sizes: DreamerSizes): Outputs {
  const { flat, images } = sortedNames(observations);
  const featureSize = sizes.deter + sizes.stoch * sizes.classes;
  const mlp = normMlp(featureSize, sizes.units, sizes.layers);
  const cnn = images.length > 0 ? imageDecoder(joinedShape(observations, images), sizes) : undefined;
  const heads = flat.map((name) =>
    prefixedSpecs(`head/${name}`, linearSpecs(mlp.outputSize, flatSizeOf(observations[name]))),
  );
  const specs: ParamSpecs = {
    ...(flat.length > 0 && prefixedSpecs('mlp', mlp.specs)),
    ...Object.assign({}, ...heads),
    ...prefixedSpecs('cnn', cnn?.specs ?? {}),
  };
  return {
    specs,
    init: (generator) => initialise(specs, generator),
    apply: (params, { deter, stoch }) => {
      const outputs: TensorRecord = {};
      if (flat.length > 0) {
        const x = mlp.apply(within('mlp', params), tf.concat([stoch, deter], 1) as tf.Tensor2D);
        for (const name of flat) outputs[name] = linear(params, `head/${name}`, x);
      }
      if (cnn) Object.assign(outputs, apart(observations, images, cnn.apply(within('cnn', params), deter, stoch)));
      return outputs;
    },
  };
}

/** The raw outputs of a user's network. */
function ownOutputs(observations: DreamerObservations, sizes: DreamerSizes, network: TorsoBuilder): Outputs {
  const { flat, images } = sortedNames(observations);
  const names = [...flat, ...images];
  const outputs = Object.fromEntries(names.map((name) => [name, shapeOf(observations[name])]));
  const more = sizes.deter + sizes.stoch * sizes.classes;
  const body = ownNetwork('dreamerNets: option decoderNetwork', network, { more, outputs });
  const widths = names.map((name) => flatSizeOf(observations[name]));
  return {
    specs: {},
    init: (generator) => prefixed('body', body.init(generator)),
    apply: (params, { deter, stoch }) => {
      const all = body.apply(within('body', params), {}, tf.concat([stoch, deter], 1) as tf.Tensor2D);
      const parts = widths.length === 1 ? [all] : tf.split(all, widths, 1);
      return Object.fromEntries(names.map((name, i) => [name, i < flat.length ? parts[i] : tf.sigmoid(parts[i])]));
    },
  };
}

/** What raw outputs say of observations. */
function likelihood(observations: DreamerObservations): Pick<DreamerDecoder, 'losses' | 'predictions'> {
  return {
    losses: (outputs, batch) =>
      mapColumns(outputs, (output, name) => {
        const observation = observations[name];
        const x = observed('decoder', batch, name);
        if (observation.kind === 'discrete') {
          return tf.neg(
            tf.sum(tf.mul(oneHotCode(tf.reshape(x, [-1]), observation.classes), tf.logSoftmax(output)), -1),
          );
        }
        const target = tf.reshape(x, [-1, flatSizeOf(observation)]);
        if (observation.kind === 'planes') return tf.sum(bernoulliLoss(output, target), -1);
        if (observation.kind === 'codes') return codesLoss(output, target, observation.classes);
        const scaled = observation.kind === 'vector' ? symlog(target) : tf.div(target, highOfImage(observation));
        return tf.sum(tf.square(tf.sub(output, scaled)), -1);
      }),
    predictions: (outputs) =>
      mapColumns(outputs, (output, name) => {
        const observation = observations[name];
        if (observation.kind === 'vector') return symexp(output);
        if (observation.kind === 'discrete') return tf.softmax(output);
        if (observation.kind === 'codes') {
          const chances = tf.softmax(tf.reshape(output, [-1, observation.classes]));
          return tf.reshape(chances, [-1, ...observation.shape]);
        }
        const shaped = tf.reshape(output, [-1, ...observation.shape]);
        return observation.kind === 'planes' ? tf.sigmoid(shaped) : tf.mul(shaped, highOfImage(observation));
      }),
  };
}

/** Joined channels back to images by name, flattened. */
function apart(observations: DreamerObservations, images: readonly string[], all: tf.Tensor4D): TensorRecord {
  const channels = images.map((name) => (observations[name] as { readonly shape: readonly number[] }).shape[2]);
  const parts = channels.length === 1 ? [all] : tf.split(all, channels, 3);
  return Object.fromEntries(images.map((name, i) => [name, tf.reshape(parts[i], [all.shape[0], -1])]));
}
