import { boxPlot, heatMap } from '@coplay/diagnostics';
import { ablationFigure, ablationSummary, ablationTable } from '@coplay/diagnostics/ablations';
import { stagHunt } from '@coplay/envs';
import type { Context, Experiment } from '../bench/harness';
import { type AuditPlan, type AuditReport, audit } from './audit/checks';
import { isInsideModule, SABOTAGES, type Sabotage } from './audit/sabotage';
import { hopPlusSubject, PPO_ALONE } from './audit/subject';

const ALL = Object.keys(SABOTAGES) as Sabotage[];

/**
 * R1 > R2 > R3 > R4 in symmetric self-play of HOP+: in which module do agents become unequal? Also with deliberate
 * faults, which the audit must name.
 */
export const study: Experiment = {
  name: 'audit',
  description:
    'Why would one HOP+ agent earn more than its equals? Every test in order, on a sound trainer and on broken ones',
  minutes: 40,
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
    const { isQuick } = context;
    // A quick run has no time for the graphs of every module in every setting.
    const subject = isQuick
      ? { ...hopPlusSubject({ hidden: [16], epochs: 1 }), without: { 'all but PPO': PPO_ALONE } }
      : hopPlusSubject();
    const reports: AuditReport[] = [];
    for (const sabotage of chosen(context.options['sabotage'])) {
      context.say(`audit of a trainer with ${SABOTAGES[sabotage]} wrong`);
      const switches = isQuick && sabotage !== 'none' ? PPO_ALONE : {};
      const setting = { subject, game: GAME, sabotage, switches };
      const report = await audit(setting, planOf(context, sabotage), context.seedLoop);
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

/**
 * Most broken trainers are recognised by their structure, so only their main setting is trained. Faults inside a module
 * show in returns with and without it.
 */
function planOf({ isQuick, options }: Context, sabotage: Sabotage): AuditPlan {
  const isSound = sabotage === 'none';
  const size = isQuick
    ? { envSteps: 1536, envs: 16, steps: 32 }
    : { envSteps: Number(options['steps']) / (isSound ? 1 : 2), envs: 32, steps: 32 };
  return {
    episodes: isQuick ? 2000 : Number(options['episodes']),
    size,
    triesModules: isSound || !isQuick,
    trainsModules: isSound || (isInsideModule(sabotage) && !isQuick),
    trainsOthers: isSound,
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
