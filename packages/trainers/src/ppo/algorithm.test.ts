import type { ActorCritic } from '@coplay/models';
import { sgd, type TensorRecord, tf, useBackend } from '@coplay/tensor';
import { maskedLogProbs } from '@coplay/tensor/distributions';
import { beforeAll, describe, expect, it } from 'vitest';
import { actionDistribution } from '../training/action-distribution';
import { ppoUpdate } from './algorithm';

beforeAll(async () => {
  await useBackend('cpu');
});

/** The same logits and the same value in every row: the parameters themselves. */
const net: ActorCritic = {
  stateSize: 0,
  actions: 2,
  policySize: 2,
  init: () => ({}),
  act: () => {
    throw new Error('not used');
  },
  policy: (params, { inputs }, mask) => {
    const logits = tf.add(tf.zeros([inputs['x'].shape[0], 2]), params['logits']);
    return maskedLogProbs(logits, mask!) as tf.Tensor2D;
  },
  value: (params, { inputs }) => ({ values: tf.add(tf.zerosLike(inputs['x']), params['value']) as tf.Tensor1D }),
};

const model = { net, distribution: actionDistribution(2, { squash: false }) };

const LOGITS = [Math.log(3), 0]; // probabilities 3/4 and 1/4
const VALUE = 2;
const ENTROPY_WEIGHT = 0.1;
const VALUE_WEIGHT = 0.25;
const CLIP = 0.2;

// Two rows: action 0 with advantage 2, action 1 with advantage -1.
const ADVANTAGES = [2, -1];
const OLD = [0.6, 0.3];
const RETURNS = [1, 4];

const inputs = (): TensorRecord => ({
  'actor/x': tf.tensor1d([0, 0]),
  mask: tf.ones([2, 2]),
  actions: tf.tensor1d([0, 1], 'int32'),
  logProbs: tf.tensor1d(OLD.map(Math.log)),
  values: tf.tensor1d([0, 0]),
  advantages: tf.tensor1d(ADVANTAGES),
  returns: tf.tensor1d(RETURNS),
  weights: tf.ones([2]),
  learningRate: tf.scalar(1),
  entropyWeight: tf.scalar(ENTROPY_WEIGHT),
  clip: tf.scalar(CLIP),
});

const options = { valueWeight: VALUE_WEIGHT, valueClip: false, huberDelta: false } as const;

/** PPO's loss in plain numbers (Schulman et al. 2017, eq. 7 and 9). */
function lossByHand([first, second]: readonly number[], value: number) {
  const sum = Math.exp(first) + Math.exp(second);
  const p = [Math.exp(first) / sum, Math.exp(second) / sum];
  const surrogate = ADVANTAGES.map((advantage, row) => {
    const ratio = p[row] / OLD[row];
    return Math.min(ratio * advantage, Math.min(Math.max(ratio, 1 - CLIP), 1 + CLIP) * advantage);
  });
  const entropy = -(p[0] * Math.log(p[0]) + p[1] * Math.log(p[1]));
  const squares = RETURNS.map((target) => (value - target) ** 2 / 2);
  const mean = (x: readonly number[]) => (x[0] + x[1]) / 2;
  return -mean(surrogate) - ENTROPY_WEIGHT * entropy + VALUE_WEIGHT * mean(squares);
}

describe('ppoUpdate', () => {
  const step = () => {
    const optimiser = sgd({});
    const params = { logits: tf.tensor1d(LOGITS), value: tf.scalar(VALUE) };
    return ppoUpdate(model, optimiser, options)({ params, slots: {} }, inputs(), {});
  };

  it('minimises surrogate - entropyWeight entropy + valueWeight value loss', () => {
    // Ratios 3/4 / 0.6 = 1.25 and 1/4 / 0.3 = 5/6. Surrogate: -(min(2.5, 2.4) + min(-5/6, -5/6)) / 2 = -0.783333.
    // Entropy: 3/4 ln(4/3) + 1/4 ln 4 = 0.562335. Value loss: (1/2 + 2) / 2 = 1.25.
    const { outputs } = step();
    expect(outputs['surrogate'].dataSync()[0]).toBeCloseTo(-(2.4 - 5 / 6) / 2, 5);
    expect(outputs['entropy'].dataSync()[0]).toBeCloseTo(0.562335, 5);
    expect(outputs['critic'].dataSync()[0]).toBeCloseTo(1.25, 6);
    expect(outputs['loss'].dataSync()[0]).toBeCloseTo(-0.783333 - 0.1 * 0.562335 + 0.25 * 1.25, 5);
    expect(outputs['loss'].dataSync()[0]).toBeCloseTo(lossByHand(LOGITS, VALUE), 5);
  });

  it('moves parameters down the slope of that loss', () => {
    const { state } = step();
    const width = 1e-4;
    const slope = (along: (by: number) => number) => (along(width) - along(-width)) / (2 * width);
    const moved = state!.params!['logits'].dataSync();
    LOGITS.forEach((logit, i) => {
      const at = (by: number) => lossByHand(LOGITS.with(i, logit + by), VALUE);
      expect(moved[i]).toBeCloseTo(logit - slope(at), 4);
    });
    const ofValue = slope((by) => lossByHand(LOGITS, VALUE + by));
    expect(state!.params!['value'].dataSync()[0]).toBeCloseTo(VALUE - ofValue, 4);
  });

  it('adds the cross-entropy with policy targets, in the rows that have one, and draws the policy to them', () => {
    // Row 0 has the target (0, 1): its cross-entropy is -ln(1/4). Row 1 has none.
    const targeted = { ...inputs(), policyTarget: tf.tensor2d([0, 1, 0, 0], [2, 2]), targetWeight: tf.scalar(0.2) };
    const params = () => ({ logits: tf.tensor1d(LOGITS), value: tf.scalar(VALUE) });
    const { state, outputs } = ppoUpdate(model, sgd({}), options)({ params: params(), slots: {} }, targeted, {});
    expect(outputs['targetLoss'].dataSync()[0]).toBeCloseTo(Math.log(4), 5);
    expect(outputs['loss'].dataSync()[0]).toBeCloseTo(lossByHand(LOGITS, VALUE) + 0.2 * Math.log(4), 5);
    // The gradient of -ln p(1) in the logits is p - (0, 1) = (3/4, -3/4).
    const [plain, moved] = [step().state, state].map((after) => after!.params!['logits'].dataSync());
    expect(moved[0] - plain[0]).toBeCloseTo(-0.2 * 0.75, 5);
    expect(moved[1] - plain[1]).toBeCloseTo(0.2 * 0.75, 5);
    expect(step().outputs['targetLoss']).toBeUndefined();
  });

  it('makes an agent that has nothing to gain more random, not less', () => {
    const still = { ...inputs(), advantages: tf.zeros([2]) };
    const params = { logits: tf.tensor1d(LOGITS), value: tf.scalar(VALUE) };
    const { state } = ppoUpdate(model, sgd({}), options)({ params, slots: {} }, still, {});
    const [first, second] = state!.params!['logits'].dataSync();
    expect(first - second).toBeLessThan(LOGITS[0] - LOGITS[1]);
  });
});
