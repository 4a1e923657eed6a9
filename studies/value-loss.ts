import type { LogEntry } from '@coplay/core';
import { curveOf, learningCurves } from '@coplay/diagnostics';
import { type Curve, mean, smooth } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import { planesWorldModel } from '@coplay/models';
import { type HopPlusModules, hopPlusAgent, type PpoOptions, ppoPresets, selfPlay } from '@coplay/trainers';
import type { Context, Experiment, SeedPlace } from '../bench/harness';

/** A way of using imagined data. */
interface Setting {
  readonly what: string;
  readonly modules: HopPlusModules;
  readonly ppo?: PpoOptions;
}

/** The results of one seed: means over the training, over agents. */
interface SeedResult {
  /** On real data. */
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
  PPO: { what: 'no imagined data', modules: OFF },
  mixed: { what: 'immature model, imagined data teach actor and critic', modules: IMMATURE, ppo: SUMS },
  'real only': { what: 'the same model, real data only', modules: IMMATURE, ppo: { ...SUMS, realRatio: 1 } },
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
};

/** Where does an inflated critic error come from, and what makes it go away? */
export const study: Experiment = {
  name: 'value-loss',
  description: 'an immature world model inflates the critic: experiments 1 to 3 of the field notes side by side',
  minutes: 35,
  seeds: 3,
  options: { steps: { what: 'environment steps of each seed', default: '61440' } },
  bars: {
    mixed_over_ppo: { what: "value/mse in mixed mode with an immature model, over PPO's", atLeast: 2 },
    real_only_over_ppo: { what: "value/mse with real data only, over PPO's", atMost: 1.5 },
    actor_only_over_ppo: { what: "value/mse with imagined data for the actor only, over PPO's", atMost: 1.5 },
    defaults_over_ppo: { what: "value/mse of HOP+ with its defaults, over PPO's", atMost: 1.5 },
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
    valueError: mean(all('value/mse')),
    imaginedValueError: meanOrNull(all('imagined/value_mse')),
    imaginedReward: meanOrNull(all('imagined/reward_mean')),
    realReward: mean(all('reward/mean')),
    evaluated,
    curve: smooth(meanCurve(entries, game.agents), 5),
  };
}

/** The mean of value/mse over the agents. */
function meanCurve(entries: readonly LogEntry[], ids: readonly string[]): Curve {
  const curves = ids.map((id) => curveOf(entries, `${id}/value/mse`));
  return {
    steps: curves[0].steps,
    values: curves[0].values.map((_, i) => mean(curves.map(({ values }) => values[i]))),
  };
}

async function report(context: Context, results: Record<string, SeedResult[]>) {
  const error = (label: string) => mean(results[label].map((seed) => seed.valueError));
  const over = (label: string) => error(label) / error('PPO');
  const meanOf = (label: string, key: 'imaginedValueError' | 'imaginedReward') => {
    const values = results[label].flatMap((seed) => seed[key] ?? []);
    return values.length > 0 ? mean(values) : '-';
  };
  context.table(
    'Mean over training of value/mse on real data, and on imagined data (rewards of one step)',
    Object.entries(SETTINGS).map(([label, { what }]) => ({
      setting: label,
      what,
      'value/mse': error(label),
      'over PPO': over(label),
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
    await learningCurves(curves, { title: "The critic's error on real data", y: 'value/mse' }),
  );
  return {
    figures: { results },
    bars: {
      mixed_over_ppo: over('mixed'),
      real_only_over_ppo: over('real only'),
      actor_only_over_ppo: over('actor only'),
      defaults_over_ppo: over('defaults'),
    },
  };
}
