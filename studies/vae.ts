import { streamSeed } from '@coplay/core';
import { learningCurves, type ProbeResult } from '@coplay/diagnostics';
import { type Curve, mean } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import type { Context, Experiment } from '../bench/harness';
import { play } from './vae/data';
import { probeOfViews } from './vae/probes';
import { type Setting, type Trained, trainSetting } from './vae/training';

/** Everything of one seed: settings by their labels. */
interface SeedResult {
  readonly settings: Readonly<Record<string, Trained>>;
  /** The probe of the co-players' raw observations. */
  readonly views: ProbeResult;
}

const LOSSES = ['reconstruction', 'action'] as const;
const DIMENSIONS = [64, 16, 4, 2] as const;
const GRID: readonly Setting[] = LOSSES.flatMap((loss) => DIMENSIONS.map((goalDim) => ({ loss, goalDim })));

/** Which loss, and how large a latent: what does a subgoal tell of where a co-player is heading? */
export const study: Experiment = {
  name: 'vae',
  description:
    'OMG latents on Mixed(0.5) in the stag hunt 4x4: two losses, four sizes, and the accuracy of a linear probe of them',
  minutes: 30,
  seeds: 3,
  options: {
    steps: { what: 'environment steps of the data', default: '25600' },
    'vae-steps': { what: 'gradient steps of each state VAE', default: '1024' },
    'inference-steps': { what: 'gradient steps of each inference network', default: '400' },
  },
  bars: {
    selected_margin: {
      what: 'reconstruction, D 16: probe of selected subgoals above the majority class',
      atLeast: 0.1,
    },
    inferred_margin: {
      what: 'reconstruction, D 16: probe of inferred subgoals above the majority class',
      atLeast: 0.05,
    },
    state_margin: { what: 'reconstruction, D 16: probe of state latents above the majority class', atLeast: 0.03 },
    action_prior_kl: {
      what: 'action, D 16: nats that the state VAE keeps with a head that sees the state',
      atMost: 0.1,
    },
  },
  async run(context) {
    const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const option = (name: string, quick: number) => (context.isQuick ? quick : Number(context.options[name]));
    const steps = option('steps', 1280);
    const effort = { vaeSteps: option('vae-steps', 64), inferenceSteps: option('inference-steps', 8) };
    const grid = context.isQuick ? GRID.filter(({ goalDim }) => goalDim === 16) : GRID;
    const results = await context.seedLoop('grid', async (seed): Promise<SeedResult> => {
      const envs = 64;
      const data = [
        await play(game, streamSeed(seed, 'learning'), envs, Math.ceil(steps / envs)),
        await play(game, streamSeed(seed, 'held out'), envs, Math.ceil(steps / 2 / envs)),
      ] as const;
      const settings: Record<string, Trained> = {};
      for (const setting of grid) {
        settings[labelOf(setting)] = await trainSetting(game, setting, effort, seed, data);
        context.say(`seed ${seed}: ${labelOf(setting)} done`);
      }
      return { settings, views: probeOfViews(data[1]) };
    });
    return report(context, results, effort);
  },
};

function labelOf({ loss, goalDim }: Setting): string {
  return `${loss} ${goalDim}`;
}

async function report(context: Context, results: readonly SeedResult[], effort: object) {
  const labels = Object.keys(results[0].settings);
  const over = (label: string, read: (trained: Trained) => number) =>
    mean(results.map(({ settings }) => read(settings[label])));
  const accuracy = (label: string, what: keyof Trained['probes']) => over(label, ({ probes }) => probes[what].accuracy);
  const margin = (label: string, what: keyof Trained['probes']) =>
    over(label, ({ probes }) => probes[what].accuracy - probes[what].majority);
  const views = mean(results.map((result) => result.views.accuracy));
  const majority = mean(results.map((result) => result.views.majority));
  context.table(
    `Goal probe on held-out episodes: share told right by a linear probe (always the commonest goal: ${majority.toFixed(3)}; from the view itself: ${views.toFixed(3)})`,
    labels.map((label) => ({
      'loss and goalDim': label,
      'state latent': accuracy(label, 'state'),
      inferred: accuracy(label, 'inferred'),
      'selected (teacher)': accuracy(label, 'selected'),
    })),
  );
  context.table(
    'Losses at the end of training (nats; the nll is that of the weighted state, or of the action)',
    labels.map((label) => ({
      'loss and goalDim': label,
      'VAE nll': over(label, ({ final }) => final['omg/vae_nll']),
      'VAE KL': over(label, ({ final }) => final['omg/vae_kl']),
      'inference nll': over(label, ({ final }) => final['omg/nll']),
      'inference KL': over(label, ({ final }) => final['omg/kl']),
      'explained variance': over(label, ({ final }) => Math.max(-1, final['omg/explained_variance'])),
    })),
  );
  for (const loss of LOSSES) {
    await curves(context, results, loss, 'vae', ['omg/vae_nll', 'omg/vae_kl']);
    await curves(context, results, loss, 'inference', ['omg/nll', 'omg/kl']);
  }
  const figures = results.map(({ settings, views: probe }) => ({
    views: probe,
    settings: Object.fromEntries(
      Object.entries(settings).map(([label, { probes, final }]) => [label, { probes, final }]),
    ),
  }));
  return {
    figures: { effort, results: figures },
    bars: {
      selected_margin: margin('reconstruction 16', 'selected'),
      inferred_margin: margin('reconstruction 16', 'inferred'),
      state_margin: margin('reconstruction 16', 'state'),
      action_prior_kl: over('action 16', ({ final }) => final['omg/vae_kl']),
    },
  };
}

/** Both terms of one network's loss, for each size. */
async function curves(
  context: Context,
  results: readonly SeedResult[],
  loss: string,
  network: string,
  keys: readonly string[],
): Promise<void> {
  const lines: Record<string, Curve[]> = {};
  for (const label of Object.keys(results[0].settings)) {
    if (!label.startsWith(loss)) continue;
    for (const key of keys) {
      const term = key.endsWith('kl') ? 'KL' : 'nll';
      lines[`${label} ${term}`] = results.map(({ settings }) => settings[label].curves[key]);
    }
  }
  const title = network === 'vae' ? `State VAE, ${loss}` : `Subgoal inference, ${loss}`;
  await context.figure(`${loss}-${network}`, await learningCurves(lines, { title, x: 'calls of training', y: 'nats' }));
}
