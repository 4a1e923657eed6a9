import type { LogEntry } from '@coplay/core';
import { curveOf, learningCurves } from '@coplay/diagnostics';
import { bootstrap, type Curve, mean, smooth } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import { planesWorldModel } from '@coplay/models';
import {
  type HopPlusAgent,
  type HopPlusModules,
  hopPlusAgent,
  type PpoOptions,
  ppoPresets,
  selfPlay,
} from '@coplay/trainers';
import type { Context, Experiment, SeedPlace } from '../bench/harness';

/** A way of using imagined data. */
interface Setting {
  readonly what: string;
  readonly modules: HopPlusModules;
  readonly ppo?: PpoOptions;
  /** Whether the subgoals of imagined data are replaced by zeros, as the field's code had it */
  readonly zeroSubgoals?: boolean;
}

/** The results of one seed: means over the training, over agents. */
interface SeedResult {
  /**
   * The critic's squared error on the minibatches that it learned from, as a share of the variance of its targets in
   * them: 1 is no better than a constant
   */
  readonly error: number;
  /** value/mse on real data. */
  readonly valueError: number;
  readonly imaginedValueError: number | null;
  readonly imaginedReward: number | null;
  readonly realReward: number;
  readonly evaluated: number;
  readonly curve: Curve;
}

const OFF: HopPlusModules = { worldModel: false, imagined: false, moa: false, omg: false };

/**
 * A pixel model that hardly learns, trusted from the first update on, over long horizons: the setting of the field's
 * notes.
 */
const IMMATURE: HopPlusModules = {
  worldModel: { model: planesWorldModel(), stepsPerUpdate: 1, batchSize: 32 },
  imagined: { startUpdates: 0, minAccuracy: 0, moaAccuracy: 1e-6, horizon: 35, uniformGoals: 0 },
  omg: false,
};
const SUMS: PpoOptions = { returns: 'monte-carlo', realRatio: 0.5 };

const SETTINGS: Readonly<Record<string, Setting>> = {
  PPO: { what: 'nothing imagined', modules: OFF },
  // A world model that is trained next to it and not used (`realRatio` 1) changes no number of this run.
  'Monte Carlo': { what: 'nothing imagined, Monte Carlo returns', modules: OFF, ppo: { returns: 'monte-carlo' } },
  mixed: { what: 'immature model, imagined data teach actor and critic', modules: IMMATURE, ppo: SUMS },
  'actor only': {
    what: 'the same, imagined data teach the actor only',
    modules: IMMATURE,
    ppo: { ...SUMS, imaginedCritic: 'real-only' },
  },
  'reward zeroed': {
    what: "the same, imagined rewards are 0 in the critic's targets",
    modules: IMMATURE,
    ppo: { ...SUMS, imaginedCritic: 'zero-imagined-reward' },
  },
  defaults: { what: 'HOP+ as it comes: gate, cells, events, subgoals', modules: {} },
  'subgoals 0': { what: 'the same, the subgoals of imagined data are 0', modules: {}, zeroSubgoals: true },
};

/** Where does an inflated critic error come from, and what makes it go away? */
export const study: Experiment = {
  name: 'value-loss',
  description: 'an immature world model inflates the critic: experiments 1 to 3 of the field notes side by side',
  minutes: 140,
  seeds: 10,
  options: { steps: { what: 'environment steps of each seed', default: '61440' } },
  bars: {
    mixed_over_monte_carlo: { what: 'error, immature model in mixed mode over nothing imagined', atLeast: 2 },
    actor_only_over_monte_carlo: { what: 'error, imagined data for the actor only over nothing imagined', atMost: 1.5 },
    defaults_over_ppo: { what: 'error, HOP+ with its defaults over PPO', atMost: 1.5 },
  },
  async run(context) {
    const results: Record<string, SeedResult[]> = {};
    for (const [label, setting] of Object.entries(SETTINGS)) {
      results[label] = await context.seedLoop(label, (seed, place) => train(context, setting, seed, place));
    }
    return report(context, results);
  },
};

async function train(context: Context, setting: Setting, seed: number, place: SeedPlace): Promise<SeedResult> {
  const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
  const ppo = { ...ppoPresets.stagHunt, ...setting.ppo };
  const agents = game.agents.map((id) => hopPlusAgent({ game, id, ppo, ...setting.modules }));
  if (setting.zeroSubgoals) for (const agent of agents) zeroImaginedSubgoals(agent);
  const entries: LogEntry[] = [];
  const keep = { start: () => {}, close: () => {}, write: (entry: LogEntry) => void entries.push(entry) };
  const run = selfPlay({ game, agents, envs: 32, steps: 32, seed, log: [keep, ...place.log] });
  await run.train({ envSteps: context.isQuick ? 2048 : Number(context.options['steps']) });
  const evaluated = (await run.evaluate({ episodes: context.isQuick ? 64 : 1000 })).mean;
  run.dispose();
  const all = (key: string) =>
    entries.flatMap(({ metrics }) => game.agents.flatMap((id) => metrics[`${id}/${key}`] ?? []));
  const meanOrNull = (values: number[]) => (values.length > 0 ? mean(values) : null);
  return {
    error: (2 * mean(all('value/loss'))) / mean(all('value/target_variance')),
    valueError: mean(all('value/mse')),
    imaginedValueError: meanOrNull(all('imagined/value_mse')),
    imaginedReward: meanOrNull(all('imagined/reward_mean')),
    realReward: mean(all('reward/mean')),
    evaluated,
    curve: smooth(meanCurve(entries, game.agents), 5),
  };
}

/** The critic then reads zeros in imagined steps, and real subgoals where it acts. */
function zeroImaginedSubgoals({ learner: { ppo } }: HopPlusAgent): void {
  const update = ppo.update.bind(ppo);
  ppo.update = ({ imagined = [], ...data }) => {
    for (const { extras, cuts } of imagined) {
      extras['subgoals']?.data.fill(0);
      cuts.extras?.['subgoals']?.data.fill(0);
    }
    return update({ ...data, imagined });
  };
}

/** The error of each update, over the agents, as a share of the variance of the targets. */
function meanCurve(entries: readonly LogEntry[], ids: readonly string[]): Curve {
  const read = (key: string) => ids.map((id) => curveOf(entries, `${id}/${key}`));
  const [losses, variances] = [read('value/loss'), read('value/target_variance')];
  const meanAt = (curves: readonly Curve[], i: number) => mean(curves.map(({ values }) => values[i]));
  return {
    steps: losses[0].steps,
    values: losses[0].values.map((_, i) => (2 * meanAt(losses, i)) / meanAt(variances, i)),
  };
}

/** By seed, the error of one setting over that of another. */
function ratios(results: Record<string, SeedResult[]>, label: string, baseline: string): number[] {
  return results[label].map(({ error }, i) => error / results[baseline][i].error);
}

/** The settings with Monte Carlo returns are compared with those returns and nothing imagined. */
function baselineOf(label: string): string {
  return SETTINGS[label].ppo?.returns === 'monte-carlo' && label !== 'Monte Carlo' ? 'Monte Carlo' : 'PPO';
}

async function report(context: Context, results: Record<string, SeedResult[]>) {
  const over = (label: string, baseline: string) => mean(ratios(results, label, baseline));
  const meanOf = (label: string, key: 'imaginedValueError' | 'imaginedReward') => {
    const values = results[label].flatMap((seed) => seed[key] ?? []);
    return values.length > 0 ? mean(values) : '-';
  };
  context.table(
    "The critic's squared error on the minibatches that it learned from / variance of its targets, over training",
    Object.entries(SETTINGS).map(([label, { what }]) => ({
      setting: label,
      what,
      error: mean(results[label].map((seed) => seed.error)),
      'compared with': baselineOf(label),
      'ratio, seed by seed': bootstrap(ratios(results, label, baselineOf(label))),
      'value/mse, real data': mean(results[label].map((seed) => seed.valueError)),
      'imagined value/mse': meanOf(label, 'imaginedValueError'),
      'imagined reward': meanOf(label, 'imaginedReward'),
      'real reward': mean(results[label].map((seed) => seed.realReward)),
      'return after training': mean(results[label].map((seed) => seed.evaluated)),
    })),
  );
  const curves = Object.fromEntries(
    Object.keys(results).map((label) => [label, results[label].map(({ curve }) => curve)]),
  );
  await context.figure(
    'curves',
    await learningCurves(curves, { title: "The critic's error on what it learns from", y: 'error / variance' }),
  );
  return {
    figures: { results, subgoalsOverDefaults: ratios(results, 'subgoals 0', 'defaults') },
    bars: {
      mixed_over_monte_carlo: over('mixed', 'Monte Carlo'),
      actor_only_over_monte_carlo: over('actor only', 'Monte Carlo'),
      defaults_over_ppo: over('defaults', 'PPO'),
    },
  };
}
