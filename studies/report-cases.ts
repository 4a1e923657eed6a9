import { findProblems, readRun, type TableRow, writeReport } from '@coplay/diagnostics';
import type { Context, Experiment } from '../bench/harness';
import { SETTINGS } from './report-cases/runs';

/** A finding that a report must make in one run, and must not make in another of the same kind. */
interface Case {
  readonly check: string;
  readonly sick: string;
  readonly sound: string;
}

const CASES: readonly Case[] = [
  { check: 'inflated-critic', sick: 'PPO with endless steps', sound: 'PPO' },
  { check: 'invented-rewards', sick: 'HOP+ with an immature model', sound: 'HOP+' },
  { check: 'rare-outcomes', sick: 'HOP+ without outcomes', sound: 'HOP+' },
  { check: 'stale-subgoals', sick: 'HOP+ with empty subgoals', sound: 'HOP+' },
  { check: 'unequal-agents', sick: 'NearestStag, one stronger', sound: 'NearestStag' },
  { check: 'collapsed-class', sick: 'MOA of frequencies', sound: 'MOA' },
  { check: 'large-updates', sick: 'PPO with large steps', sound: 'PPO' },
  { check: 'early-entropy', sick: 'PPO without entropy', sound: 'PPO' },
  { check: 'not-finite', sick: 'PPO with endless rewards', sound: 'PPO' },
];
const SOUND: ReadonlySet<string> = new Set(CASES.map(({ sound }) => sound));

/** The findings of a report of one run, or of runs that differ in the seed. */
type Findings = ReturnType<typeof findProblems>;

/** Does a report name the fault of a run, and find nothing in a sound one? */
export const study: Experiment = {
  name: 'report-cases',
  description: 'a sick run for each finding of a report, and a sound run of the same kind',
  minutes: 8,
  seeds: 1,
  options: {
    steps: { what: 'environment steps of each run', default: '61440' },
    updates: { what: "updates of the models of a co-player that aren't part of a run", default: '24' },
  },
  bars: {
    named: { what: 'share of the sick runs in which the finding is named', atLeast: 1 },
    false_alarms: { what: 'warnings and faults in sound runs', atMost: 0 },
  },
  async run(context) {
    const found: Record<string, Findings[]> = {};
    for (const label of Object.keys(SETTINGS)) found[label] = await findingsOf(context, label);
    return conclude(context, found);
  },
};

/** Makes a run for each seed, writes its report, and tells what that finds. */
async function findingsOf(context: Context, label: string): Promise<Findings[]> {
  const { isQuick, options } = context;
  const size = isQuick
    ? { envs: 8, envSteps: 512, updates: 2 }
    : { envs: 32, envSteps: Number(options['steps']), updates: Number(options['updates']) };
  return context.seedLoop(label, async (seed, { directory, log }) => {
    const directories = await SETTINGS[label].leave({ ...size, directory, seed, log });
    writeReport(`${directory}/report.html`, directories);
    return findProblems(directories.map((one) => readRun(one)));
  });
}

function conclude(context: Context, found: Readonly<Record<string, readonly Findings[]>>) {
  const rows = CASES.map((one) => rowOf(one, found));
  context.table('Each finding in a sick run and in a sound run of the same kind', rows);
  const labels = Object.keys(SETTINGS).map((label) => ({
    run: label,
    what: SETTINGS[label].what,
    found: checksIn(found[label]),
  }));
  context.table('Every run, and all that is found in it (notes too)', labels);
  const told = CASES.flatMap(({ check, sick }) => {
    const [first] = found[sick].flatMap((findings) => findings.filter((one) => one.check === check));
    return first ? [{ finding: check, 'as printed': first.finding }] : [];
  });
  context.table('The findings for the first seed', told);
  const named = CASES.flatMap(({ check, sick }) => found[sick].map((findings) => names(findings, check)));
  const alarms = [...SOUND].flatMap((label) => found[label].flatMap((findings) => findings.filter(isAlarm)));
  return {
    figures: { found },
    bars: { named: named.filter(Boolean).length / named.length, false_alarms: alarms.length },
  };
}

function rowOf({ check, sick, sound }: Case, found: Readonly<Record<string, readonly Findings[]>>): TableRow {
  const count = (label: string) =>
    `${found[label].filter((findings) => names(findings, check)).length} of ${found[label].length}`;
  return { finding: check, 'sick run': sick, named: count(sick), 'sound run': sound, 'named there': count(sound) };
}

function checksIn(seeds: readonly Findings[]): string {
  return [...new Set(seeds.flatMap((findings) => findings.map(({ check, level }) => `${check} (${level})`)))].join(
    ', ',
  );
}

function names(findings: Findings, check: string): boolean {
  return findings.some((one) => one.check === check);
}

function isAlarm({ level }: Findings[number]): boolean {
  return level !== 'note';
}
