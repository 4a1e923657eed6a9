import { type Agent, type AgentId, evaluate, type Game } from '@coplay/core';
import { boxPlot } from '@coplay/diagnostics';
import { type SymmetryReport, symmetryAudit } from '@coplay/diagnostics/audits';
import { bootstrap } from '@coplay/diagnostics/statistics';
import { nearestHare, nearestStag, randomAgent, stagHunt } from '@coplay/envs';
import type { Context, Experiment } from '../bench/harness';

/** Who plays all seats, in which game. */
interface LineUp {
  readonly label: string;
  readonly game: Game;
  agent(game: Game, id: AgentId): Agent;
}

/** Are the rules of the stag hunt fair? Agents of one kind in all seats must earn the same. */
export const study: Experiment = {
  name: 'symmetry',
  description: 'Random x4 and NearestStag x4 on the stag hunt: no agent is favoured by its place; returns of rules',
  minutes: 1,
  seeds: 20,
  options: {
    size: { what: 'rows and columns of the grid', default: '4' },
    episodes: { what: 'episodes of each line-up, over all seeds', default: '20000' },
  },
  bars: {
    random_p: { what: 'Random x4: p-value of equal agents', atLeast: 0.01 },
    nearest_stag_p: { what: 'NearestStag x4: p-value of equal agents', atLeast: 0.01 },
    unequal_p: { what: 'control: the same with one stronger agent, which must be found', atMost: 0.001 },
  },
  async run(context) {
    const [random, nearest, unequal] = lineUps(Number(context.options['size']));
    const reports = {
      random: await auditLineUp(context, random),
      nearestStag: await auditLineUp(context, nearest),
      unequal: await auditLineUp(context, unequal),
    };
    const ofAKind = await returnsOfKinds(context);
    return {
      figures: { ...reports, ofAKind },
      bars: {
        random_p: reports.random.test.pValue,
        nearest_stag_p: reports.nearestStag.test.pValue,
        unequal_p: reports.unequal.test.pValue,
      },
    };
  },
};

const KINDS: Readonly<Record<string, (game: Game, id: AgentId) => Agent>> = {
  NearestStag: (game, id) => nearestStag({ game, id }),
  NearestHare: (game, id) => nearestHare({ game, id }),
  Random: (game, id) => randomAgent({ game, id }),
};

/** [kind][board][seed] mean return per agent of four agents of one kind */
async function returnsOfKinds(context: Context): Promise<Record<string, Record<string, number[]>>> {
  const episodes = context.isQuick ? 20 : 1000;
  const found: Record<string, Record<string, number[]>> = {};
  for (const [kind, agent] of Object.entries(KINDS)) {
    found[kind] = {};
    for (const size of [4, 8]) {
      const game = stagHunt({ size, agents: 4, stags: 1, hares: 4 });
      const agents = game.agents.map((id) => agent(game, id));
      found[kind][`${size}x${size}`] = await context.seedLoop(`${kind} x4 on ${size}x${size}`, async (seed) => {
        return (await evaluate(game, agents, { episodes, seed })).mean;
      });
    }
  }
  context.table(
    `Mean return per agent of four of a kind, ${episodes} episodes a seed`,
    Object.entries(found).map(([kind, boards]) => ({
      kind,
      ...Object.fromEntries(Object.entries(boards).map(([board, means]) => [board, bootstrap(means)])),
    })),
  );
  return found;
}

function lineUps(size: number): [LineUp, LineUp, LineUp] {
  const setting = { size, agents: 4, stags: 1, hares: 4 };
  const nearest = (game: Game, id: AgentId) => nearestStag({ game, id });
  return [
    { label: 'Random', game: stagHunt(setting), agent: (game, id) => randomAgent({ game, id }) },
    { label: 'NearestStag', game: stagHunt(setting), agent: nearest },
    // agent_0 takes 6 parts of a stag where the others take 5: the test must be able to see that.
    { label: 'unequal NearestStag', game: stagHunt({ ...setting, strengths: [1.2, 1, 1, 1] }), agent: nearest },
  ];
}

/** Plays a line-up for each seed and compares its agents. */
async function auditLineUp(context: Context, { label, game, agent }: LineUp): Promise<SymmetryReport> {
  const all = context.isQuick ? 500 : Number(context.options['episodes']);
  const episodes = Math.ceil(all / context.seeds.length);
  const agents = game.agents.map((id) => agent(game, id));
  const means = await context.seedLoop(label, async (seed) => {
    const { returnMean } = await evaluate(game, agents, { episodes, seed });
    return returnMean;
  });
  const returns = Object.fromEntries(game.agents.map((id) => [id, means.map((seed) => seed[id])]));
  const report = symmetryAudit(returns);
  const rows = Object.entries(report.means).map(([id, mean]) => ({ agent: id, 'mean return [95 %]': mean }));
  context.table(`${label} x4, ${means.length} seeds of ${episodes} episodes. ${report.finding}`, rows);
  await context.figure(
    label.toLowerCase().replaceAll(' ', '-'),
    await boxPlot(returns, { title: `${label} x4`, y: `mean return of ${episodes} episodes` }),
  );
  return report;
}
