import { type RssmSequence, within, worldModelLosses } from '@coplay/models';
import { type TensorRecord, tf } from '@coplay/tensor';
import { batchOf, type DreamerParts, meanOf, startOf } from './data';
import { hasLegalHead, legalLoss } from './legal';

/** The world model's part of an update. */
export interface WorldModelTerms {
  /** [] */
  readonly loss: tf.Scalar;
  /** [B, T, ...] posterior states, differentiable */
  readonly states: RssmSequence;
  /** [B T, F] of these */
  readonly features: tf.Tensor2D;
  /** Scalars, named as metrics are */
  readonly metrics: TensorRecord;
}

/** Metrics of the losses of `worldModelLosses`, and the option that weighs each. */
const NAMES = {
  dynamics: 'loss/dyn',
  representation: 'loss/rep',
  reward: 'loss/rew',
  continue: 'loss/con',
} as const;

/**
 * The sum of all losses of the world model on a batch (see {@link batchOf}), each a mean over B and T times its scale.
 */
export function worldModelTerms(parts: DreamerParts, params: TensorRecord, inputs: TensorRecord): WorldModelTerms {
  const { nets, options } = parts;
  const { lossScales: scales, freeNats } = options;
  const noise = inputs['noise/posterior'] as tf.Tensor3D;
  const given = { discount: 1 - 1 / options.discountHorizon, freeNats };
  const model = worldModelLosses(nets, params, batchOf(parts, inputs), startOf(parts, inputs), noise, given);
  const { states, features, losses, entropies } = model;
  const metrics: TensorRecord = {};
  const weighed: tf.Tensor[] = [];
  const add = (metric: string, loss: tf.Tensor, scale: number) => {
    metrics[metric] = meanOf(loss);
    weighed.push(tf.mul(metrics[metric], scale));
  };
  for (const [name, loss] of Object.entries(losses)) {
    if (name in NAMES) add(NAMES[name as keyof typeof NAMES], loss, scales[name as keyof typeof NAMES]);
    else add(name.replace('reconstruction/', 'loss/rec/'), loss, scales.reconstruction);
  }
  if (hasLegalHead(nets)) {
    const logits = nets.legal.logits(within(params, 'leg'), features);
    const masks = tf.reshape(inputs['legal'], logits.shape) as tf.Tensor2D;
    add('loss/legal', legalLoss(logits, masks), scales.legal);
  }
  if (nets.coPlayers) {
    const [B, T] = inputs['isFirst'].shape;
    const { count, actions } = nets.coPlayers;
    const logProbs = nets.coPlayers.logProbs(within(params, 'moa'), features);
    const recorded = {
      actions: inputs['coPlayerActions'] as tf.Tensor3D,
      active: inputs['coPlayersActive'] as tf.Tensor3D,
      isFirst: inputs['isFirst'] as tf.Tensor2D,
    };
    const loss = nets.coPlayers.loss(tf.reshape(logProbs, [B, T, count, actions + 1]), recorded);
    add('loss/moa', loss, scales.coPlayers);
  }
  metrics['dreamer/dyn_ent'] = meanOf(entropies['priorEntropy']);
  metrics['dreamer/rep_ent'] = meanOf(entropies['posteriorEntropy']);
  return { loss: tf.addN(weighed) as tf.Scalar, states, features, metrics };
}
