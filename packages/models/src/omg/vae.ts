import { checkShapes, type Generator, type NamedArrays } from '@coplay/core';
import { checkGenerator, checkRecord } from '@coplay/core/checks';
import { type LossResult, type TensorRecord, tf } from '@coplay/tensor';
import { flatSize } from '../inputs';
import { denseLayer, prefixed, within } from '../layers';
import { checkInputs } from '../torso/flatten';
import { type Gaussian, gaussianSample, standardKl } from './gaussian';
import { actionLikelihood, checkOmgRows, type OmgRows, perceptron, stateLikelihood, weightedRows } from './likelihood';
import { type OmgNetOptions, type OmgNetSettings, omgNetSettings } from './options';
import { flatReader, ownReader, type StateReader } from './readers';

/**
 * A variational autoencoder on single states (Kingma and Welling 2014): the prior model of OMG (Yu, Jiang, Lu 2024),
 * whose latents are subgoals. Trained first, then frozen. With the loss `action` its latent has to help to predict the
 * agent's action; the head sees the state and the time too.
 */
export interface StateVae {
  /** D */
  readonly goalDim: number;
  /**
   * Parameters `encoder/...` and `decoder/...`; those of networks of your own are `encoder/body/...` and
   * `decoder/body/...`.
   */
  init(generator: Generator): NamedArrays;
  /** The latents p(g | s) of states: [N, D]. */
  encode(params: TensorRecord, inputs: TensorRecord): Gaussian;
  /**
   * loss = nll + klWeight KL(p(g | s) || N(0, 1)), means over the rows by their weights.
   *
   * @param noise    [N, D] standard normal numbers
   * @param weights  [N] at least 0
   * @returns the loss with the metrics `nll` and `kl` []
   */
  loss(params: TensorRecord, rows: OmgRows, noise: tf.Tensor2D, weights: tf.Tensor1D): LossResult;
}

/** Half of the width of the range that logarithms of variances are kept in: exp(-8) to exp(8). */
const LOG_VAR_LIMIT = 8;

/** Builds the networks; nothing is drawn yet. */
export function stateVae(options: OmgNetOptions): StateVae {
  const settings = omgNetSettings('stateVae', options);
  const { inputs: shapes, goalDim, loss: kind, klWeight } = settings;
  const encoder = stateEncoder(settings);
  const where = 'stateVae: option decoderNetwork';
  const decoder = kind === 'action' ? actionLikelihood(where, settings) : stateLikelihood(where, settings, 0);

  const encode = (params: TensorRecord, inputs: TensorRecord): Gaussian =>
    gaussianOf(encoder.apply(within('encoder', params), inputs));

  return {
    goalDim,
    init: (generator) => {
      checkGenerator('stateVae.init', generator);
      return {
        ...prefixed('encoder', encoder.init(generator.fork())),
        ...prefixed('decoder', decoder.init(generator.fork())),
      };
    },
    encode: (params, inputs) => {
      checkRecord('stateVae.encode', 'params', params);
      checkInputs('stateVae.encode', shapes, inputs);
      return encode(params, inputs);
    },
    loss: (params, rows, noise, weights) => {
      const where = 'stateVae.loss';
      checkRecord(where, 'params', params);
      checkOmgRows(where, settings, rows);
      checkShapes(where, { noise }, `N ${goalDim}`);
      checkShapes(where, { weights }, 'N');
      const latent = encode(params, rows.inputs);
      const nll = decoder.nll(within('decoder', params), rows, gaussianSample(latent, noise));
      const metrics = { nll: weightedRows(nll, weights), kl: weightedRows(standardKl(latent), weights) };
      return { loss: tf.add(metrics.nll, tf.mul(klWeight, metrics.kl)) as tf.Scalar, metrics };
    },
  };
}

/** From a state to 2 D numbers. */
function stateEncoder({ inputs, goalDim, hidden, encoderNetwork }: OmgNetSettings): StateReader {
  if (!encoderNetwork) return flatReader(inputs, perceptron(flatSize(inputs), hidden, 2 * goalDim));
  const body = ownReader('stateVae: option encoderNetwork', inputs, encoderNetwork);
  const head = denseLayer({ inputSize: body.outputSize, outputSize: 2 * goalDim, gain: 1 });
  return {
    outputSize: head.outputSize,
    init: (generator) => ({ ...body.init(generator.fork()), ...prefixed('head', head.init(generator.fork())) }),
    apply: (params, state) => head.apply(within('head', params), body.apply(params, state)),
  };
}

/** Mean and logarithm of the variance out of [N, 2 D]. */
export function gaussianOf(numbers: tf.Tensor2D): Gaussian {
  const [mean, logVar] = tf.split(numbers, 2, 1) as tf.Tensor2D[];
  return { mean, logVar: tf.clipByValue(logVar, -LOG_VAR_LIMIT, LOG_VAR_LIMIT) as tf.Tensor2D };
}
