import {
  createGenerator,
  createRollout,
  type Game,
  type LogEntry,
  type Metrics,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { curveOf, goalTracker, learningCurves } from '@coplay/diagnostics';
import { bootstrap, type Curve, mean } from '@coplay/diagnostics/statistics';
import { nearestStag, stagHunt } from '@coplay/envs';
import {
  anneal,
  curriculum,
  ppoAgent,
  ppoPresets,
  type SelfPlayOptions,
  selfPlay,
  sharedGoals,
  sharedPpoAgents,
} from '@coplay/trainers';
import { type Context, cpuClock, type Experiment, type SeedPlace, shortCurve } from '../bench/harness';

const options = { size: 8, agents: 4, stags: 1, hares: 4 };
const game = stagHunt(options);

/** Chosen on seed 101, with shared goals. */
const ppo = {
  ...ppoPresets.stagHunt,
  gamma: 0.97,
  minibatchSize: 512,
  entropyWeight: { from: 0.1, to: 0, by: 0.6 },
};

/** A way to train. */
interface Arm {
  readonly label: string;
  readonly weights: 'shared' | 'own';
  readonly seeds: readonly number[];
  readonly explore: Pick<SelfPlayOptions, 'exploration' | 'curriculum'>;
}

/** The results of one seed. */
interface SeedResult {
  /** Mean return per agent over the episodes of the unchanged game after training. */
  readonly evaluated: number;
  /** Steps of these episodes, on average. */
  readonly length: number;
  /** What agents reached in them: see goalTracker. */
  readonly goals: Metrics;
  /** Return, and share of episodes without a stag, in training. */
  readonly curve: Curve;
  readonly missed: Curve;
  /** Of training, in processor time. */
  readonly minutes: number;
}

/** Do agents leave the hares on the large board, when they explore together or when partners join by chance? */
export const study: Experiment = {
  name: 'stag-hunt-8x8',
  description: 'PPO on the 8x8 stag hunt from scratch: shared goals, partners by chance, neither, own weights',
  minutes: 125,
  seeds: 10,
  options: {
    steps: { what: 'environment steps of each seed', default: '900000' },
    'partner-seeds': { what: 'seeds with partners by chance', default: '3', isSelection: true },
    'plain-seeds': { what: 'seeds without either', default: '3', isSelection: true },
    'own-seeds': { what: 'seeds with weights of their own', default: '2', isSelection: true },
  },
  bars: {
    shared_goals_return: { what: 'shared goals, shared weights: mean return per agent after training', atLeast: 2.8 },
    shared_goals_least: { what: 'the least of these seeds', atLeast: 2.6 },
    shared_goals_minutes: { what: 'the most minutes of processor time of these seeds', atMost: 10 },
  },
  async run(context) {
    const envSteps = context.isQuick ? 4096 : Number(context.options['steps']);
    const upTo = (name: string) => context.seeds.slice(0, Number(context.options[name]));
    const explore = { exploration: sharedGoals({ share: { from: 1, to: 0, by: 0.2 } }) };
    const arms: Arm[] = [
      { label: 'shared goals', weights: 'shared', seeds: context.seeds, explore },
      { label: 'partners by chance', weights: 'shared', seeds: upTo('partner-seeds'), explore: partnersByChance() },
      { label: 'neither', weights: 'shared', seeds: upTo('plain-seeds'), explore: {} },
      { label: 'shared goals, own weights', weights: 'own', seeds: upTo('own-seeds'), explore },
    ];
    const results: Record<string, SeedResult[]> = {};
    for (const arm of arms) results[arm.label] = await trainAll(context, arm, envSteps);
    return report(context, results);
  },
};

/** Lone hunters of a stag get it as if a partner had joined, at first always and in the end never. */
function partnersByChance() {
  const chance = { from: 1, to: 0, by: 0.23 };
  return {
    curriculum: curriculum((progress) => stagHunt({ ...options, partnerChance: anneal(chance, progress) })),
  };
}

async function trainAll(context: Context, arm: Arm, envSteps: number): Promise<SeedResult[]> {
  const results = await context.seedLoop(arm.label, (seed, place) =>
    arm.seeds.includes(seed) ? train(arm, envSteps, seed, place, context.isQuick ? 20 : 1000) : null,
  );
  return results.filter((result): result is SeedResult => Boolean(result));
}

async function train(
  { weights, explore }: Arm,
  envSteps: number,
  seed: number,
  place: SeedPlace,
  episodes: number,
): Promise<SeedResult> {
  const common = { game, ppo, inputs: { centred: true } };
  const agents = weights === 'own' ? game.agents.map((id) => ppoAgent({ ...common, id })) : sharedPpoAgents(common);
  const entries: LogEntry[] = [];
  const envs = 64;
  const tracker = goalTracker({ game, envs });
  const run = selfPlay({
    ...{ game, agents, envs, steps: 32, seed, ...explore },
    log: [{ start() {}, close() {}, write: (entry) => void entries.push(entry) }, ...place.log],
    onRollout: (experience, progress) => void entries.push({ ...progress, metrics: tracker.add(experience) }),
  });
  const start = cpuClock();
  await run.train({ envSteps });
  const minutes = (cpuClock() - start) / 60_000;
  const evaluated = await evaluateGoals(game, run.agents, episodes, seed);
  run.dispose();
  return {
    ...evaluated,
    curve: shortCurve(curveOf(entries, 'episode/return_mean')),
    missed: shortCurve(curveOf(entries, 'goals/stag/missed')),
    minutes,
  };
}

/** The first episode of each of so many environments: returns, lengths, and the goals that agents reach. */
async function evaluateGoals(
  played: Game,
  agents: Parameters<typeof createRollout>[1],
  episodes: number,
  seed: number,
) {
  const env = vectorEnv(played, { envs: episodes, seed: streamSeed(seed, 'study/env') });
  const generator = createGenerator(streamSeed(seed, 'study/agents'));
  const experience = await createRollout(env, agents, generator).collect(played.maxSteps);
  const { steps, ended, rewards } = experience;
  const A = played.agents.length;
  const lengths = Array.from({ length: episodes }, (_, e) => 1 + ended.subarray(e * steps, (e + 1) * steps).indexOf(1));
  const returns = lengths.map((length, e) => {
    const own = rewards.subarray(e * steps * A, (e * steps + length) * A);
    return own.reduce((sum, reward) => sum + reward, 0) / A;
  });
  const goals = goalTracker({ game: played, envs: episodes, perEnv: 1 }).add(experience);
  return { evaluated: mean(returns), length: mean(lengths), goals };
}

async function report(context: Context, results: Record<string, SeedResult[]>) {
  const rules = game.agents.map((id) => nearestStag({ game, id }));
  const nearest = await evaluateGoals(game, rules, context.isQuick ? 20 : 1000, 1);
  const labels = Object.keys(results).filter((label) => results[label].length > 0);
  context.table(
    'Return per agent over 1,000 episodes of the unchanged game after training (hares only: 0.97, optimum: 3.0)',
    [
      ...labels.map((label) => {
        const returns = results[label].map(({ evaluated }) => evaluated);
        return {
          'trained with': label,
          seeds: returns.length,
          return: bootstrap(returns),
          least: Math.min(...returns),
          'minutes of processor time': mean(results[label].map(({ minutes }) => minutes)),
        };
      }),
      { 'trained with': 'four NearestStag', seeds: 1, return: nearest.evaluated },
    ],
  );
  const shares: Record<string, readonly Pick<SeedResult, 'goals' | 'length'>[]> = {
    ...results,
    'four NearestStag': [nearest],
  };
  context.table(
    'What agents reached in these episodes, means over seeds',
    [...labels, 'four NearestStag'].map((label) => ({ 'trained with': label, ...sharesOf(shares[label]) })),
  );
  const references = { 'four NearestStag': nearest.evaluated, 'hares only': 0.97 };
  const curvesOf = (of: 'curve' | 'missed') =>
    Object.fromEntries(labels.map((label) => [label, results[label].map((seed) => seed[of])]));
  await context.figure(
    'returns',
    await learningCurves(curvesOf('curve'), { title: 'Return in training, 8x8', references }),
  );
  await context.figure(
    'missed',
    await learningCurves(curvesOf('missed'), { title: 'Episodes without a stag, 8x8', y: 'share of the episodes' }),
  );
  const judged = results['shared goals'];
  const returns = judged.map(({ evaluated }) => evaluated);
  return {
    figures: { nearest, results },
    bars: {
      shared_goals_return: bootstrap(returns),
      shared_goals_least: Math.min(...returns),
      shared_goals_minutes: Math.max(...judged.map(({ minutes }) => minutes)),
    },
  };
}

/** A line of the table of shares: means over the seeds that measured them. */
function sharesOf(seeds: readonly Pick<SeedResult, 'goals' | 'length'>[]) {
  const meanOf = (key: string) => {
    const measured = seeds.flatMap(({ goals }) => goals[key] ?? []);
    return measured.length > 0 ? mean(measured) : undefined;
  };
  const shareBy = (hunters: number) => mean(seeds.map(({ goals }) => goals[`goals/stag/by_${hunters}`] ?? 0));
  return {
    'without a stag': meanOf('goals/stag/missed'),
    'by two': shareBy(2),
    'by three': shareBy(3),
    'by four': shareBy(4),
    'step of the catch': meanOf('goals/stag/step'),
    hares: meanOf('goals/hare/reached'),
    'hares after the stag': meanOf('goals/hare/after_stag'),
    'steps of an episode': mean(seeds.map(({ length }) => length)),
  };
}
