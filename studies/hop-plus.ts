import { learningCurves } from '@coplay/diagnostics';
import { ablationFigure, ablationSummary, ablationTable } from '@coplay/diagnostics/ablations';
import { symmetryAudit } from '@coplay/diagnostics/audits';
import { mean, median } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import type { HopPlusModules } from '@coplay/trainers';
import { type Context, type Experiment, medianReached, stepsToReach } from '../bench/harness';
import { reportSearch, searchLines } from './hop-plus/search';
import { type Line, reachRow, type SeedResult, trainAlone, trainTogether } from './hop-plus/training';

/** One module off at a time, on 4x4. */
const ABLATIONS: Readonly<Record<string, HopPlusModules>> = {
  'nothing imagined': { imagined: false },
  'no MOA': { moa: false },
  'no OMG': { omg: false },
  'goals as shown': { imagined: { uniformGoals: 0 } },
  'rules for a model': { worldModel: 'rules' },
};

/** Sizes of the open squares that 8x8 is also learned on. */
const SQUARES = [4, 5, 6, 8];

/**
 * Left out of a quick run, which would spend its time on making their graphs; the lines that are left run the same
 * code.
 */
const SLOW = [
  'no MOA',
  'no OMG',
  'goals as shown',
  'rules for a model',
  'PPO 8x8',
  'PPO 8x8, squares',
  'HOP+ 8x8',
  'HOP+ 4x4 4h2s',
  'HOP+ 4x4, search, twice as long',
];

/** Does imagination with models of the others reach PPO's level in half of the steps, and get past the hares on 8x8? */
export const study: Experiment = {
  name: 'hop-plus',
  description:
    'HOP+ self-play on the stag hunt 4x4 and 8x8 against PPO, ablations, one learner among rules, tree search',
  minutes: 180,
  seeds: 10,
  options: {
    steps: { what: 'environment steps of HOP+ on 4x4; PPO takes twice as many', default: '150000' },
    'large-steps': { what: 'environment steps on 8x8', default: '200000' },
    'large-seeds': { what: 'seeds on 8x8', default: '2', isSelection: true },
    'ablation-seeds': { what: 'seeds of each ablation', default: '3', isSelection: true },
    'long-seeds': { what: 'seeds of the run with search that is twice as long', default: '3', isSelection: true },
    parts: {
      what: 'which parts to run: small, ablations, large, squares, alone; search (about 7 hours with --seeds 10)',
      default: 'small,ablations,large,squares,alone',
      isSelection: true,
    },
  },
  bars: {
    small_return: { what: '4x4: mean return after training', atLeast: 2.85 },
    share_of_ppo_steps: {
      what: "4x4: steps to PPO's level (its median return after training), HOP+ over PPO, medians over seeds",
      atMost: 0.5,
    },
    seeds_at_ppo_level: { what: "4x4: share of HOP+ seeds that reach PPO's level", atLeast: 1 },
    small_order_p: { what: '4x4: p-value of equal agents over seeds', atLeast: 0.05 },
    large_return: { what: '8x8: mean return after training (hares only: 0.98)', atLeast: 1.5 },
    search_4h1s: {
      what: '4x4: return with tree search less that without; at least 0 where it takes fewer steps to 2.75 (interval)',
      atLeast: 0,
    },
    search_4h2s: { what: 'the same with two stags, and fewer steps to 4.5', atLeast: 0 },
    search_stable: {
      what: '4x4 with search, twice as long: mean of the last fifth over the best fifth',
      atLeast: 0.95,
    },
  },
  async run(context) {
    const parts = context.options['parts'].split(',');
    const steps = context.isQuick ? 1024 : Number(context.options['steps']);
    const envs = context.isQuick ? 8 : 32;
    const some = (count: string) => context.seeds.slice(0, Number(context.options[count]));
    const small = { size: 4, envSteps: steps, seeds: context.seeds, envs };
    const lines: Record<string, Line> = {
      'PPO 4x4': { ...small, agents: 'ppo', envSteps: 2 * steps },
      'HOP+ 4x4': { ...small, agents: {} },
    };
    if (parts.includes('ablations')) {
      for (const [label, agents] of Object.entries(ABLATIONS)) {
        lines[label] = { ...small, agents, seeds: some('ablation-seeds') };
      }
    }
    if (parts.includes('search')) Object.assign(lines, searchLines(context, small));
    const envSteps = context.isQuick ? 512 : Number(context.options['large-steps']);
    const large = { size: 8, centred: true, envSteps, seeds: some('large-seeds'), envs };
    if (parts.includes('large')) {
      lines['PPO 8x8'] = { ...large, agents: 'ppo' };
      lines['HOP+ 8x8'] = { ...large, agents: { imagined: { horizon: 12 } } };
    }
    if (parts.includes('squares')) {
      lines['PPO 8x8, squares'] = { ...large, agents: 'ppo', squares: SQUARES };
      lines['HOP+ 8x8, squares'] = { ...large, agents: { imagined: { horizon: 10 } }, squares: SQUARES };
    }
    const results: Record<string, SeedResult[]> = {};
    if (context.isQuick) for (const label of SLOW) delete lines[label];
    for (const [label, line] of Object.entries(lines)) results[label] = await trainTogether(context, label, line);
    const alone = parts.includes('alone') ? await trainAlone(context, steps) : [];
    return report(context, results, alone);
  },
};

async function report(
  context: Context,
  results: Record<string, SeedResult[]>,
  alone: Awaited<ReturnType<typeof trainAlone>>,
) {
  const level = (label: string) => mean(results[label].map(({ evaluated }) => evaluated));
  const labels = Object.keys(results);
  context.table(
    'Mean return per agent (four NearestStag: 2.85, optimum 3.0, hares only 0.98; two stags: optimum 5.0)',
    labels.map((label) => ({
      setting: label,
      seeds: results[label].length,
      'after training': level(label),
      least: Math.min(...results[label].map(({ evaluated }) => evaluated)),
      'last 20 %': mean(results[label].map(({ late }) => mean(Object.values(late)))),
      'minutes a seed': mean(results[label].map(({ seconds }) => seconds)) / 60,
    })),
  );
  if (alone.length > 0) context.table('One HOP+ agent among three of a kind', alone);
  const curves = Object.fromEntries(labels.map((label) => [label, results[label].map(({ curve }) => curve)]));
  const references = { 'four NearestStag': 2.85, 'hares only': 0.98 };
  await context.figure('curves', await learningCurves(curves, { title: 'HOP+ on the stag hunt', references }));
  await ablations(context, results);
  const own = results['HOP+ 4x4'];
  const ids = stagHunt({ size: 4 }).agents;
  const audit =
    own.length > 1 && symmetryAudit(Object.fromEntries(ids.map((id) => [id, own.map((seed) => seed.late[id])])));
  if (audit) context.say(audit.finding);
  const search = reportSearch(context, results);
  const large = labels.filter((label) => label.startsWith('HOP+ 8x8'));
  const target = median(results['PPO 4x4'].map(({ evaluated }) => evaluated));
  const small = ['PPO 4x4', 'HOP+ 4x4'] as const;
  context.table(
    "4x4: steps and seconds until the smoothed training return reaches a level; the last is PPO's own",
    [2.5, 2.75, target].flatMap((goal) => small.map((label) => reachRow(label, results[label], goal))),
  );
  const [ppoReached, reached] = small.map((label) => results[label].map(({ curve }) => stepsToReach(curve, target)));
  return {
    figures: { results, alone, audit, target, ppoReached, reached },
    bars: {
      small_return: level('HOP+ 4x4'),
      // A seed that never gets there counts as infinite; where that is the median, the bar doesn't hold.
      share_of_ppo_steps: medianReached(reached) / medianReached(ppoReached),
      seeds_at_ppo_level: reached.filter(Number.isFinite).length / reached.length,
      small_order_p: audit ? audit.test.pValue : null,
      large_return: large.length > 0 ? Math.max(...large.map(level)) : null,
      ...search,
    },
  };
}

async function ablations(context: Context, results: Record<string, SeedResult[]>): Promise<void> {
  const cells = ['HOP+ 4x4', ...Object.keys(ABLATIONS).filter((label) => results[label])];
  if (cells.length < 2) return;
  const values = Object.fromEntries(cells.map((label) => [label, results[label].map(({ evaluated }) => evaluated)]));
  const summary = ablationSummary(values, { baseline: 'HOP+ 4x4', seed: 1 });
  context.table('One module off at a time: return after training', ablationTable(summary));
  await context.figure('ablations', await ablationFigure(summary, { title: 'HOP+ on 4x4, one module off at a time' }));
}
