import { median, quantile } from '@coplay/diagnostics/statistics';

/** One of several that are timed side by side. */
export interface Contestant {
  readonly name: string;
  /** The amount of work in one run, such as environment steps, so that rates can be given. */
  readonly units: number;
  run(): void | Promise<void>;
}

/** How fast a contestant was. */
export interface Timing {
  readonly name: string;
  /** Median milliseconds of a run. */
  readonly milliseconds: number;
  /** Units per second at the median. */
  readonly perSecond: number;
  /** Units per second at the slow and the fast quartile. */
  readonly perSecondQuartiles: readonly [number, number];
  /** Milliseconds of every run, in order. */
  readonly samples: readonly number[];
}

/**
 * Times contestants in turns, so that a machine that gets slower or busier does so for all of them; every second round
 * goes backwards, so that none always runs behind the same other one. Medians, as disturbances only ever add time.
 *
 * @param rounds  runs of each, after one that isn't counted
 * @param clock   milliseconds; by default wall-clock time, see {@link cpuClock}
 */
export async function timeInTurns(
  contestants: readonly Contestant[],
  rounds: number,
  clock = () => performance.now(),
): Promise<Timing[]> {
  const samples = contestants.map((): number[] => []);
  for (const contestant of contestants) await contestant.run();
  for (let round = 0; round < rounds; round++) {
    const order = contestants.map((_, i) => (round % 2 === 0 ? i : contestants.length - 1 - i));
    for (const i of order) samples[i].push(await timeOnce(contestants[i], clock));
  }
  return contestants.map((contestant, i) => describeTiming(contestant, samples[i]));
}

/** The median of times in which null means "never": the longest of all. Null if the middle run never got there. */
export function medianOrNever(times: readonly (number | null)[]): number | null {
  const reached = times.filter((time) => time !== null).sort((a, b) => a - b);
  const middle = [Math.floor((times.length - 1) / 2), Math.ceil((times.length - 1) / 2)];
  return middle[1] < reached.length ? median(middle.map((i) => reached[i])) : null;
}

/** A time in seconds for a table. */
export function orNever(seconds: number | null): string {
  return seconds === null ? 'never' : seconds.toFixed(2);
}

/**
 * Milliseconds of processor time that this process has used, all its threads together: for work on one thread a clock
 * that stands still while other processes have the core.
 */
export function cpuClock(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function timeOnce(contestant: Contestant, clock: () => number): Promise<number> {
  const start = clock();
  await contestant.run();
  return clock() - start;
}

function describeTiming({ name, units }: Contestant, samples: readonly number[]): Timing {
  const rate = (milliseconds: number) => (units * 1000) / milliseconds;
  const milliseconds = median(samples);
  const perSecondQuartiles = [rate(quantile(samples, 0.75)), rate(quantile(samples, 0.25))] as const;
  return { name, milliseconds, perSecond: rate(milliseconds), perSecondQuartiles, samples };
}
