import { type RssmSequence, worldModelLosses } from '@coplay/models/dreamer';
import { within } from '@coplay/models/layers';
import { type TensorRecord, tf } from '@coplay/tensor';
import { batchOf, type DreamerParts, meanOf, startOf } from './data';
import { hasLegalHead, legalLoss } from './legal';

/** The loss of the world model on a batch. */
export interface WorldModelLoss {
  /** [] */
  readonly loss: tf.Scalar;
  /** [B, T, ...] posterior states, differentiable */
  readonly states: RssmSequence;
  /** [B T, F] of these */
  readonly features: tf.Tensor2D;
  /** Scalars, named as metrics are */
  readonly metrics: TensorRecord;
}

/** Metrics of the losses of `worldModelLosses`, by the option that weighs each. */
const NAMES = {
  dynamics: 'loss/dyn',
  representation: 'loss/rep',
  reward: 'loss/rew',
  continue: 'loss/con',
} as const;

/**
 * The world model's loss (Hafner et al. 2023, arXiv v2, eq. 2 and 3): the sum of all its losses, each a mean over B and
 * T times its scale; with those of our heads for legal actions and for co-players.
 *
 * @param inputs of `batchInputs`, and `noise/posterior` [B, T, S]
 */
export function worldModelLoss(parts: DreamerParts, params: TensorRecord, inputs: TensorRecord): WorldModelLoss {
  const { nets, options } = parts;
  const { lossScales: scales, freeNats } = options;
  const metrics: TensorRecord = {};
  const weighed: tf.Tensor[] = [];
  const add = (metric: string, loss: tf.Tensor, scale: number) => {
    metrics[metric] = meanOf(loss);
    weighed.push(tf.mul(metrics[metric], scale));
  };

  const noise = inputs['noise/posterior'] as tf.Tensor3D; // [B, T, S]
  const given = { discount: 1 - 1 / options.discountHorizon, freeNats };
  const model = worldModelLosses(nets, params, batchOf(parts, inputs), startOf(parts, inputs), noise, given);
  const { states, features, losses, entropies } = model;
  for (const [name, loss] of Object.entries(losses)) {
    if (name in NAMES) add(NAMES[name as keyof typeof NAMES], loss, scales[name as keyof typeof NAMES]);
    else add(name.replace('reconstruction/', 'loss/rec/'), loss, scales.reconstruction);
  }
  if (hasLegalHead(nets)) {
    const logits = nets.legal.logits(within('leg', params), features); // [B T, actions]
    add('loss/legal', legalLoss(logits, tf.reshape(inputs['legal'], logits.shape) as tf.Tensor2D), scales.legal);
  }
  if (nets.coPlayers) add('loss/moa', coPlayerLoss(parts, params, features, inputs), scales.coPlayers);
  metrics['dreamer/dyn_ent'] = meanOf(entropies['priorEntropy']);
  metrics['dreamer/rep_ent'] = meanOf(entropies['posteriorEntropy']);
  return { loss: tf.addN(weighed) as tf.Scalar, states, features, metrics };
}

/** Cross entropy of the co-players' next actions, []. */
function coPlayerLoss({ nets }: DreamerParts, params: TensorRecord, features: tf.Tensor2D, inputs: TensorRecord) {
  const model = nets.coPlayers!;
  const [B, T] = inputs['isFirst'].shape;
  const logProbs = model.logProbs(within('moa', params), features); // [B T, M, actions + 1]
  const recorded = {
    actions: inputs['coPlayerActions'] as tf.Tensor3D,
    active: inputs['coPlayersActive'] as tf.Tensor3D,
    isFirst: inputs['isFirst'] as tf.Tensor2D,
  };
  return model.loss(tf.reshape(logProbs, [B, T, model.count, model.actions + 1]), recorded);
}
