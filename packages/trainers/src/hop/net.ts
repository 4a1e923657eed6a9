import type { Generator, NamedArrays } from '@coplay/core';
import type { InputShapes, TorsoBuilder } from '@coplay/models';
import { denseLayer, prefixed, within } from '@coplay/models/layers';
import { type TensorRecord, tf } from '@coplay/tensor';

/** A policy and a value function with one body: parameters `body/...`, `policy/...`, `value/...`. */
export interface PolicyValueNet {
  /** K */
  readonly actions: number;
  init(generator: Generator): NamedArrays;
  /**
   * @param inputs  [B, ...] for each input
   * @returns logits [B, K], of illegal actions too, and values [B]
   */
  apply(params: TensorRecord, inputs: TensorRecord): { readonly logits: tf.Tensor2D; readonly values: tf.Tensor1D };
}

/**
 * Gains of the heads' orthogonal initial kernels: almost uniform priors and values near 0, so that a search begins
 * unbiased.
 */
const POLICY_GAIN = 0.01;
const VALUE_GAIN = 0.1;

/** HOP's network (Huang et al. 2024): a body, then linear heads for policy logits and value. */
export function policyValueNet(inputs: InputShapes, actions: number, network: TorsoBuilder): PolicyValueNet {
  const body = network(inputs);
  const policyHead = denseLayer({ inputSize: body.outputSize, outputSize: actions, gain: POLICY_GAIN });
  const valueHead = denseLayer({ inputSize: body.outputSize, outputSize: 1, gain: VALUE_GAIN });
  return {
    actions,
    init: (generator) => ({
      ...prefixed('body', body.init(generator.fork())),
      ...prefixed('policy', policyHead.init(generator.fork())),
      ...prefixed('value', valueHead.init(generator.fork())),
    }),
    apply: (params, seen) => {
      const features = body.apply(within('body', params), seen);
      const values = tf.squeeze(valueHead.apply(within('value', params), features), [1]) as tf.Tensor1D;
      return { logits: policyHead.apply(within('policy', params), features), values };
    },
  };
}
