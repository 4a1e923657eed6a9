import { stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { butLast } from './behaviour';
import { type DreamerParts, meanOf } from './data';
import { criticLoss } from './losses';
import { replayReturns } from './returns';

/** The critic's loss on replayed steps, and its metrics. */
export interface ReplayValueTerms {
  /** [] */
  readonly loss: tf.Scalar;
  /** Scalars, named as metrics are */
  readonly metrics: TensorRecord;
}

/**
 * The critic learns from the real rewards of the last K steps of each sequence, with imagined returns for what lies
 * beyond (DreamerV3's "replay critic loss"). Its gradient flows into the features, and so into encoder and recurrent
 * model, where those are differentiable.
 *
 * @param slow         parameters of the slow critic
 * @param features     [B T, F]
 * @param startReturns [B K] imagined from these steps
 * @returns nothing where K is 1: a step's target needs the step after it
 */
export function replayValueTerms(
  { nets, options }: DreamerParts,
  params: TensorRecord,
  slow: TensorRecord,
  features: tf.Tensor2D,
  startReturns: tf.Tensor1D,
  inputs: TensorRecord,
): ReplayValueTerms | undefined {
  const K = options.starts;
  if (K < 2 || options.lossScales.replayValue === 0) return undefined;
  const [B, T] = inputs['isFirst'].shape;
  const F = nets.rssm.featureSize;
  const table = (x: tf.Tensor) => tf.reshape(x, [B, K]) as tf.Tensor2D;
  const lastSteps = (name: string) => tf.slice(inputs[name], [0, T - K], [B, K]) as tf.Tensor2D;
  const cut = tf.slice(tf.reshape(features, [B, T, F]), [0, T - K, 0], [B, K, F]);
  const own = tf.reshape(cut, [B * K, F]) as tf.Tensor2D;

  const isLast = lastSteps('isLast');
  const steps = { rewards: lastSteps('rewards'), isTerminal: lastSteps('isTerminal'), isLast };
  const discount = 1 - 1 / options.discountHorizon;
  const returns = replayReturns({ ...steps, imagined: table(startReturns) }, discount, options.lambda);
  const slowValues = table(nets.critic.mean(nets.critic.logits(slow, stopGradient(own))));
  const logits = tf.reshape(nets.critic.logits(nets.parts(params).val, own), [B, K, nets.sizes.bins]);
  const terms = {
    logits: butLast(logits),
    returns,
    slowValues: butLast(slowValues),
    weights: butLast(tf.sub(1, isLast) as tf.Tensor2D),
  };
  const loss = meanOf(criticLoss(terms, nets.critic.bins, options.slowScale));
  return { loss: tf.mul(loss, options.lossScales.replayValue), metrics: { 'loss/repval': loss } };
}
