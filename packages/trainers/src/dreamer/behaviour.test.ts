import type { DreamerNets, RssmState } from '@coplay/models/dreamer';
import { type TensorRecord, tf, useBackend, valueAndGradients } from '@coplay/tensor';
import { beforeAll, describe, expect, it } from 'vitest';
import { behaviourLoss, type CriticMemory, replayValueLoss } from './behaviour';
import { type DreamerParts, noiseOf } from './data';
import { imagineSequence } from './imagination';
import { smallParts } from './test-batch';

beforeAll(async () => {
  await useBackend('cpu');
});

const H = 3;
const LAMBDA = 0.95;

/** What can be other than said below. */
interface Script {
  /** The chance that the episode goes on, from n [N] */
  readonly goesOn?: (n: tf.Tensor) => tf.Tensor;
  /** What all rewards and values are multiplied by */
  readonly pays?: number;
}

/**
 * A scripted model: the state is a counter n that every step raises by 1; on arrival at n the reward is n, the episode
 * goes on below 5; the value of n is 10 n, and the policy's log-probability of its only action is p n.
 */
function counterParts(options: Parameters<typeof smallParts>[0] = {}, script: Script = {}): DreamerParts {
  const { goesOn = (x) => tf.cast(tf.less(x, 5), 'float32'), pays = 1 } = script;
  const parts = smallParts({ horizon: H, lambda: LAMBDA, ...options });
  const n = (features: tf.Tensor) => tf.reshape(tf.slice(features, [0, 0], [features.shape[0], 1]), [-1]);
  const head = (mean: (x: tf.Tensor) => tf.Tensor) => ({
    logits: (_: unknown, f: tf.Tensor) => tf.reshape(n(f), [-1, 1]),
    mean: (x: tf.Tensor) => mean(tf.reshape(x, [-1])),
  });
  const nets = {
    ...parts.nets,
    sizes: { ...parts.nets.sizes, bins: 2 },
    rssm: {
      featureSize: 1,
      features: ({ deter }: RssmState) => tf.reshape(deter, [-1, 1]),
      actionTable: () => undefined,
      imagine: (_: unknown, { deter, stoch }: RssmState) => ({ deter: tf.add(deter, 1), stoch }),
    },
    reward: head((x) => tf.mul(x, pays)),
    continues: head(goesOn),
    // Two bins with equal logits, out of either of which the mean is read.
    critic: {
      logits: ({ scale = tf.scalar(1) }: Record<string, tf.Tensor>, f: tf.Tensor) =>
        tf.tile(tf.reshape(tf.mul(n(f), scale), [-1, 1]), [1, 2]),
      mean: (x: tf.Tensor) => tf.mul(tf.max(x, -1), 10 * pays),
      bins: Float32Array.of(-1, 1),
    },
    actor: {
      ...parts.nets.actor,
      distribution: (pol: Record<string, tf.Tensor>, f: tf.Tensor) => tf.mul(n(f), pol['scale']),
      sample: (_: unknown, noise: tf.Tensor) => tf.zeros([noise.shape[0], 3]),
      logProb: (distribution: tf.Tensor) => distribution,
      entropy: (distribution: tf.Tensor) => tf.zerosLike(distribution),
    },
    parts: (params: Record<string, tf.Tensor>) => ({
      pol: { scale: params['pol/scale'] },
      val: {},
      rew: {},
      con: {},
      dyn: {},
    }),
  } as unknown as DreamerNets;
  return { ...parts, nets };
}

const fed = () => ({
  'noise/prior': tf.zeros([H, 1, 2]),
  'noise/actions': tf.zeros([H + 1, 1, 1]),
  entropyScale: tf.scalar(3e-4),
});
/** The loss on a trajectory that is imagined from these states. */
function lossFrom(parts: DreamerParts, params: TensorRecord, memory: CriticMemory, starts: RssmState) {
  const imagined = imagineSequence(parts.nets, params, starts, noiseOf(fed()));
  return behaviourLoss(parts, params, memory, imagined, fed().entropyScale);
}
const memory = ([low, high]: readonly number[]): CriticMemory => ({
  slow: {},
  range: { low: tf.scalar(low), high: tf.scalar(high) },
});

/**
 * Losses and metrics from a counter at `n`, and the gradient of the policy's loss by p, at which log-probabilities are
 * p n.
 */
function imagineFrom(n: number, options: Parameters<typeof smallParts>[0] = {}, script: Script = {}, range = [0, 0]) {
  const parts = counterParts({ lossScales: { value: 0 }, ...options }, script);
  const starts = { deter: tf.tensor2d([[n]]), stoch: tf.zeros([1, 2, 4]) } as RssmState;
  const { gradients, metrics } = valueAndGradients(
    (params) => {
      const { loss, startReturns, metrics: all } = lossFrom(parts, params, memory(range), starts);
      return { loss, metrics: { ...all, startReturns } };
    },
    { 'pol/scale': tf.scalar(1) },
  );
  const at = (name: string) => metrics[name].dataSync()[0];
  return { at, gradient: gradients['pol/scale'].dataSync()[0] };
}

// navix #152, dreamer-pytorch #13 (W01): what is off by one here still trains, and every loss falls.
describe('what is imagined', () => {
  // R_t = r_(t+1) + c_(t+1) ((1 - l) v_(t+1) + l R_(t+1)), R_3 = v_3.
  const returnsFrom = (n: number): number[] => {
    const returns = [0, 0, 0];
    let next = 10 * (n + H);
    for (let t = H - 1; t >= 0; t--) {
      const arrived = n + t + 1;
      next = arrived + (arrived < 5 ? 1 : 0) * ((1 - LAMBDA) * 10 * arrived + LAMBDA * next);
      returns[t] = next;
    }
    return returns;
  };

  it('pays for step t on arrival at t + 1, H rewards for H steps', () => {
    // From 0: R_2 = 3 + 30, R_1 = 2 + (1 + 0.95 x 33) = 34.35, R_0 = 1 + (0.5 + 0.95 x 34.35) = 34.1325.
    expect(returnsFrom(0)[0]).toBeCloseTo(34.1325, 10);
    expect(imagineFrom(0).at('startReturns')).toBeCloseTo(34.1325, 4);
  });

  it('stops at the end of the episode: nothing is earned after arriving there', () => {
    // From 3: arrival at 4 earns 4, at 5 earns 5 and ends. R_1 = 5, R_0 = 4 + (2 + 0.95 x 5) = 10.75.
    expect(returnsFrom(3)[0]).toBeCloseTo(10.75, 10);
    expect(imagineFrom(3).at('startReturns')).toBeCloseTo(10.75, 5);
  });

  it('scores an action in the state that it was taken in, weighed by the chance to have got there', () => {
    for (const n of [0, 3]) {
      const returns = returnsFrom(n);
      const weights = [0, 1, 2].map((t) => [...Array(t + 1).keys()].reduce((w, i) => w * (n + i < 5 ? 1 : 0), 1));
      // The returns' percentiles are 0.01 of their way from 0: the scale is 1.
      const loss = returns.reduce((sum, R, t) => sum - (weights[t] * (n + t) * (R - 10 * (n + t))) / H, 0);
      const { at, gradient } = imagineFrom(n);
      expect(at('dreamer/ret_scale')).toBe(1);
      expect(at('loss/policy')).toBeCloseTo(loss, 3);
      expect(gradient).toBeCloseTo(loss, 3); // the loss is linear in p, which is 1
    }
  });

  it('counts for nothing from the end of an episode on', () => {
    const { at, gradient } = imagineFrom(5);
    for (const x of [at('loss/policy'), at('dreamer/weight'), gradient]) expect(Math.abs(x)).toBe(0);
  });
});

describe('the slow critic', () => {
  it('has parameters of its own', () => {
    const starts = { deter: tf.tensor2d([[0]]), stoch: tf.zeros([1, 2, 4]) } as RssmState;
    const slow = { ...memory([0, 0]), slow: { scale: tf.scalar(3) } };
    const { metrics } = lossFrom(counterParts(), { 'pol/scale': tf.scalar(1) }, slow, starts);
    // The states 0 to 3 have the values 0, 10, 20 and 30.
    expect(metrics['dreamer/val'].dataSync()[0]).toBeCloseTo(15, 5);
    expect(metrics['dreamer/slowval'].dataSync()[0]).toBeCloseTo(45, 5);
  });
});

// pytorch/rl #4128: the discount is in the continue head, and nowhere else; the weights begin with the start's own
// chance to go on.
describe('the discount', () => {
  it('is what the continue head says, once, in returns and in weights', () => {
    const c = 0.9;
    const goesOn = (x: tf.Tensor) => tf.fill(x.shape, c);
    // R_2 = 3 + c 30, R_1 = 2 + c (0.05 x 20 + 0.95 R_2), R_0 = 1 + c (0.05 x 10 + 0.95 R_1); weights c, c^2, c^3.
    const returns = [0, 0, 3 + c * 30];
    returns[1] = 2 + c * (1 + 0.95 * returns[2]);
    returns[0] = 1 + c * (0.5 + 0.95 * returns[1]);
    const { at } = imagineFrom(0, { discountHorizon: 2 }, { goesOn }); // a discount of 1/2 would show
    expect(at('startReturns')).toBeCloseTo(returns[0], 4);
    expect(at('dreamer/weight')).toBeCloseTo((c + c ** 2 + c ** 3) / 3, 6);
    const loss = returns.reduce((sum, R, t) => sum - (c ** (t + 1) * t * (R - 10 * t)) / H, 0);
    expect(at('loss/policy')).toBeCloseTo(loss, 3);
  });
});

// NM512 #64, pytorch/rl #4125: a normaliser that is tracked and never divides.
describe('the range of returns', () => {
  it('divides advantages', () => {
    const plain = imagineFrom(0);
    // The percentiles move by 0.01 of the way to those of the returns, which stay below 35.
    const wide = imagineFrom(0, { returnRate: 1e-9 }, {}, [-20, 80]);
    expect(wide.at('dreamer/ret_scale')).toBeCloseTo(100, 4);
    expect(wide.gradient).toBeCloseTo(plain.gradient / 100, 5);
    expect(wide.at('dreamer/adv_mag')).toBeCloseTo(plain.at('dreamer/adv_mag') / 100, 5);
  });

  it.each([1000, 0.001])(
    'keeps the gradient of the policy within 10 times itself where all pays %f times as much',
    (pays) => {
      const settled = { returnRate: 1 }; // as after many updates
      const usual = Math.abs(imagineFrom(0, settled).gradient);
      const scaled = Math.abs(imagineFrom(0, settled, { pays }).gradient);
      expect(usual).toBeGreaterThan(0.1);
      expect(scaled).toBeLessThan(10 * usual);
      // Larger rewards weigh the same; small ones aren't blown up, as the scale is 1 at least.
      if (pays > 1) expect(scaled).toBeGreaterThan(usual / 10);
    },
  );
});

describe('the replayed value', () => {
  it('is left out where imagination begins in the last state only', () => {
    const parts = counterParts({ starts: 'last' });
    expect(
      replayValueLoss(parts, {}, {}, tf.zeros([8, 1]), tf.zeros([2]), { isFirst: tf.zeros([2, 4]) }),
    ).toBeUndefined();
  });
});
