import { stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { bias, gumbel, kernel, numbers } from './numbers';

// A recurrent state-space model in the form of DreamerV3 (Hafner et al. 2023), small: a block-diagonal GRU, categorical
// latents with straight-through gradients, heads for observations and rewards. Batched over [T, B] wherever time
// allows.

const T = 16;
const B = 16;
/** Units of the deterministic state, and the blocks that they're divided into. */
const DETER = 128;
const BLOCKS = 4;
const HIDDEN = 32;
/** Latents, and the classes of each. */
const LATENTS = 8;
const CLASSES = 4;
const STOCH = LATENTS * CLASSES;
const OBSERVATION = 64;
const ACTION = 7;
const GATES = (3 * DETER) / BLOCKS;

/** Weights, bias and scale of a layer `NAME` with norm. */
function normed<Name extends string>(name: Name, inputs: number) {
  return { [`${name}/w`]: kernel(inputs, HIDDEN), [`${name}/b`]: bias(HIDDEN), [`${name}/scale`]: scale(HIDDEN) };
}

function plain(name: string, inputs: number, outputs: number) {
  return { [`${name}/w`]: kernel(inputs, outputs), [`${name}/b`]: bias(outputs) };
}

function scale(size: number) {
  return numbers([size], 0.1, 1);
}

/** Arrays of the parameters. */
export const recurrenceParams = {
  ...normed('embed', OBSERVATION),
  ...normed('deter', DETER),
  ...normed('stoch', STOCH),
  ...normed('action', ACTION),
  'core/w': kernel(BLOCKS, DETER / BLOCKS + 3 * HIDDEN, DETER / BLOCKS),
  'core/b': bias(DETER),
  'core/scale': scale(DETER),
  'gates/w': kernel(BLOCKS, DETER / BLOCKS, GATES),
  'gates/b': bias(BLOCKS * GATES),
  ...normed('posterior', DETER + HIDDEN),
  ...plain('posteriorLogits', HIDDEN, STOCH),
  ...normed('prior', DETER),
  ...plain('priorLogits', HIDDEN, STOCH),
  ...normed('decoder', DETER + STOCH),
  ...plain('decoded', HIDDEN, OBSERVATION),
  ...normed('reward', DETER + STOCH),
  ...plain('rewarded', HIDDEN, 1),
};

/** Arrays of the inputs; randomness is one of them. */
export const recurrenceInputs = {
  observations: numbers([T, B, OBSERVATION]),
  actions: numbers([T, B, ACTION]),
  rewards: numbers([T, B]),
  noise: gumbel(T, B, LATENTS, CLASSES),
};

/** The loss of a batch of sequences []. */
export function recurrence(p: TensorRecord, { observations, actions, rewards, noise }: TensorRecord): tf.Tensor {
  const flat = tf.reshape(observations, [T * B, OBSERVATION]);
  const embeds = tf.split(layer(p, 'embed', flat), T);
  const driven = tf.split(layer(p, 'action', tf.reshape(actions, [T * B, ACTION])), T);
  const noises = tf.unstack(noise);
  let deter: tf.Tensor = tf.zeros([B, DETER]);
  let stoch: tf.Tensor = tf.zeros([B, STOCH]);
  const steps = embeds.map((embed, t) => {
    deter = core(p, deter, stoch, driven[t]);
    const posterior = logits(p, 'posterior', tf.concat([deter, embed], 1));
    stoch = tf.reshape(sample(posterior, noises[t]), [B, STOCH]);
    return { deter, stoch, posterior };
  });
  const deters = tf.concat(steps.map((step) => step.deter));
  const posteriors = tf.concat(steps.map((step) => step.posterior));
  const features = tf.concat([deters, tf.concat(steps.map((step) => step.stoch))], 1);
  const decoded = linear(p, 'decoded', layer(p, 'decoder', features));
  const rewarded = linear(p, 'rewarded', layer(p, 'reward', features));
  const reconstruction = tf.sum(tf.square(tf.sub(decoded, flat)), 1);
  const rewardLoss = tf.square(tf.sub(tf.squeeze(rewarded, [1]), tf.reshape(rewards, [T * B])));
  const divergence = balancedDivergence(posteriors, logits(p, 'prior', deters));
  return tf.mean(tf.add(tf.add(reconstruction, rewardLoss), divergence));
}

/** One step of the block GRU [B, DETER]; gates of each block see its own units and all of the rest, narrowed. */
function core(p: TensorRecord, deter: tf.Tensor, stoch: tf.Tensor, driven: tf.Tensor): tf.Tensor {
  const shared = tf.concat([layer(p, 'deter', deter), layer(p, 'stoch', stoch), driven], 1);
  const blocks = tf.reshape(deter, [B, BLOCKS, DETER / BLOCKS]);
  const seen = tf.concat([blocks, tf.tile(tf.expandDims(shared, 1), [1, BLOCKS, 1])], 2);
  const hidden = silu(norm(p, 'core', blockLinear(p, 'core', seen)));
  const gates = blockLinear(p, 'gates', tf.reshape(hidden, [B, BLOCKS, DETER / BLOCKS]));
  const [reset, candidate, update] = tf
    .split(tf.reshape(gates, [B, BLOCKS, GATES]), 3, 2)
    .map((gate) => tf.reshape(gate, [B, DETER]));
  const content = tf.tanh(tf.mul(tf.sigmoid(reset), candidate));
  const share = tf.sigmoid(tf.sub(update, 1));
  return tf.add(tf.mul(share, content), tf.mul(tf.sub(1, share), deter));
}

/** [B, BLOCKS, in] to [B, BLOCKS * out], a matrix for each block. */
function blockLinear(p: TensorRecord, name: string, x: tf.Tensor): tf.Tensor {
  const products = tf.matMul(tf.transpose(x, [1, 0, 2]), p[`${name}/w`]);
  return tf.add(tf.reshape(tf.transpose(products, [1, 0, 2]), [B, -1]), p[`${name}/b`]);
}

function linear(p: TensorRecord, name: string, x: tf.Tensor): tf.Tensor {
  return tf.add(tf.matMul(x, p[`${name}/w`]), p[`${name}/b`]);
}

/** Root-mean-square norm (Zhang and Sennrich 2019). */
function norm(p: TensorRecord, name: string, x: tf.Tensor): tf.Tensor {
  const square = tf.mean(tf.square(x), -1, true);
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(square, 1e-4))), p[`${name}/scale`]);
}

function silu(x: tf.Tensor): tf.Tensor {
  return tf.mul(x, tf.sigmoid(x));
}

function layer(p: TensorRecord, name: string, x: tf.Tensor): tf.Tensor {
  return silu(norm(p, name, linear(p, name, x)));
}

/** Log-probabilities [N, LATENTS, CLASSES] of a softmax mixed with 1 % of the uniform distribution. */
function logits(p: TensorRecord, name: string, x: tf.Tensor): tf.Tensor {
  const raw = tf.reshape(linear(p, `${name}Logits`, layer(p, name, x)), [-1, LATENTS, CLASSES]);
  return tf.log(tf.add(tf.mul(tf.softmax(raw), 0.99), 0.01 / CLASSES));
}

/** A one-hot sample, whose gradient is that of the probabilities (Bengio et al. 2013). */
function sample(logProbs: tf.Tensor, noise: tf.Tensor): tf.Tensor {
  const chosen = tf.argMax(tf.add(stopGradient(logProbs), noise), -1);
  const oneHot = tf.cast(tf.oneHot(chosen as tf.Tensor2D, CLASSES), 'float32');
  const probs = tf.exp(logProbs);
  return tf.add(oneHot, tf.sub(probs, stopGradient(probs)));
}

/** Both directions of the divergence with one free nat each, weighted 1 and 0.1 [N]. */
function balancedDivergence(posterior: tf.Tensor, prior: tf.Tensor): tf.Tensor {
  const dynamics = tf.maximum(divergence(stopGradient(posterior), prior), 1);
  const representation = tf.maximum(divergence(posterior, stopGradient(prior)), 1);
  return tf.add(dynamics, tf.mul(representation, 0.1));
}

function divergence(p: tf.Tensor, q: tf.Tensor): tf.Tensor {
  return tf.sum(tf.mul(tf.exp(p), tf.sub(p, q)), [1, 2]);
}
