import type { Game, LogEntry, Metrics } from '@coplay/core';
import { boxPlot, curveOf, learningCurves } from '@coplay/diagnostics';
import { symmetryAudit } from '@coplay/diagnostics/audits';
import { bootstrap, type Curve, mean } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import { ppoAgent, ppoPresets, selfPlay, sharedPpoAgents } from '@coplay/trainers';
import { type Context, type Experiment, meanOfEpisodes, type SeedPlace, shortCurve } from '../bench/harness';

/** One line-up on one board. */
interface Setting {
  readonly label: string;
  readonly game: Game;
  readonly weights: 'own' | 'shared';
  readonly envSteps: number;
  readonly seeds: readonly number[];
}

/** The results of one seed. */
interface SeedResult {
  /** Mean return of each agent over the last 20 % of training. */
  readonly late: Readonly<Record<string, number>>;
  /** Of one evaluation after training, 2,000 episodes. */
  readonly evaluated: number;
  /** The greatest critic error of any update and agent. */
  readonly worstValueError: number;
  readonly curve: Curve;
  readonly secondsOfTraining: number;
}

/** Mean return per agent from which on a seed counts as past the hares: four NearestStag earn 2.85. */
const LEARNED = 2.75;

/** Does independent PPO get past the equilibrium in which all agents hunt hares, with every seed? */
export const study: Experiment = {
  name: 'ppo-stag-hunt',
  description: 'PPO self-play on the Markov Stag Hunt 4x4, 4 hares, 1 stag: own and shared weights, and 8x8',
  minutes: 30,
  seeds: 20,
  options: {
    steps: { what: 'environment steps of each seed on 4x4', default: '300000' },
    'large-steps': { what: 'environment steps of each seed on 8x8', default: '100000' },
    'large-seeds': { what: 'seeds on 8x8', default: '1' },
  },
  bars: {
    own_weights_share: { what: `share of seeds at ${LEARNED} or more after training, own weights`, atLeast: 1 },
    shared_weights_share: { what: `share of seeds at ${LEARNED} or more after training, shared weights`, atLeast: 1 },
    own_weights_order_p: { what: 'own weights: p-value of equal agents over seeds', atLeast: 0.05 },
    worst_value_mse: { what: 'greatest value/mse of any update', atMost: 25 },
  },
  async run(context) {
    const small = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const large = stagHunt({ size: 8, agents: 4, stags: 1, hares: 4 });
    const envSteps = context.isQuick ? 2048 : Number(context.options['steps']);
    const largeSteps = context.isQuick ? 2048 : Number(context.options['large-steps']);
    const largeSeeds = context.seeds.slice(0, Number(context.options['large-seeds']));
    const settings: Setting[] = [
      { label: '4x4 own weights', game: small, weights: 'own', envSteps, seeds: context.seeds },
      { label: '4x4 shared weights', game: small, weights: 'shared', envSteps, seeds: context.seeds },
      { label: '8x8 own weights', game: large, weights: 'own', envSteps: largeSteps, seeds: largeSeeds },
    ];
    const results: Record<string, SeedResult[]> = {};
    for (const setting of settings) results[setting.label] = await trainAll(context, setting);
    return report(context, results);
  },
};

async function trainAll(context: Context, setting: Setting): Promise<SeedResult[]> {
  const results = await context.seedLoop(setting.label, (seed, place) =>
    setting.seeds.includes(seed) ? train(setting, seed, place) : null,
  );
  return results.filter((result): result is SeedResult => Boolean(result));
}

async function train({ game, weights, envSteps }: Setting, seed: number, place: SeedPlace): Promise<SeedResult> {
  const ppo = ppoPresets.stagHunt;
  const agents =
    weights === 'own' ? game.agents.map((id) => ppoAgent({ game, id, ppo })) : sharedPpoAgents({ game, ppo });
  const entries: LogEntry[] = [];
  const keep = { start: () => {}, close: () => {}, write: (entry: LogEntry) => void entries.push(entry) };
  const run = selfPlay({ game, agents, envs: 32, steps: 32, seed, log: [keep, ...place.log] });
  const start = performance.now();
  await run.train({ envSteps });
  const secondsOfTraining = (performance.now() - start) / 1000;
  const evaluated = (await run.evaluate({ episodes: 2000 })).mean;
  run.dispose();
  const late = entries.filter((entry) => entry.envSteps > 0.8 * envSteps);
  return {
    late: Object.fromEntries(game.agents.map((id) => [id, meanOfEpisodes(late, `episode/return/${id}`)])),
    evaluated,
    worstValueError: Math.max(...entries.map((entry) => greatest(entry.metrics, 'value/mse'))),
    curve: shortCurve(curveOf(entries, 'episode/return_mean')),
    secondsOfTraining,
  };
}

function greatest(metrics: Metrics, suffix: string): number {
  const values = Object.entries(metrics).flatMap(([key, value]) => (key.endsWith(suffix) ? [value] : []));
  return Math.max(...values);
}

/** The share of seeds that left the hares. */
function shareOf(seeds: readonly SeedResult[]): number {
  return mean(seeds.map(({ evaluated }) => (evaluated >= LEARNED ? 1 : 0)));
}

async function report(context: Context, results: Record<string, SeedResult[]>) {
  const labels = Object.keys(results).filter((label) => results[label].length > 0);
  const late = Object.fromEntries(
    labels.map((label) => [label, results[label].map((seed) => mean(Object.values(seed.late)))]),
  );
  context.table(
    'Mean return per agent over the last 20 % of training (four NearestStag: 2.85, optimum: 3.0, hares only: 0.98)',
    labels.map((label) => ({
      setting: label,
      seeds: late[label].length,
      mean: mean(late[label]),
      least: Math.min(...late[label]),
      'after training': bootstrap(results[label].map((seed) => seed.evaluated)),
      'least after training': Math.min(...results[label].map((seed) => seed.evaluated)),
      [`share at ${LEARNED}`]: shareOf(results[label]),
      'worst value/mse': Math.max(...results[label].map((seed) => seed.worstValueError)),
      'minutes a seed': mean(results[label].map((seed) => seed.secondsOfTraining)) / 60,
    })),
  );
  const references = { 'four NearestStag': 2.85, optimum: 3, 'hares only': 0.98 };
  const curves = Object.fromEntries(labels.map((label) => [label, results[label].map((seed) => seed.curve)]));
  await context.figure(
    'curves',
    await learningCurves(curves, { title: 'PPO self-play on the Markov Stag Hunt', references }),
  );
  const own = results['4x4 own weights'];
  const byAgent = Object.fromEntries(Object.keys(own[0].late).map((id) => [id, own.map((seed) => seed.late[id])]));
  await context.figure('agents', await boxPlot(byAgent, { title: '4x4, own weights, last 20 %', y: 'mean return' }));
  const audit = symmetryAudit(byAgent);
  context.say(audit.finding);
  return {
    figures: { late, results, audit },
    bars: {
      own_weights_share: shareOf(own),
      shared_weights_share: shareOf(results['4x4 shared weights']),
      own_weights_order_p: audit.test.pValue,
      worst_value_mse: Math.max(...labels.flatMap((label) => results[label].map((seed) => seed.worstValueError))),
    },
  };
}
