import type { InputEncoder } from '@coplay/models';
import type { InferenceTargets, StateVae, SubgoalInference } from '@coplay/models/omg';
import { sgd, type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { inferenceStep } from './steps';

beforeAll(async () => {
  await useBackend('cpu');
});

/** A VAE whose latent of a state is the state itself. */
const vae = {
  encode: (_params: TensorRecord, inputs: TensorRecord) => ({
    mean: inputs['vector'] as tf.Tensor2D,
    logVar: tf.zerosLike(inputs['vector']) as tf.Tensor2D,
  }),
} as unknown as StateVae;

describe('inferenceStep', () => {
  it('learns from the latents of the selected states, not of the present ones', () => {
    const seen: { rows: number[]; prior: number[] } = { rows: [], prior: [] };
    const inference = {
      stateSize: 1,
      loss: (params: TensorRecord, rows: { inputs: TensorRecord }, { prior }: InferenceTargets) => {
        seen.rows = [...rows.inputs['vector'].dataSync()];
        seen.prior = [...prior.mean.dataSync()];
        return { loss: tf.sum(params['w']) as tf.Scalar, metrics: {} };
      },
    } as unknown as SubgoalInference;
    const encoder = { shapes: { vector: [1] } } as unknown as InputEncoder;
    const step = inferenceStep({ vae, inference, optimiser: sgd({}), encoder });
    // A table of five states that are their own numbers. One sequence of the first three, each with a subgoal two
    // states on.
    step(
      { vae: {}, inference: { w: tf.tensor1d([1]) }, inferenceSlots: {} },
      {
        each: {
          places: tf.tensor1d([0, 1, 2], 'int32'),
          selected: tf.tensor1d([2, 3, 4], 'int32'),
          isFirst: tf.tensor2d([[1, 0, 0]]),
          weights: tf.ones([3]),
          noise: tf.zeros([3, 1]),
        },
        shared: {
          learningRate: tf.scalar(0.1),
          vector: tf.tensor2d([[10], [11], [12], [13], [14]]),
          masks: tf.ones([5, 2]),
          actions: tf.zeros([5], 'int32'),
        },
      },
      {},
    );
    expect(seen).toEqual({ rows: [10, 11, 12], prior: [12, 13, 14] });
  });
});
