import { learningCurves } from '@coplay/diagnostics';
import { bootstrap, mean } from '@coplay/diagnostics/statistics';
import { stagHunt, withAgentId } from '@coplay/envs';
import {
  type Context,
  type Experiment,
  learningColumns,
  medianReached,
  reachedOrNever,
  stepsToReach,
} from '../bench/harness';
import { bestReturn, type Line, type SeedResult, stability, train, trainPpo } from './hop/training';

/** The return that counts as learned: agents have left the hares. */
const GOALS: Readonly<Record<string, number>> = {
  small: 2.75,
  ppo: 2.75,
  joined: 2.75,
  ppoShared: 2.75,
  ppoJoined: 2.75,
  ppoJoinedShared: 2.75,
  large: 2.75,
  ppoLarge: 2.75,
  stags: 4.5,
  pair: 4.8,
  long: 2.75,
};

/** The return at which agents no longer hunt hares, for the steps until then. */
const LEFT_THE_HARES = 2.5;

/**
 * The share of training after which the rules are the game's own. Until then a lone hunter may catch the stag, as if a
 * partner had joined, less and less often: in what agents live through, and in what they search. Chosen on seed 101.
 */
const PARTNERS_UNTIL = 0.35;

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
  const small = { game: hunt, envSteps: steps('steps'), seeds: context.seeds };
  const size = context.isQuick ? 5 : 8; // a quick run would spend its time on making large networks
  const large = {
    game: stagHunt({ size, agents: 4, stags: 1, hares: 4 }),
    envSteps: steps('large-steps'),
    seeds: seeds(Number(context.options['large-seeds'])),
    gamma: 0.97,
  };
  return {
    small: { ...small, label: 'HOP 4x4 4h1s', part: 'small' },
    ppo: { ...small, label: 'PPO 4x4 4h1s, equal steps', part: 'small', ppo: 'own' },
    ppoShared: { ...small, label: 'PPO 4x4 4h1s, shared weights, equal steps', part: 'small', ppo: 'shared' },
    joined: { ...small, label: 'HOP 4x4 4h1s, partners by chance', part: 'joined', partnersUntil: PARTNERS_UNTIL },
    ppoJoined: {
      ...small,
      label: 'PPO 4x4 4h1s, partners by chance, equal steps',
      part: 'joined',
      ppo: 'own',
      partnersUntil: PARTNERS_UNTIL,
    },
    ppoJoinedShared: {
      ...small,
      label: 'PPO 4x4 4h1s, shared weights, partners by chance, equal steps',
      part: 'joined',
      ppo: 'shared',
      partnersUntil: PARTNERS_UNTIL,
    },
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
      seeds: seeds(3),
      label: 'HOP two agents, one stag, 5 trees',
      part: 'pair',
      trees: 5,
    },
    pairOneTree: {
      ...small,
      envSteps: steps('steps', 0.5),
      game: pair,
      seeds: seeds(3),
      label: 'HOP two agents, one stag, 1 tree',
      part: 'pair',
      trees: 1,
    },
    pairWithHares: {
      ...{ ...small, seeds: seeds(1), game: stagHunt({ size: 4, agents: 2, stags: 1, hares: 4 }), trees: 1 },
      ...{ label: 'HOP two agents, one stag, 4 hares', part: 'pair' },
    },
    large: { ...large, label: 'HOP 8x8 4h1s, partners by chance', part: 'large', partnersUntil: PARTNERS_UNTIL },
    ppoLarge: {
      ...large,
      label: 'PPO 8x8 4h1s, shared weights, partners by chance, equal steps',
      part: 'large',
      ppo: 'shared',
      partnersUntil: PARTNERS_UNTIL,
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
    'HOP self-play on the stag hunt 4x4 and 8x8, with and without partners by chance, PPO at equal steps, tree counts',
  minutes: 150,
  seeds: 10,
  options: {
    steps: { what: 'environment steps of each seed on 4x4', default: '61440' },
    'large-steps': { what: 'environment steps of each seed on 8x8', default: '122880' },
    'large-seeds': { what: 'seeds on 8x8', default: '5', isSelection: true },
    parts: {
      what: 'which parts to run: small, joined, stags, pair, large, stability',
      default: 'small,joined,stags,pair,large,stability',
      isSelection: true,
    },
  },
  bars: {
    small_return: { what: '4x4 4h1s: mean return after training (optimum 3.0)', atLeast: 2.85 },
    joined_return: { what: '4x4 4h1s, partners by chance at first: mean return after training', atLeast: 2.85 },
    joined_least: { what: '4x4 4h1s, partners by chance at first: the least return of a seed', atLeast: 2.75 },
    above_ppo: {
      what: '4x4 4h1s: the best HOP less the best PPO at equal steps, lower bound',
      atLeast: 0,
    },
    stags_return: { what: '4x4 4h2s: mean return (optimum 5.0)', atLeast: 4.5 },
    pair_return: { what: 'two agents, one stag, 5 trees: mean return (optimum 5)', atLeast: 4.8 },
    large_return: { what: '8x8 4h1s: mean return (hares only: 0.98; optimum 3.0)', atLeast: 2.85 },
    large_above_ppo: { what: '8x8 4h1s: the return less the return of PPO at equal steps, lower bound', atLeast: 0 },
    stable: { what: 'run twice as long: mean of the last 20 % over the best stretch of 20 %', atLeast: 0.95 },
  },
  async run(context) {
    const parts = context.options['parts'].split(',');
    const results: Record<string, SeedResult[]> = {};
    const chosen = Object.entries(lines(context)).filter(([, line]) => parts.includes(line.part));
    for (const [name, line] of chosen) {
      const found = await context.seedLoop(line.label, (seed, place) => {
        if (!line.seeds.includes(seed)) return null;
        return line.ppo ? trainPpo(context, line, seed, place) : train(context, line, seed, place);
      });
      results[name] = found.filter((result): result is SeedResult => Boolean(result));
    }
    return report(context, Object.fromEntries(chosen), results);
  },
};

async function report(context: Context, chosen: Record<string, Line>, results: Record<string, SeedResult[]>) {
  const names = Object.keys(chosen);
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
      [`steps to ${LEFT_THE_HARES}, median`]: reachedOrNever(
        medianReached(results[name].map((seed) => stepsToLeave(chosen[name], seed))),
      ),
      best: bestReturn(chosen[name]),
      'minutes a seed': mean(results[name].map(({ seconds }) => seconds)) / 60,
    })),
  );
  const curves = Object.fromEntries(names.map((name) => [chosen[name].label, results[name].map(({ curve }) => curve)]));
  const references = { 'four NearestStag on 4x4': 2.85, 'hares only': 0.98 };
  const title = 'HOP on the stag hunt';
  if (names.length > 0) await context.figure('curves', await learningCurves(curves, { title, references }));
  const estimate = (name: string) =>
    results[name]?.length ? bootstrap(results[name].map(({ evaluated }) => evaluated)) : null;
  const long = results['long']?.[0];
  return {
    figures: { results },
    bars: {
      small_return: estimate('small'),
      joined_return: estimate('joined'),
      joined_least: results['joined']?.length ? Math.min(...results['joined'].map(({ evaluated }) => evaluated)) : null,
      above_ppo: difference(results, ['small', 'joined'], ['ppo', 'ppoShared', 'ppoJoined', 'ppoJoinedShared']),
      stags_return: estimate('stags'),
      pair_return: estimate('pair'),
      large_return: estimate('large'),
      large_above_ppo: difference(results, ['large'], ['ppoLarge']),
      stable: long ? stability(long.curve) : null,
    },
  };
}

/** The best line of HOP less the best line of PPO, by their means: the lower bound of the difference over seeds. */
function difference(results: Readonly<Record<string, SeedResult[]>>, hop: readonly string[], ppo: readonly string[]) {
  const returns = [hop, ppo].map((names) => {
    const all = names.map((name) => (results[name] ?? []).map(({ evaluated }) => evaluated));
    if (all.some(({ length }) => length === 0)) return null;
    return all.reduce((best, other) => (mean(other) > mean(best) ? other : best));
  });
  const [own, others] = returns;
  return own && others ? bootstrap(own.map((value, i) => value - others[i])).lower : null;
}

/** The first step with the game's own rules at which agents no longer hunt hares; infinite if they always do. */
function stepsToLeave({ envSteps, partnersUntil = 0 }: Line, { curve: { steps, values } }: SeedResult): number {
  const from = steps.findIndex((step) => step >= partnersUntil * envSteps);
  return stepsToReach({ steps: steps.slice(from), values: values.slice(from) }, LEFT_THE_HARES);
}
