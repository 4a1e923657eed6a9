import type { RssmInputs } from '@coplay/models';
import { type StepFunction, tf } from '@coplay/tensor';
import { classesOf, observationsOf, previousCodes, stateOf } from './data';
import { hasLegalHead, masked } from './legal';
import type { DreamerSetup } from './setup';

/**
 * Acting as a function of tensors. Inputs: `obs/NAME` [B, ...], `previousActions` [B] int32 (and `coPlayerActions` [B,
 * M] where co-players are modelled), `isFirst` [B], `mask` [B, K], `deter` [B, D], `stoch` [B, S] int32 classes,
 * `noise` [B, S]. Outputs: `logProbs` [B, K] over the legal actions, and the next `deter` and `stoch`.
 */
export function actStep({ nets }: Pick<DreamerSetup, 'nets'>): StepFunction<'world' | 'behaviour'> {
  const actor = hasLegalHead(nets) ? nets.unmasked : nets.actor;
  return (state, inputs) => {
    const { enc, dyn } = nets.parts(state.world);
    const { pol } = nets.parts(state.behaviour);
    const rows = inputs['isFirst'].shape[0];
    const step: RssmInputs = {
      tokens: tf.expandDims(nets.encoder.apply(enc, observationsOf(nets, inputs)), 1) as tf.Tensor3D,
      actions: tf.expandDims(previousCodes(nets, inputs), 1) as tf.Tensor3D,
      isFirst: tf.reshape(inputs['isFirst'], [rows, 1]) as tf.Tensor2D,
    };
    const start = stateOf(nets, inputs['deter'], inputs['stoch']);
    const next = nets.rssm.observe(dyn, start, step, tf.expandDims(inputs['noise'], 1) as tf.Tensor3D);
    const distribution = masked(actor.distribution(pol, nets.rssm.features(next)), inputs['mask'] as tf.Tensor2D);
    if (distribution.kind !== 'discrete') throw new TypeError('actStep: games have discrete actions');
    const { deter, hidden: _, ...sizes } = nets.sizes;
    return {
      outputs: {
        logProbs: distribution.logProbs,
        deter: tf.reshape(next.deter, [rows, deter]),
        stoch: tf.reshape(classesOf(next.stoch), [rows, sizes.stoch]),
      },
    };
  };
}
