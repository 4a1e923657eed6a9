import { fail, type NamedArrays } from '@coplay/core';
import { checkTensor, tf } from '@coplay/tensor';

/** Number of bins of a distribution over rewards. */
export const REWARD_BINS = 81;
/** The bins reach from -53.6 to 53.6. */
const BOUND = 4;

/**
 * The bins' places [REWARD_BINS]: symexp of an even spread, sign(x) (e^|x| - 1), so that they lie close around 0
 * (Hafner et al. 2023, arXiv v2, eq. 9 and 10). Halfway is exactly 0.
 */
const bins = Float32Array.from({ length: REWARD_BINS }, (_, i) => {
  const x = -BOUND + (2 * BOUND * i) / (REWARD_BINS - 1);
  return Math.sign(x) * Math.expm1(Math.abs(x));
});

/**
 * Rewards as weights of the two nearest bins, whose mean is the reward (Hafner et al. 2023, arXiv v2, "twohot");
 * beyond the bounds of the last bin alone. {@link checkRewardBins} refuses such rewards.
 *
 * @param rewards [...]
 * @returns [..., REWARD_BINS], sums of 1
 */
export function twoHot(rewards: tf.Tensor): tf.Tensor {
  checkTensor('twoHot', 'rewards', rewards);
  const places = tf.tensor1d(bins);
  const steps = bins.map((bin, i) => bin - (bins[i - 1] ?? bin - 1));
  const x = tf.expandDims(tf.clipByValue(rewards, bins[0], bins[REWARD_BINS - 1]), -1);
  const rising = tf.add(1, tf.div(tf.sub(x, places), tf.tensor1d(steps)));
  const falling = tf.sub(1, tf.div(tf.sub(x, places), tf.tensor1d([...steps.slice(1), 1])));
  return tf.clipByValue(tf.minimum(rising, falling), 0, 1);
}

/**
 * Refuses transitions whose rewards are beyond the last bins: a model would learn the bound instead of them.
 *
 * @param where  the model, for the message
 * @param nameOf names the agent of a reward, and its transition, by its place in `rewards`
 */
export function checkRewardBins(where: string, rows: NamedArrays, nameOf: (place: number) => string): void {
  const bound = bins[REWARD_BINS - 1];
  const rewards = rows['rewards']?.data ?? [];
  const wrong = rewards.findIndex((reward) => Math.abs(reward) > bound);
  if (wrong < 0) return;
  const expected = `rewards from -${bound.toFixed(3)} to ${bound.toFixed(3)}`;
  const remedy =
    'Scale the rewards of the game, for example to at most 1 ("A model of observations" in docs/world-models.md).';
  fail(where, expected, `${rewards[wrong]} for ${nameOf(wrong)}`, remedy);
}

/**
 * The mean of a distribution over bins.
 *
 * @param probabilities [..., REWARD_BINS]
 * @returns [...]
 */
export function meanReward(probabilities: tf.Tensor): tf.Tensor {
  checkTensor('meanReward', 'probabilities', probabilities);
  return tf.sum(tf.mul(probabilities, tf.tensor1d(bins)), -1);
}
