import { learningCurves } from '@coplay/diagnostics';
import { bootstrap, mean } from '@coplay/diagnostics/statistics';
import { snowdrift, stagHunt, withAgentId } from '@coplay/envs';
import { type Context, type Experiment, learningColumns } from '../bench/harness';
import { bestReturn, type Line, type SeedResult, stability, train, trainPpo } from './hop/training';

/** The return that counts as learned: agents have left the hares. */
const GOALS: Readonly<Record<string, number>> = {
  small: 2.75,
  ppo: 2.75,
  stags: 4.5,
  pair: 4.8,
  squares: 2,
  long: 2.75,
};

/** Of each line in a quick run. */
const QUICK_STEPS = 512;

/**
 * Everything that the study trains, by label. Searches are small in training, about 80 simulations for each environment
 * step, and larger afterwards.
 */
function lines(context: Context): Record<string, Line> {
  const steps = (name: string, times = 1) => (context.isQuick ? QUICK_STEPS : times * Number(context.options[name]));
  const seeds = (count: number) => context.seeds.slice(0, context.isQuick ? 1 : count);
  const hunt = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
  const pair = stagHunt({ size: 4, agents: 2, stags: 1, hares: 0 });
  const small = { game: hunt, envSteps: steps('steps'), seeds: seeds(3) };
  const size = context.isQuick ? 5 : 8; // a quick run would spend its time on making large networks
  const large = { envSteps: steps('large-steps'), seeds: seeds(1) };
  return {
    small: { ...small, label: 'HOP 4x4 4h1s', part: 'small' },
    ppo: { ...small, label: 'PPO 4x4 4h1s, equal steps', part: 'small', isPpo: true },
    // Who goes to which stag is a matter of who one is, and to go to the farther one pays only later.
    stags: {
      ...small,
      game: withAgentId(stagHunt({ size: 4, agents: 4, stags: 2, hares: 4 })),
      envSteps: steps('steps', 5),
      seeds: seeds(1),
      label: 'HOP 4x4 4h2s, who is who, five times as long',
      part: 'stags',
      gamma: 0.97,
      search: { exploration: 20, rationality: 25 },
    },
    pair: {
      ...small,
      envSteps: steps('steps', 0.5),
      game: pair,
      label: 'HOP two agents, one stag, 5 trees',
      part: 'pair',
      trees: 5,
    },
    pairOneTree: {
      ...small,
      envSteps: steps('steps', 0.5),
      game: pair,
      label: 'HOP two agents, one stag, 1 tree',
      part: 'pair',
      trees: 1,
    },
    pairWithHares: {
      ...{ ...small, seeds: seeds(1), game: stagHunt({ size: 4, agents: 2, stags: 1, hares: 4 }), trees: 1 },
      ...{ label: 'HOP two agents, one stag, 4 hares', part: 'pair' },
    },
    large: {
      ...large,
      game: stagHunt({ size, agents: 4, stags: 1, hares: 4 }),
      label: 'HOP 8x8 4h1s',
      part: 'large',
    },
    squares: {
      ...large,
      envSteps: steps('large-steps', 5),
      game: stagHunt({ size, agents: 4, stags: 1, hares: 4 }),
      squares: context.isQuick ? [4, 5] : [4, 5, 6, 8],
      label: 'HOP 8x8 4h1s, open squares',
      part: 'squares',
    },
    snowdrift: {
      ...large,
      game: snowdrift({ size }),
      label: 'HOP snowdrift 8x8',
      part: 'snowdrift',
      isSnowdrift: true,
    },
    long: {
      ...small,
      envSteps: steps('steps', 2),
      seeds: seeds(1),
      label: 'HOP 4x4 4h1s, twice as long',
      part: 'stability',
    },
  };
}

/** Does learning from the results of a small search get past the hares, and stay there? */
export const study: Experiment = {
  name: 'hop',
  description:
    'HOP self-play on the stag hunt 4x4 and 8x8 and the snowdrift game, PPO at equal steps, tree counts, stability',
  minutes: 150,
  seeds: 3,
  options: {
    steps: { what: 'environment steps of each seed on 4x4', default: '61440' },
    'large-steps': { what: 'environment steps on 8x8', default: '81920' },
    parts: {
      what: 'which parts to run: small, stags, pair, large, squares, snowdrift, stability',
      default: 'small,stags,pair,large,squares,snowdrift,stability',
      isSelection: true,
    },
  },
  bars: {
    small_return: { what: '4x4 4h1s: mean return after training (optimum 3.0)', atLeast: 2.85 },
    above_ppo: { what: '4x4 4h1s: return less that of PPO at equal environment steps', atLeast: 0 },
    stags_return: { what: '4x4 4h2s: mean return (optimum 5.0)', atLeast: 4.5 },
    pair_return: { what: 'two agents, one stag, 5 trees: mean return (optimum 5)', atLeast: 4.8 },
    large_return: {
      what: '8x8 4h1s: mean return (hares only: 0.98), trained on open squares where that part is run',
      atLeast: 2,
    },
    stable: { what: 'run twice as long: mean of the last 20 % over the best stretch of 20 %', atLeast: 0.95 },
  },
  async run(context) {
    const parts = context.options['parts'].split(',');
    const results: Record<string, SeedResult[]> = {};
    const chosen = Object.entries(lines(context)).filter(([, line]) => parts.includes(line.part));
    for (const [name, line] of chosen) {
      const found = await context.seedLoop(line.label, (seed, place) => {
        if (!line.seeds.includes(seed)) return null;
        return line.isPpo ? trainPpo(context, line, seed, place) : train(context, line, seed, place);
      });
      results[name] = found.filter((result): result is SeedResult => Boolean(result));
    }
    return report(context, Object.fromEntries(chosen), results);
  },
};

async function report(context: Context, chosen: Record<string, Line>, results: Record<string, SeedResult[]>) {
  const names = Object.keys(chosen);
  const level = (name: string) =>
    results[name]?.length ? mean(results[name].map(({ evaluated }) => evaluated)) : null;
  context.table(
    'Mean return per agent, after training, with the larger search',
    names.map((name) => ({
      setting: chosen[name].label,
      ...learningColumns(
        results[name].map(({ evaluated }) => evaluated),
        GOALS[name],
      ),
      'with the training search': mean(results[name].map(({ asTrained }) => asTrained)),
      'last 20 %': mean(results[name].map(({ late }) => late)),
      best: bestReturn(chosen[name]),
      'minutes a seed': mean(results[name].map(({ seconds }) => seconds)) / 60,
    })),
  );
  const hunts = names.filter((name) => !chosen[name].isSnowdrift);
  const curvesOf = (some: readonly string[]) =>
    Object.fromEntries(some.map((name) => [chosen[name].label, results[name].map(({ curve }) => curve)]));
  if (hunts.length > 0) {
    const references = { 'four NearestStag on 4x4': 2.85, 'hares only': 0.98 };
    await context.figure(
      'curves',
      await learningCurves(curvesOf(hunts), { title: 'HOP on the stag hunt', references }),
    );
  }
  if (results['snowdrift']?.length) {
    const title = 'HOP on the snowdrift game';
    await context.figure(
      'snowdrift',
      await learningCurves(curvesOf(['snowdrift']), { title, references: { best: 30 } }),
    );
  }
  const estimate = (name: string) =>
    results[name]?.length ? bootstrap(results[name].map(({ evaluated }) => evaluated)) : null;
  const [small, ppo] = [level('small'), level('ppo')];
  const long = results['long']?.[0];
  return {
    figures: { results, snowdriftShare: (level('snowdrift') ?? Number.NaN) / 30 },
    bars: {
      small_return: estimate('small'),
      above_ppo: small !== null && ppo !== null ? small - ppo : null,
      stags_return: estimate('stags'),
      pair_return: estimate('pair'),
      large_return: estimate('squares') ?? estimate('large'),
      stable: long ? stability(long.curve) : null,
    },
  };
}
