import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWholeSync } from '@coplay/core/node';
import { median } from '@coplay/diagnostics/statistics';
import { runSweep } from 'coplay';
import type { Experiment } from './harness';

/** How long a sweep took. */
interface Timed {
  readonly jobs: number;
  /** From the call to its end, report included. */
  readonly seconds: number;
  /** Until the first run had ended, less that run: processes start and load the library. */
  readonly coldSeconds: number;
  /** From the time at which each process has ended its first run, to the end of the last run. */
  readonly workSeconds: number;
  /** Of all runs: training and evaluation. */
  readonly runSeconds: readonly number[];
}

/** What does a sweep cost beyond its runs, and how much faster are two processes than one? */
export const bench: Experiment = {
  name: 'sweep',
  description: 'coplay sweep: overhead of each of 100 short runs, two processes against one, one thread each',
  minutes: 6,
  seeds: 1,
  options: {
    runs: { what: 'runs of a sweep', default: '100' },
    steps: { what: 'environment steps of a run', default: '8192' },
  },
  bars: {
    overhead_milliseconds: { what: 'milliseconds of a run in one process beyond training and evaluation', atMost: 150 },
    two_jobs: { what: 'time of one process over that of two, cold start left out', atLeast: 1.8 },
  },
  async run(context) {
    const runs = context.isQuick ? 4 : Number(context.options['runs']);
    const steps = context.isQuick ? 256 : Number(context.options['steps']);
    const [one, two] = [await time(runs, steps, 1), await time(runs, steps, 2)];
    const table = [one, two].map(({ jobs, seconds, coldSeconds, workSeconds, runSeconds }) => ({
      processes: jobs,
      runs,
      'seconds in all': seconds,
      'cold start (s)': coldSeconds,
      'a run (median s)': median(runSeconds),
      'beyond it (ms)': overheadOf({ jobs, workSeconds, runSeconds }),
    }));
    context.table(`Sweeps of ${runs} runs of ${steps} steps`, table);
    const perRun = ({ jobs, workSeconds }: Timed) => workSeconds / (runs - jobs);
    const speedUp = perRun(one) / perRun(two);
    context.say(`two processes: ${speedUp.toFixed(2)} times as fast as one`);
    return { figures: { one, two }, bars: { overhead_milliseconds: overheadOf(one), two_jobs: speedUp } };
  },
};

/** Milliseconds for each run that was no training and no evaluation. The first run of each process isn't counted. */
function overheadOf({ jobs, workSeconds, runSeconds }: Pick<Timed, 'jobs' | 'workSeconds' | 'runSeconds'>): number {
  const warm = runSeconds.slice(jobs);
  const busy = warm.reduce((sum, seconds) => sum + seconds, 0);
  return (1000 * (jobs * workSeconds - busy)) / warm.length;
}

async function time(runs: number, steps: number, jobs: number): Promise<Timed> {
  const folder = mkdtempSync(join(tmpdir(), 'coplay-sweep-'));
  const file = join(folder, 'sweep.json');
  const configuration = {
    game: { name: 'stag-hunt', size: 4, agents: 4, stags: 1, hares: 4 },
    agents: { kind: 'shared-ppo', preset: 'stagHunt' },
    envSteps: steps,
  };
  writeWholeSync(file, JSON.stringify({ configuration, list: [{}], seeds: runs, episodes: 10 }));
  // One thread for each process: two of them have two cores.
  process.env['COPLAY_THREADS'] = '1';
  const [start, ends, runSeconds]: [number, number[], number[]] = [performance.now(), [], []];
  const onEnd = (_: unknown, end: unknown) => {
    ends.push(performance.now());
    runSeconds.push((end as { readonly seconds: number }).seconds);
  };
  try {
    await runSweep({ file, directory: join(folder, 'sweep'), jobs, watcher: { onEnd } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const seconds = (performance.now() - start) / 1000;
  const coldSeconds = (ends[0] - start) / 1000 - runSeconds[0];
  return { jobs, seconds, coldSeconds, workSeconds: (ends[ends.length - 1] - ends[jobs - 1]) / 1000, runSeconds };
}
