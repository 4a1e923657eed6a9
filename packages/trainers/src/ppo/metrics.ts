import { type ActionSpaces, type Experience, explainedVariance, type Metrics, type NamedArrays } from '@coplay/core';
import type { Targets } from './algorithm';

/** Names of a step's outputs, and the metric that each becomes: its mean over the minibatches, weighted by rows. */
const STEP_METRICS: Readonly<Record<string, string>> = {
  surrogate: 'policy/loss',
  entropy: 'policy/entropy',
  approxKl: 'policy/approx_kl',
  approxKl1: 'policy/approx_kl1',
  clipFraction: 'policy/clip_fraction',
  gradientNorm: 'policy/gradient_norm',
  critic: 'value/loss',
  targetLoss: 'policy/target_loss', // with policy targets
};

/** Collects the outputs of the steps of one update. */
export interface BatchTally {
  startEpoch(): void;
  /** One step of outputs [S]. */
  add(outputs: NamedArrays, step: number, rows: number): void;
  /** Counts a minibatch that was left out. */
  skip(): void;
  /** The critic's targets in minibatches, and their weights; as many of each */
  addTargets(targets: ArrayLike<number>, weights: ArrayLike<number>): void;
  /** Mean approximate KL of the present epoch. */
  epochKl(): number;
  result(): Metrics;
}

/** An empty tally. */
export function batchTally(annealed: Record<'learningRate' | 'entropyWeight' | 'clip', number>): BatchTally {
  const sums: Record<string, number> = {};
  let rowsSeen = 0;
  let epochs = 0;
  let steps = 0;
  let skipped = 0;
  let epochRows = 0;
  let epochKlSum = 0;
  const ofTargets = { weight: 0, sum: 0, squares: 0 };
  return {
    startEpoch: () => {
      epochs++;
      epochRows = 0;
      epochKlSum = 0;
    },
    add: (outputs, step, rows) => {
      for (const name in STEP_METRICS) {
        if (outputs[name]) sums[name] = (sums[name] ?? 0) + outputs[name].data[step] * rows;
      }
      rowsSeen += rows;
      steps++;
      epochRows += rows;
      epochKlSum += outputs['approxKl'].data[step] * rows;
    },
    skip: () => {
      skipped++;
    },
    addTargets: (targets, weights) => {
      for (let i = 0; i < targets.length; i++) {
        ofTargets.weight += weights[i];
        ofTargets.sum += weights[i] * targets[i];
        ofTargets.squares += weights[i] * targets[i] ** 2;
      }
    },
    epochKl: () => (epochRows === 0 ? 0 : epochKlSum / epochRows),
    result: () => {
      // Without a step there is nothing to report: a zero would look like a measurement, and enter means over learners.
      const measured = Object.entries(STEP_METRICS).filter(([name]) => name in sums);
      const means = measured.map(([name, key]) => [key, sums[name] / rowsSeen]);
      return {
        ...Object.fromEntries(means),
        ...(ofTargets.weight > 0 && { 'value/target_variance': variance(ofTargets) }),
        'policy/learning_rate': annealed.learningRate,
        'policy/entropy_weight': annealed.entropyWeight,
        'policy/clip': annealed.clip,
        'policy/epochs': epochs,
        'policy/steps': steps,
        'policy/skipped': skipped,
      };
    },
  };
}

function variance({ weight, sum, squares }: { weight: number; sum: number; squares: number }): number {
  return Math.max(0, squares / weight - (sum / weight) ** 2);
}

/** Figures of the data of one update, over the steps in which the learner's agents were active. */
export function dataMetrics(
  experience: Experience<ActionSpaces>,
  seats: readonly number[],
  values: Float32Array,
  targets: Targets,
): Metrics {
  const weights = ownRows(experience, seats);
  const perEnv = experience.steps * experience.agents.length;
  const squares = new Float32Array(values.length);
  let rows = 0;
  let imagined = 0;
  for (let row = 0; row < values.length; row++) {
    if (weights[row] === 0) continue;
    squares[row] = (values[row] - targets.returns[row]) ** 2;
    rows++;
    imagined += experience.isImagined[Math.floor(row / perEnv)];
  }
  const counts = { 'data/rows': rows, 'data/real_rows': rows - imagined, 'data/imagined_rows': imagined };
  if (rows === 0) return counts;
  const returns = summary(targets.returns, weights);
  return {
    'value/mse': summary(squares, weights).mean,
    'value/mean': summary(values, weights).mean,
    // Targets that are all equal leave nothing to explain.
    ...(returns.max > returns.min && {
      'value/explained_variance': explainedVariance(values, targets.returns, weights),
    }),
    ...named('return', returns),
    ...named('reward', summary(experience.rewards, weights)),
    'advantage/mean': summary(targets.advantages, weights).mean,
    'advantage/std': summary(targets.advantages, weights).std,
    ...counts,
  };
}

/** The figures of {@link dataMetrics} that are kept of imagined data, and their names there. */
const IMAGINED_METRICS: Readonly<Record<string, string>> = {
  'value/mse': 'imagined/value_mse',
  'value/mean': 'imagined/value_mean',
  'return/mean': 'imagined/return_mean',
  'reward/mean': 'imagined/reward_mean',
  'reward/min': 'imagined/reward_min',
  'reward/max': 'imagined/reward_max',
};

/** Figures of imagined data: means over the experiences, weighted by rows; the least and greatest of all. */
export function imaginedMetrics(parts: readonly Metrics[]): Metrics {
  const rows = parts.reduce((sum, part) => sum + part['data/rows'], 0);
  const metrics: Metrics = { 'data/imagined_rows': rows };
  const measured = parts.filter((part) => part['data/rows'] > 0);
  if (measured.length === 0) return metrics;
  for (const [name, key] of Object.entries(IMAGINED_METRICS)) {
    const values = measured.map((part) => part[name]);
    if (key.endsWith('min')) metrics[key] = Math.min(...values);
    else if (key.endsWith('max')) metrics[key] = Math.max(...values);
    else metrics[key] = measured.reduce((sum, part) => sum + part[name] * part['data/rows'], 0) / rows;
  }
  return metrics;
}

/** [E T A] 1 where an agent of these seats was active. */
function ownRows({ active, agents }: Experience, seats: readonly number[]): Float32Array {
  const weights = new Float32Array(active.length);
  for (let step = 0; step < active.length; step += agents.length) {
    for (const seat of seats) weights[step + seat] = active[step + seat];
  }
  return weights;
}

function named(group: string, figures: Record<string, number>): Metrics {
  return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [`${group}/${name}`, figure]));
}

/** Mean, standard deviation, least and greatest of the rows with weight 1, of which there is one at least. */
function summary(values: Float32Array, weights: Float32Array) {
  let count = 0;
  let sum = 0;
  let squares = 0;
  let min = Infinity;
  let max = -Infinity;
  for (let i = 0; i < values.length; i++) {
    if (weights[i] === 0) continue;
    count++;
    sum += values[i];
    squares += values[i] * values[i];
    min = Math.min(min, values[i]);
    max = Math.max(max, values[i]);
  }
  const mean = sum / count;
  return { mean, std: Math.sqrt(Math.max(0, squares / count - mean * mean)), min, max };
}
