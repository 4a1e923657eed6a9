import { createGenerator, type Game, type Metrics, streamSeed } from '@coplay/core';
import type { Curve } from '@coplay/diagnostics/statistics';
import { createOmg } from '@coplay/trainers';
import type { Play } from './data';
import { type Probes, probesOf } from './probes';

/** One cell of the grid. */
export interface Setting {
  readonly loss: 'reconstruction' | 'action';
  readonly goalDim: number;
}

/** How long the networks are trained. */
export interface Effort {
  readonly vaeSteps: number;
  readonly inferenceSteps: number;
}

/** The results of one cell. */
export interface Trained {
  readonly probes: Probes;
  /** Metrics of the last tenth of each training, means. */
  readonly final: Metrics;
  readonly curves: Readonly<Record<string, Curve>>;
}

const KEYS = ['omg/vae_nll', 'omg/vae_kl', 'omg/nll', 'omg/kl', 'omg/explained_variance'] as const;

/** Trains both networks of one setting on the data, the VAE first, and probes their latents. */
export async function trainSetting(
  game: Game,
  setting: Setting,
  effort: Effort,
  seed: number,
  [train, test]: readonly [Play, Play],
): Promise<Trained> {
  const omg = createOmg({ game, id: game.agents[0], ...setting, valuesOf: 'coPlayer' });
  const generator = createGenerator(streamSeed(seed, 'networks'));
  await omg.initialise(generator.fork());
  const metrics = await omg.pretrain(train.experience, { ...effort, values: train.returns }, generator.fork());
  const curves = Object.fromEntries(KEYS.map((key) => [key, curveOf(metrics, key)]));
  const final = Object.fromEntries(KEYS.map((key) => [key, lastTenth(curves[key].values)]));
  const probes = await probesOf(omg, game, test);
  omg.dispose();
  return { probes, final, curves };
}

/** A metric over the calls that report it, by gradient steps in thousandths of the training. */
function curveOf(metrics: readonly Metrics[], key: string): Curve {
  const values = metrics.flatMap((entry) => (entry[key] === undefined ? [] : [entry[key]]));
  return { steps: values.map((_, i) => i), values };
}

function lastTenth(values: readonly number[]): number {
  const last = values.slice(-Math.max(1, Math.floor(values.length / 10)));
  return last.reduce((sum, value) => sum + value, 0) / last.length;
}
