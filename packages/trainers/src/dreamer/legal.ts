import type { DreamerNets } from '@coplay/models/dreamer';
import { type DreamerActor, type DreamerHead, dreamerHead } from '@coplay/models/dreamer';
import { countParams, initialise, prefixedSpecs, within } from '@coplay/models/layers';
import { stopGradient, type TensorRecord, tf } from '@coplay/tensor';
import { bernoulliLoss } from '@coplay/tensor/distributions';

/** Networks whose imagined actors keep to the rules. */
export interface MaskedNets extends DreamerNets {
  /** Says from a state which actions are legal there, [N, F] to logits [N, K]; parameters `leg/...`. */
  readonly legal: DreamerHead;
  /** The actor without any mask, for use where the legal actions are known. */
  readonly unmasked: DreamerActor;
}

/** Where the legal actions go among the actor's parameters. */
const INSIDE = 'legal';

/**
 * Adds a head that learns which actions are legal. In imagination they aren't known, and a world model has never seen
 * the outcome of an illegal one: the actor chooses among the actions that the head predicts to be legal (MAMBA, Egorov
 * and Shpilman 2022, has such a head). No gradient of the actor reaches it.
 */
export function withLegalHead(nets: DreamerNets): MaskedNets {
  const { actor, rssm, sizes } = nets;
  const head = { featureSize: rssm.featureSize, units: sizes.units, layers: 1, outputs: actor.actionSize, scale: 1 };
  const legal = dreamerHead(head);
  const own = prefixedSpecs('leg', legal.specs);
  return {
    ...nets,
    legal,
    unmasked: actor,
    actor: {
      ...actor,
      distribution: (params, features) => {
        const logits = legal.logits(within(INSIDE, params), stopGradient(features));
        const mask = tf.cast(tf.greater(logits, 0), 'float32') as tf.Tensor2D;
        return actor.masked(actor.distribution(params, features), mask);
      },
    },
    specs: { ...nets.specs, ...own },
    parameterCount: nets.parameterCount + countParams(own),
    init: (generator) => ({ ...nets.init(generator), ...initialise(own, generator.fork()) }),
    parts: (params) => {
      const parts = nets.parts(params);
      const inside = Object.entries(within('leg', params)).map(([name, x]) => [`${INSIDE}/${name}`, stopGradient(x)]);
      return { ...parts, pol: { ...parts.pol, ...(Object.fromEntries(inside) as TensorRecord) } };
    },
  };
}

/** Whether networks have a head for legal actions. */
export function hasLegalHead(nets: DreamerNets): nets is MaskedNets {
  return 'legal' in nets;
}

/** Cross entropy of the legal options, summed over options: logits and masks [N, K] to [N]. */
export function legalLoss(logits: tf.Tensor2D, masks: tf.Tensor2D): tf.Tensor1D {
  return tf.sum(bernoulliLoss(logits, masks), -1);
}
