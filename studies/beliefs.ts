import { type BeliefLine, beliefFigure } from '@coplay/diagnostics';
import { mean, median } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import type { Context, Experiment } from '../bench/harness';
import { type Evidence, onlooker, watchStagHunter, watchSwitcher } from './beliefs/watching';

/** Discounts of the counts of goals: memories of 10, 50 and 200 episodes. */
const DISCOUNTS = [0.9, 0.98, 0.995];
/** Moves after which a stag hunter must be known. */
const FEW = 3;
/** Runs over which priors are averaged: whether a stag is caught in an episode is chance. */
const REPEATS = 20;

/** How fast is a stag hunter recognised within an episode, and one who changed its mind between episodes? */
export const study: Experiment = {
  name: 'beliefs',
  description: "HOP's beliefs: P(stag) of a NearestStag by discriminating moves, and of a Switcher by episodes",
  minutes: 5,
  seeds: 3,
  bars: {
    few_moves: { what: `P(stag) of a NearestStag after ${FEW} discriminating moves, median`, atLeast: 0.9 },
    few_moves_mean: { what: 'the same, mean', atLeast: 0.9 },
    memory: {
      what: 'share of the way to the new rate of stags that the prior has gone after 1 / (1 - discount) episodes, the least; an exponential mean goes 0.63',
      atLeast: 0.63,
    },
  },
  async run(context) {
    const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const evidence = await context.seedLoop('nearest stag', async (seed) => {
      const teaching = context.isQuick ? { samples: 2000, epochs: 1, seed } : { samples: 50_000, epochs: 10, seed };
      const agent = await onlooker(game, teaching);
      const found = await watchStagHunter(game, agent, context.isQuick ? 32 : 1000, seed);
      agent.learner.dispose();
      return found;
    });
    const [turn, repeats] = context.isQuick ? [4, 1] : [40, REPEATS];
    const priors: number[][] = [];
    for (const goalDiscount of DISCOUNTS) {
      const episodes = context.isQuick ? 12 : turn + memoryOf(DISCOUNTS[DISCOUNTS.length - 1]);
      const one = (_: unknown, i: number) => watchSwitcher(game, { goalDiscount, turn, episodes, seed: i + 1 });
      const runs = await Promise.all(Array.from({ length: repeats }, one));
      priors.push(runs[0].map((_, episode) => mean(runs.map((run) => run[episode]))));
    }
    return report(context, evidence.flat(), turn, priors);
  },
};

/** Episodes that counts remember, 1 / (1 - discount). */
const memoryOf = (discount: number) => Math.round(1 / (1 - discount));

async function report(context: Context, evidence: readonly Evidence[], turn: number, priors: readonly number[][]) {
  const most = Math.max(...evidence.map(({ learned }) => learned.length));
  const byMoves = Array.from({ length: Math.min(most, 8) }, (_, moves) => {
    const far = evidence.filter(({ learned }) => learned.length > moves);
    const at = (kind: keyof Evidence) => far.map((episode) => episode[kind][moves]);
    return {
      'discriminating moves': moves,
      episodes: far.length,
      'P(stag), median': median(at('learned')),
      mean: mean(at('learned')),
      'above 0.9': mean(at('learned').map((p) => (p > 0.9 ? 1 : 0))),
      'rules known, mean': mean(at('exact')),
    };
  });
  context.table('P(stag) of a NearestStag: models taught by Mixed(0.5), beliefs from 1/2', byMoves);
  const line = (values: readonly number[]): BeliefLine => ({ steps: values.map((_, i) => i), belief: values });
  await context.figure(
    'nearest-stag',
    await beliefFigure(
      {
        'learned models': line(byMoves.map((row) => row.mean)),
        'rules known': line(byMoves.map((row) => row['rules known, mean'])),
      },
      {
        title: 'A NearestStag co-player',
        x: 'discriminating moves',
        y: 'P(stag), mean',
        references: { 'a few moves': 0.9 },
      },
    ),
  );
  // With the shortest memory the prior is close to the present catches: its mean late on is the new rate.
  const rate = mean(priors[0].slice(-Math.ceil(priors[0].length / 4)));
  const rows = DISCOUNTS.map((discount, i) => {
    const before = priors[i][turn];
    const after = priors[i][Math.min(turn + memoryOf(discount), priors[i].length - 1)];
    return {
      discount,
      'memory, episodes': memoryOf(discount),
      'P(stag) at the change': before,
      'a memory later': after,
      'rate of stags': rate,
      'share of the way': (after - before) / (rate - before),
    };
  });
  context.table(`Prior P(stag) of a NearestHare that turns into a NearestStag after ${turn} episodes`, rows);
  const lines = DISCOUNTS.map((discount, i) => {
    return [`discount ${discount}`, { ...line(priors[i]), switches: [turn] }] as const;
  });
  await context.figure(
    'switcher',
    await beliefFigure(Object.fromEntries(lines), { title: 'A Switcher', x: 'episode', y: 'prior P(stag)' }),
  );
  const few = byMoves[FEW];
  return {
    figures: { byMoves, rows, priors },
    bars: {
      few_moves: few?.['P(stag), median'] ?? null,
      few_moves_mean: few?.mean ?? null,
      memory: Math.min(...rows.map((row) => row['share of the way'])),
    },
  };
}
