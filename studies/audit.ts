import { boxPlot, heatMap } from '@coplay/diagnostics';
import { ablationFigure, ablationSummary, ablationTable } from '@coplay/diagnostics/ablations';
import { stagHunt } from '@coplay/envs';
import type { Context, Experiment } from '../bench/harness';
import { type AuditPlan, type AuditReport, audit } from './audit/checks';
import { SABOTAGES, type Sabotage } from './audit/sabotage';
import { ppoSubject } from './audit/subject';

const ALL = Object.keys(SABOTAGES) as Sabotage[];

/** R1 > R2 > R3 > R4 in symmetric self-play: whose fault is it? Also with faults put in, which the audit must name. */
export const study: Experiment = {
  name: 'audit',
  description:
    'Why would one agent earn more than its equals? Every test in order, on a sound trainer and on broken ones',
  minutes: 15,
  seeds: 5,
  options: {
    sabotage: { what: `${ALL.join(', ')}, or each`, default: 'each' },
    steps: { what: 'environment steps of each training; half of them on broken trainers', default: '16384' },
    episodes: { what: 'episodes of random play', default: '10000' },
  },
  bars: {
    false_alarms: { what: 'tests that fail on the sound trainer', atMost: 0 },
    named: { what: 'share of broken trainers whose fault is named', atLeast: 1 },
  },
  async run(context) {
    const subject = context.isQuick ? ppoSubject({ hidden: [16], executor: 'eager' }) : ppoSubject();
    const reports: AuditReport[] = [];
    for (const sabotage of chosen(context.options['sabotage'])) {
      context.say(`audit of a trainer with ${SABOTAGES[sabotage]} wrong`);
      const report = await audit({ subject, game: GAME, sabotage }, planOf(context, sabotage), context.seedLoop);
      await show(context, report);
      reports.push(report);
    }
    return conclude(context, reports);
  },
};

const GAME = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });

function chosen(option: string): Sabotage[] {
  if (option === 'each') return ALL;
  const found = ALL.filter((name) => name === option);
  if (found.length === 0) throw new Error(`--sabotage: expected each, ${ALL.join(', ')}; got ${option}`);
  return found;
}

/** A broken trainer is recognised by its structure: only the sound one is trained with more than the main setting. */
function planOf({ isQuick, options }: Context, sabotage: Sabotage): AuditPlan {
  const isSound = sabotage === 'none';
  return isQuick
    ? {
        episodes: 2000,
        size: { envSteps: 1536, envs: 16, steps: 32 },
        triesModules: isSound,
        trainsAll: isSound,
      }
    : {
        episodes: Number(options['episodes']),
        size: { envSteps: Number(options['steps']) / (isSound ? 1 : 2), envs: 32, steps: 32 },
        triesModules: true,
        trainsAll: isSound,
      };
}

async function show(context: Context, report: AuditReport): Promise<void> {
  const { sabotage, steps, influence, returns } = report;
  const heading = sabotage === 'none' ? 'The sound trainer' : `Sabotage "${sabotage}": ${SABOTAGES[sabotage]}`;
  context.table(
    `${heading}. ${report.conclusion.finding}`,
    steps.map(({ test, verdict }) => ({
      test,
      verdict: verdict.isFair === null ? 'cannot tell' : verdict.isFair ? 'fair' : 'NOT FAIR',
      finding: verdict.finding,
    })),
  );
  const ids = Object.keys(report.training.late);
  const learners = Object.keys(influence);
  await context.figure(
    `${sabotage}-influence`,
    await heatMap(
      {
        rows: learners,
        columns: ids,
        values: learners.map((name) => ids.map((id) => 1000 * influence[name].movedBy[id])),
      },
      {
        title: `${sabotage}: whose data moves whom`,
        x: 'rewards changed of',
        y: 'greatest change of a parameter (1/1000) of',
        height: 320,
      },
    ),
  );
  const title = `${sabotage}: last 20 % of training`;
  await context.figure(`${sabotage}-agents`, await boxPlot(returns['all modules'], { title, y: 'mean return' }));
  if (sabotage === 'none') await showModules(context, report);
}

/** Mean over agents in every setting that was trained. */
async function showModules(context: Context, { returns }: AuditReport): Promise<void> {
  const { random: _, NearestStag: __, ...trained } = returns;
  const means = Object.entries(trained).map(([label, byAgent]) => {
    const agents = Object.values(byAgent);
    return [label, agents[0].map((_, s) => agents.reduce((sum, of) => sum + of[s], 0) / agents.length)];
  });
  const rows = ablationSummary(Object.fromEntries(means));
  context.table('Mean return over agents, last 20 % of training, by setting', ablationTable(rows));
  await context.figure('settings', await ablationFigure(rows, { y: 'mean return', width: 1200 }));
}

function conclude(context: Context, reports: readonly AuditReport[]) {
  context.table(
    'The fault that was put in, and the verdict of the audit',
    reports.map(({ sabotage, conclusion, isRight }) => ({
      'put in': `${sabotage}: ${SABOTAGES[sabotage]}`,
      named: conclusion.culprit,
      suspects: conclusion.suspects.join(', '),
      right: isRight ? 'yes' : 'NO',
    })),
  );
  const sound = reports.find(({ sabotage }) => sabotage === 'none');
  const broken = reports.filter(({ sabotage }) => sabotage !== 'none');
  const alarms = sound?.steps.filter(({ verdict }) => verdict.isFair === false).length;
  const named = broken.filter(({ isRight }) => isRight).length / broken.length;
  return {
    figures: Object.fromEntries(reports.map(({ sabotage, ...report }) => [sabotage, report])),
    bars: { false_alarms: alarms ?? null, named: broken.length > 0 ? named : null },
  };
}
